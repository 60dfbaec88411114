// JSON in files that a user names. nlohmann-json copies and prints by recursion, so values that are nested too deep
// would overflow the stack and end the process.

#pragma once

#include "base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace mend::jobs {

/// The files that mend writes are nested less than ten levels deep.
inline constexpr int deepest_json = 100;

/// Parses `text`, the content of `file`. The result is discarded if that is not JSON. Throws UsageError if it is nested
/// too deep.
inline nlohmann::json parse_shallow(std::string_view text, std::string_view file) {
  const auto is_allowed = [file](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > deepest_json)
      throw UsageError(
          fmt::format("{} is nested more than {} levels deep: mend has not written it", file, deepest_json));
    return true;
  };
  return nlohmann::json::parse(text, is_allowed, /*allow_exceptions=*/false);
}

}  // namespace mend::jobs
