#include "base/death/fail_stop.hpp"

#include "base/launch.hpp"
#include "base/telemetry/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace mend {

void fail_stop(std::string_view why) noexcept {
  try {
    log::error(fmt::format("process {} cannot go on: {}", launch::self().value_or(ProcessId{}).value, why));
  } catch (const std::exception&) {  // it may be memory that is missing
    constexpr std::string_view line = "mend: a process cannot go on, and cannot say why\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  std::raise(SIGKILL);
  std::abort();  // not reached
}

}  // namespace mend
