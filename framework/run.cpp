#include "framework/run.hpp"

#include "base/death/crash_report.hpp"
#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "framework/recovery/job.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/process/process_context.hpp"
#include "store/disk/folder_lock.hpp"
#include "store/disk/version_folder.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// Leaves the job together with the other processes. Returns true if they have refused too. A process that was not
/// launched by a runtime is alone.
bool leave_with_others(ExitCode code) {
  if (launch::job().empty()) {
    job_status::finished(code);
    return true;
  }
  try {
    const MpiRuntime mpi;
    return refuse_together(code);
  } catch (const UsageError&) {  // the caller reports its own error first, not one about MPI
    job_status::finished(code);
    job_status::closed();
    return true;
  }
}

int refuse_for(ExitCode code, const std::function<void()>& say) {
  if (launch::host_address()) {  // the other processes are in the job and continue without this one
    say();
    std::raise(SIGKILL);
  }
  if (launch::speaks_for_all()) say();
  const bool all_alike = leave_with_others(code);
  if (!all_alike && !launch::speaks_for_all()) say();
  return static_cast<int>(code);
}

/// Refuses for wrong arguments, for errors of what they name, and for a lack of memory, which may concern this process
/// only.
int refuse_for(const std::exception& error) {
  const bool lacks_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  if (lacks_memory) return refuse_for(ExitCode::failed, [&] { log::error(describe_failed_start(error)); });
  return refuse_for(ExitCode::usage, [&] { log::error(error.what()); });
}

/// Throws UsageError if a job that is to continue from disk would start from the beginning, because the folder is
/// another one.
void require_version_on_disk(const Options& options) {
  const bool is_newcomer = launch::host_address().has_value();
  if (!launch::must_continue() || options.help || is_newcomer) return;
  if (!options.disk) throw UsageError("--restart goes on from disk: name the folder, with --mend-disk DIR");
  const std::filesystem::path& folder = options.disk->folder;
  if (complete_versions(folder).empty()) {
    throw UsageError(
        fmt::format("--restart: there is no version in {} to go on from; without --restart the job starts "
                    "from the beginning",
                    folder.string()));
  }
}

}  // namespace

int run(const Options& given, const Body& body) {
  if (std::exchange(process_context().has_run, true)) {
    if (launch::speaks_for_all())
      log::error("mend::run is called once in a process: make what comes later part of the body");
    return static_cast<int>(ExitCode::usage);
  }
  Options options = given;
  std::optional<FolderLock> claim;
  try {
    // The body may change its working directory.
    if (options.disk) options.disk->folder = std::filesystem::absolute(options.disk->folder);
    require_version_on_disk(options);
    if (options.disk && !options.help) {
      prepare_folder(options.disk->folder);
      if (launch::speaks_for_all()) claim.emplace(options.disk->folder, FolderLock::As::first);
    }
  } catch (const std::exception& error) {  // may concern this process only; the others wait in MPI_Init
    return refuse_for(error);
  }
  const ExitCode code = Job(options).play(body);
  end_bodies();
  or_fail_stop([] { report_crashes(); });
  return static_cast<int>(code);
}

int run(int argc, char** argv, const Body& body) {
  std::optional<Options> options;
  try {
    std::vector<char*> arguments(argv, argv + argc);  // the caller's argv stays unchanged, because the caller would not
                                                      // see a new argc
    arguments.push_back(nullptr);
    options = take_options(argc, arguments.data());
  } catch (const std::exception& error) {
    return refuse_for(error);
  }
  return run(*options, body);
}

int refuse(const std::string& sentence) {
  return refuse_for(ExitCode::usage, [&] { std::fprintf(stderr, "%s\n", sentence.c_str()); });
}

}  // namespace mend
