// Environment variables that look like mend's and are not: a misspelt one has no effect, which nobody notices.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// How many letters must be changed, inserted or removed to make one of the other. Pure.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// A sentence for each of `names` that begins with MEND_ and is not among `known`: with the nearest of these, should it
/// be near. Pure.
std::vector<std::string> doubts_about(std::span<const std::string> names, std::span<const std::string> known);

/// The same for the environment of this process. Local.
std::vector<std::string> doubts_about_environment();

}  // namespace mend
