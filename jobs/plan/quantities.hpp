// Times, sizes and chances as people write them on a command line: 5y, 36h, 250ms, 2GiB, 1%.

#pragma once

#include "base/clock.hpp"

#include <string>
#include <string_view>

namespace mend::jobs {

/// "250ms", "3s", "20min", "36h", "90d", "5y" (of 365 days); a bare number is seconds. Throws UsageError for anything
/// else, and for what is not above 0.
Seconds parse_time(std::string_view text);

/// Bytes: "4096", "500MB" (10^6), "2GiB" (2^30). Throws UsageError for anything else, and for what is not above 0.
double parse_size(std::string_view text);

/// "1%" or "0.01", above 0 and below 1. Throws UsageError for anything else.
double parse_chance(std::string_view text);

/// In the unit that makes it a handy number; parse_time reads it again.
std::string text_of(Seconds time);
std::string size_text(double bytes);
/// "4.2 %"; "<1e-9 %" for what is too small to tell from 0.
std::string chance_text(double chance);

}  // namespace mend::jobs
