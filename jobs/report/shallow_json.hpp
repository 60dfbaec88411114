// JSON in files that a user names. nlohmann-json copies and prints by recursion, so that values which are nested too
// deep would end the process for lack of stack.

#pragma once

#include "base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace mend::jobs {

/// What mend writes is nested less than ten levels deep.
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
