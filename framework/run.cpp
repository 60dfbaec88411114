#include "framework/run.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/job_status.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "framework/engine.hpp"
#include "framework/mpi_runtime.hpp"
#include "framework/watch.hpp"

#include <fmt/format.h>
#include <mpi-ext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

namespace mend {
namespace {

/// The launcher is told that this process has come to life, and that it exits: whoever crashes before mend::run has
/// said no more than the first.
const bool announced [[maybe_unused]] = [] {
  static const pid_t self = ::getpid();
  job_status::loaded();
  std::atexit([] {
    if (::getpid() == self) job_status::left();  // not what it has forked
  });
  return true;
}();

const char* launched_as() { return std::getenv("PMIX_RANK"); }

/// Whether this process is the one to speak when all meet the same error before any communicator exists.
bool speaks_for_all() { return launched_as() == nullptr || std::string_view(launched_as()) == "0"; }

int fail(ExitCode code, const char* text) {
  if (speaks_for_all()) log::error(text);
  job_status::finished(code);
  return static_cast<int>(code);
}

/// What a process brings to the start of the job, and what all bring together, bit by bit.
enum class Start : int { go_on = 0b01, refuse = 0b10, in_disagreement = 0b00 };

/// All processes launched begin with this, whether they go on or refuse to, so that none waits for another that has
/// left. Collective over MPI_COMM_WORLD.
Start start_together(Start mine) {
  int flag = static_cast<int>(mine);
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);  // the flag is right even if a process has died
  return static_cast<Start>(flag);
}

/// Leaves the job together with the others; returns whether they had refused too. One that no runtime has launched
/// is alone.
bool refuse_together() {
  if (std::getenv("PMIX_NAMESPACE") == nullptr) return true;
  try {
    const MpiRuntime mpi;
    return start_together(Start::refuse) == Start::refuse;
  } catch (const std::exception&) {
    return true;  // what is wrong with MPI as well is not what the user should hear of first
  }
}

int refuse_for(const std::function<void()>& say) {
  if (speaks_for_all()) say();
  job_status::finished(ExitCode::usage);
  const bool all_alike = refuse_together();
  if (!all_alike && !speaks_for_all()) say();
  return static_cast<int>(ExitCode::usage);
}

void start_trace(const Options& options, ProcessId self) {
  if (options.trace.empty()) return;
  std::filesystem::create_directories(options.trace);
  trace::start(options.trace / fmt::format("process-{}.json", self.value), self);
}

int run_engine(const Options& options, MpiRuntime& mpi, Watch& watch, const Body& body) {
  watch.begin();
  Engine engine(options, watch);
  start_trace(options, engine.self());
  const ExitCode code = engine.run(body);
  if (engine.has_lost()) mpi.leave_alone();
  if (engine.world().base.rank() == 0) {
    const auto recoveries = engine.recoveries();
    for (const RecoveryReport& report : recoveries) log::info(report.to_string());
    if (code == ExitCode::ok && !recoveries.empty()) log::warn(summarise(recoveries));
  }
  trace::stop();
  job_status::finished(code);
  reach("finish.after");
  return static_cast<int>(code);
}

}  // namespace

int run(const Options& options, const Body& body) {
  try {
    log::set_level(options.log_level);
    std::optional<Watch> watch;  // outlives MPI
    MpiRuntime mpi;
    if (!mpi.tolerates_failures()) {
      const int code = fail(ExitCode::failed,
                            "the MPI library runs with its fault tolerance switched off: launch with `mend run`, or "
                            "with mpirun --with-ft ulfm");
      start_together(Start::refuse);  // the runtime ends everybody as soon as one leaves: not before this is said
      return code;
    }
    if (start_together(Start::go_on) != Start::go_on) return static_cast<int>(ExitCode::usage);  // another says why
    try {
      return run_engine(options, mpi, watch.emplace(options), body);
    } catch (const UsageError& error) {
      return fail(ExitCode::usage, error.what());
    } catch (const Unrecoverable& error) {
      return fail(ExitCode::unrecoverable, error.what());
    } catch (const std::exception& error) {
      return fail(ExitCode::failed, error.what());
    }
  } catch (const UsageError& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::failed, error.what());
  }
}

int run(int argc, char** argv, const Body& body) {
  try {
    return run(take_options(argc, argv), body);
  } catch (const UsageError& error) {
    return refuse_for([&] { log::error(error.what()); });
  }
}

int refuse(const std::string& sentence) {
  return refuse_for([&] { fmt::print(stderr, "{}\n", sentence); });
}

}  // namespace mend
