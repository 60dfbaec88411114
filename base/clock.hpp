#pragma once

#include <chrono>

namespace mend {

/// For durations within one process.
using Clock = std::chrono::steady_clock;
/// For comparing times between processes of one machine or of synchronised machines.
using WallClock = std::chrono::system_clock;

using Milliseconds = std::chrono::duration<double, std::milli>;
using Seconds = std::chrono::duration<double>;

class Stopwatch {
 public:
  Seconds elapsed() const { return Clock::now() - start_; }
  /// Returns the time since construction or the last lap.
  Seconds lap() {
    const auto now = Clock::now();
    const Seconds since = now - start_;
    start_ = now;
    return since;
  }

 private:
  Clock::time_point start_ = Clock::now();
};

}  // namespace mend
