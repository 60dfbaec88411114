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
  const bool is_at_end = job_status::is_at_end();
  try {
    log::error(fmt::format("process {} cannot go on{}: {}", launch::self().value_or(ProcessId{}).value,
                           is_at_end ? " after the end of the job" : "", why));
  } catch (const std::exception&) {  // memory may be exhausted
    constexpr std::string_view line = "mend: a process cannot go on, and cannot say why\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  // No process recovers any more. A launcher on another machine learns of it from the exit code.
  if (is_at_end && !job_status::erred()) ::syscall(SYS_exit_group, static_cast<int>(ExitCode::failed));
  std::raise(SIGKILL);
  std::abort();  // not reached
}

}  // namespace mend
