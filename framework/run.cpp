#include "framework/run.hpp"

#include "base/death/crash_report.hpp"
#include "base/error.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "framework/recovery/job.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/process/process_context.hpp"
#include "store/disk/folder_lock.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// Leaves the job together with the others; returns whether they had refused too. One that no runtime has launched
/// is alone.
bool refuse_together() {
  if (launch::job().empty()) return true;
  try {
    const MpiRuntime mpi;
    return start_together(Start::refuse) == Start::refuse;
  } catch (const std::exception&) {
    return true;  // what is wrong with MPI as well is not what the user should hear of first
  }
}

int refuse_for(const std::function<void()>& say) {
  if (launch::door()) {  // the others, who are in the job, go on without this one
    say();
    std::raise(SIGKILL);
  }
  if (launch::speaks_for_all()) say();
  job_status::finished(ExitCode::usage);
  const bool all_alike = refuse_together();
  if (!all_alike && !launch::speaks_for_all()) say();
  return static_cast<int>(ExitCode::usage);
}

}  // namespace

int run(const Options& options, const Body& body) {
  if (std::exchange(process_context().has_run, true)) {
    if (launch::speaks_for_all())
      log::error("mend::run is called once in a process: make what comes later part of the body");
    return static_cast<int>(ExitCode::usage);
  }
  std::optional<FolderLock> claim;
  try {
    if (options.disk && !options.help) {
      prepare_folder(options.disk->folder);
      if (launch::speaks_for_all()) claim.emplace(options.disk->folder, FolderLock::As::first);
    }
  } catch (const std::exception& error) {  // of this process alone, perhaps: the others wait in MPI_Init
    return refuse_for([&] { log::error(error.what()); });
  }
  const ExitCode code = Job(options).play(body);
  end_bodies();
  report_crashes();
  return static_cast<int>(code);
}

int run(int argc, char** argv, const Body& body) {
  std::vector<char*> arguments(argv, argv + argc);  // the caller's stay as they are: it could not learn of a new argc
  arguments.push_back(nullptr);
  std::optional<Options> options;
  try {
    options = take_options(argc, arguments.data());
  } catch (const std::exception& error) {
    return refuse_for([&] { log::error(error.what()); });
  }
  return run(*options, body);
}

int refuse(const std::string& sentence) {
  return refuse_for([&] { fmt::print(stderr, "{}\n", sentence); });
}

}  // namespace mend
