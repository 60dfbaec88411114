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

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace mend {
namespace {

const char* launched_as() { return std::getenv("PMIX_RANK"); }

/// Whether this process is the one to speak when all meet the same error before any communicator exists.
bool speaks_for_all() { return launched_as() == nullptr || std::string_view(launched_as()) == "0"; }

int fail(ExitCode code, const char* text) {
  if (speaks_for_all()) log::error(text);
  job_status::finished(code);
  return static_cast<int>(code);
}

/// Returns when all processes launched have come here; at once in a process that no runtime has launched.
void wait_for_all() {
  if (std::getenv("PMIX_NAMESPACE") == nullptr) return;
  try {
    const MpiRuntime mpi;
    MPI_Barrier(MPI_COMM_WORLD);
  } catch (const std::exception&) {
    // What is wrong with MPI as well is not what the user should hear of first.
  }
}

void start_trace(const Options& options, ProcessId self) {
  if (options.trace.empty()) return;
  std::filesystem::create_directories(options.trace);
  trace::start(options.trace / fmt::format("process-{}.json", self.value), self);
}

int run_engine(const Options& options, Watch& watch, const Body& body) {
  Engine engine(options, watch);
  start_trace(options, engine.self());
  const ExitCode code = engine.run(body);
  if (engine.world().base.rank() == 0) {
    for (const RecoveryReport& report : engine.recoveries()) log::info(report.to_string());
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
    const MpiRuntime mpi;
    try {
      return run_engine(options, watch.emplace(options), body);
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
    const int code = fail(ExitCode::usage, error.what());
    wait_for_all();
    return code;
  }
}

int refuse(const std::string& sentence) {
  if (speaks_for_all()) fmt::print(stderr, "{}\n", sentence);
  job_status::finished(ExitCode::usage);
  wait_for_all();
  return static_cast<int>(ExitCode::usage);
}

}  // namespace mend
