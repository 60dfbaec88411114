// Lists in settings of Open MPI and in options: names separated by commas.

#pragma once

#include <ranges>
#include <string_view>
#include <vector>

namespace mend {

/// Returns the names in `list`, which must outlive them: an empty one before, after and between commas that have none.
/// Pure.
inline std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  for (const auto part : list | std::views::split(',')) names.emplace_back(part.begin(), part.end());
  return names;
}

}  // namespace mend
