#pragma once

#include <poll.h>
#include <unistd.h>

#include <string_view>

namespace mend {

/// Writes to standard error before this process ends itself. A full pipe must not keep it. Any thread.
inline void write_last_words(std::string_view words) {
  pollfd errors{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&errors, 1, 0) != 1) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words.data(), words.size());
}

}  // namespace mend
