// The stack of this process's main thread, taken by the process itself: a signal has the main thread write down where
// it is. That takes milliseconds, needs no debugger, and is given up when the main thread does not answer.

#pragma once

#include <chrono>
#include <string>

namespace mend::detector {

class OwnStack {
 public:
  static constexpr std::chrono::seconds patience{1};

  /// Begins. Never blocks. Takes the signal SIGURG from the program: to be called when the job ends.
  void take();
  /// Whether it has been taken, or cannot be. Never blocks.
  bool is_there() const;
  /// The functions, one a line, the innermost first, or why there are none.
  std::string text() const;

 private:
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace mend::detector
