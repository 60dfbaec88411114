#include "base/death/forked_child.hpp"

#include "base/error.hpp"
#include "base/telemetry/log.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

namespace mend {

std::atomic<bool> is_forked_child = false;

void watch_forks() {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { is_forked_child.store(true, std::memory_order_relaxed); });
}

void end_this_child(std::string_view what) {
  log::error(
      fmt::format("process {}, which the program has forked, {}: it is no rank, and ends: after fork(), end the "
                  "child by _exit or exec",
                  ::getpid(), what));
  ::_exit(static_cast<int>(ExitCode::usage));
}

}  // namespace mend
