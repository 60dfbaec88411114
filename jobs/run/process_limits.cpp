#include "jobs/run/process_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace mend::jobs {
namespace {

/// Of each process: the application's thread, the runtime's, and three of mend's (docs/architecture.md).
constexpr long tasks_per_process = 5;
/// Of mpirun, for each process: its streams and its connection. files_of_mpirun: for itself.
constexpr long files_per_process = 4;
constexpr long files_of_mpirun = 32;

std::optional<long> number_in_file(const char* file) {
  long number = 0;
  if (std::ifstream in(file); in >> number) return number;
  return std::nullopt;
}

std::optional<long> soft_limit(decltype(RLIMIT_NPROC) what) {
  rlimit limit{};
  if (::getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<long>(limit.rlim_cur);
}

}  // namespace

ProcessLimits process_limits() {
  ProcessLimits limits{.tasks = {}, .open_files = soft_limit(RLIMIT_NOFILE)};
  const auto consider = [&](std::optional<long> tasks, const char* name) {
    if (!tasks || (limits.tasks && *limits.tasks <= *tasks)) return;
    limits.tasks = tasks;
    limits.tasks_from = name;
  };
  consider(number_in_file("/proc/sys/kernel/pid_max"), "kernel.pid_max");
  consider(number_in_file("/proc/sys/kernel/threads-max"), "kernel.threads-max");
  consider(number_in_file("/sys/fs/cgroup/pids.max"), "pids.max of the control group");
  if (::geteuid() != 0) consider(soft_limit(RLIMIT_NPROC), "ulimit -u");
  return limits;
}

std::string objection_to(long processes, const ProcessLimits& limits) {
  if (limits.tasks && processes * tasks_per_process > *limits.tasks) {
    return fmt::format(
        "{} processes cannot be started on this machine, only about {}: each has {} threads, and {} allows {}",
        processes, *limits.tasks / tasks_per_process, tasks_per_process, limits.tasks_from, *limits.tasks);
  }
  if (limits.open_files && processes * files_per_process + files_of_mpirun > *limits.open_files) {
    return fmt::format(
        "{} processes cannot be started on this machine, only about {}: mpirun needs {} open files for each, and "
        "ulimit -n allows {}",
        processes, std::max(0L, (*limits.open_files - files_of_mpirun) / files_per_process), files_per_process,
        *limits.open_files);
  }
  return "";
}

}  // namespace mend::jobs
