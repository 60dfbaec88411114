#pragma once

#include <chrono>

namespace mend {

/// Returns the time of `moment` since the beginning of its clock, as traces, result files and the board of a job hold
/// it. Pure.
template <class AnyClock, class Duration>
std::chrono::microseconds in_microseconds(std::chrono::time_point<AnyClock, Duration> moment) {
  return std::chrono::duration_cast<std::chrono::microseconds>(moment.time_since_epoch());
}

}  // namespace mend
