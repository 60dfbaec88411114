// Times as the user of a simulation gives them.

#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "jobs/plan/quantities.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace mend::bench {

/// "0", or what jobs::parse_time reads, up to a year. Throws UsageError.
inline std::chrono::nanoseconds parsed_time(const std::string& text) {
  if (text == "0") return std::chrono::nanoseconds{0};
  const Seconds time = jobs::parse_time(text);
  if (time > std::chrono::years(1)) throw UsageError(text + " is too long for this simulation: give a year at most");
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time);
}

inline std::chrono::nanoseconds from_microseconds(double us) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(us * 1e3)};
}

}  // namespace mend::bench
