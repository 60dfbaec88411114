// Times, sizes and probabilities in the notation of command lines: 5y, 36h, 250ms, 2GiB, 1%.

#pragma once

#include "base/clock.hpp"

#include <string>
#include <string_view>

namespace mend::jobs {

/// "250ms", "3s", "20min", "36h", "90d", "5y" (of 365 days). Throws UsageError for anything else, such as a number
/// without a unit, and if the value is not positive.
Seconds parse_time(std::string_view text);

/// Bytes: "4096", "500MB" (10^6), "2GiB" (2^30). Throws UsageError for anything else, and if the value is not positive.
double parse_size(std::string_view text);

/// "1%" or "0.01", above 0 and below 1. Throws UsageError for anything else.
double parse_chance(std::string_view text);

/// Returns the time in the unit that fits best; parse_time can read it.
std::string text_of(Seconds time);
std::string size_text(double bytes);
/// "4.2 %"; "<1e-9 %" for very small probabilities.
std::string chance_text(double chance);

}  // namespace mend::jobs
