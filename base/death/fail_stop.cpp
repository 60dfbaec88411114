#include "base/death/fail_stop.hpp"

#include "base/launch.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/log.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace mend {

void fail_stop(std::string_view why) noexcept {
  using job_status::AtEnd;
  const AtEnd at_end = job_status::is_at_end();
  try {
    const char* const when = at_end == AtEnd::yes       ? " after the end of the job"
                             : at_end == AtEnd::perhaps ? " while the end of the job is decided"
                                                        : "";
    log::error(fmt::format("process {} cannot go on{}: {}", launch::self().value_or(ProcessId{}).value, when, why));
  } catch (const std::exception&) {  // memory may be exhausted
    constexpr std::string_view line = "mend: a process cannot go on, and cannot say why\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  const bool launcher_knows = at_end == AtEnd::no || job_status::erred();
  // No process recovers any more. A launcher on another machine learns of it from the exit code.
  if (at_end == AtEnd::yes && !launcher_knows) ::syscall(SYS_exit_group, static_cast<int>(ExitCode::failed));
  std::raise(SIGKILL);
  std::abort();  // not reached
}

void stop_job(const std::string& why) noexcept {
  if (!job_status::aborted(static_cast<int>(ExitCode::usage), why)) fail_stop(why);
  for (;;) ::pause();  // until the launcher ends this process
}

}  // namespace mend
