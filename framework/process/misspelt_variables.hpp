// Finds environment variables that look like mend's but are not. A misspelt variable has no effect.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// Returns the number of letters that must be changed, inserted or removed to turn one text into the other. Pure.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// Returns a sentence for each of `names` that begins with MEND_ and is not among `known`. The sentence contains the
/// nearest known name if it is similar. Pure.
std::vector<std::string> doubts_about(std::span<const std::string> names, std::span<const std::string> known);

/// The same for the environment of this process. Local.
std::vector<std::string> doubts_about_environment();

}  // namespace mend
