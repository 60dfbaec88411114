// The stack of this process's main thread, taken by the process itself: a signal makes the main thread record where it
// is. That takes milliseconds, needs no debugger, and is given up if the main thread does not answer.

#pragma once

#include <chrono>
#include <string>

namespace mend::detector {

class OwnStack {
 public:
  static constexpr std::chrono::seconds patience{1};

  /// Begins to take the stack. Never blocks. Replaces the program's handler of the signal SIGURG, so it is meant for
  /// the end of the job.
  void take();
  /// Returns true if the stack has been taken, or cannot be taken. Never blocks.
  bool is_there() const;
  /// Returns the functions, one per line, the innermost first, or why there are none.
  std::string text() const;

 private:
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace mend::detector
