// The stack of this process's main thread, as a debugger sees it from outside.

#pragma once

#include <sys/types.h>

#include <string>

namespace mend::detector {

/// Taken by gdb, in a process of its own, which stops this one meanwhile and is killed when it takes too long.
class OwnStack {
 public:
  OwnStack() = default;
  ~OwnStack();
  OwnStack(const OwnStack&) = delete;
  OwnStack& operator=(const OwnStack&) = delete;

  /// Begins. Never blocks, but for gdb.
  void take();
  /// Whether it has been taken, or cannot be. Never blocks.
  bool is_there();
  /// The frames, one a line, or why there are none.
  std::string text() const;

 private:
  pid_t debugger_ = -1;
  int output_ = -1;
  int exit_code_ = 0;
};

}  // namespace mend::detector
