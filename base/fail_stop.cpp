#include "base/fail_stop.hpp"

#include "base/launch.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

namespace mend {

void fail_stop(std::string_view why) {
  log::error(fmt::format("process {} cannot go on: {}", launch::self().value_or(ProcessId{}).value, why));
  std::raise(SIGKILL);
  std::abort();  // not reached
}

}  // namespace mend
