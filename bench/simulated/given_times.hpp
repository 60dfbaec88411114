// Times as the user of a simulation gives them.

#pragma once

#include "jobs/plan/quantities.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace mend::bench {

/// "0", or what jobs::parse_time reads. Throws UsageError.
inline std::chrono::nanoseconds parsed_time(const std::string& text) {
  if (text == "0") return std::chrono::nanoseconds{0};
  return std::chrono::duration_cast<std::chrono::nanoseconds>(jobs::parse_time(text));
}

inline std::chrono::nanoseconds from_microseconds(double us) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(us * 1e3)};
}

}  // namespace mend::bench
