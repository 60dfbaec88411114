#include "framework/run.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/job_status.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "framework/engine.hpp"
#include "framework/mpi_runtime.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace mend {
namespace {

/// Whether this process is the one to speak when all meet the same error before any communicator exists.
bool speaks_for_all() {
  const char* rank = std::getenv("PMIX_RANK");
  return rank == nullptr || std::string_view(rank) == "0";
}

int fail(ExitCode code, const char* text) {
  if (speaks_for_all()) log::error(text);
  job_status::finished(code);
  return static_cast<int>(code);
}

void start_trace(const Options& options, ProcessId self) {
  if (options.trace.empty()) return;
  std::filesystem::create_directories(options.trace);
  trace::start(options.trace / fmt::format("process-{}.json", self.value), self);
}

int run_engine(const Options& options, const Body& body) {
  Engine engine(options);
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
    const MpiRuntime mpi;
    try {
      return run_engine(options, body);
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
    return fail(ExitCode::usage, error.what());
  }
}

}  // namespace mend
