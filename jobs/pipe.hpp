// A pipe. Its ends are closed by the destructor, or before.

#pragma once

#include "base/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mend::jobs {

class Pipe {
 public:
  /// Both ends are closed by exec. Throws EnvironmentError.
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close_reading();
    close_writing();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  /// Returns the descriptor; -1 if it is closed.
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_reading() { close_once(ends_[0]); }
  void close_writing() { close_once(ends_[1]); }

 private:
  static void close_once(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }

  std::array<int, 2> ends_{-1, -1};
};

}  // namespace mend::jobs
