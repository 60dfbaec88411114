#include "spares/failure_policy.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace mend {
namespace {

/// Returns the field of `policy` that `word` names; nullptr if it names none.
bool* rung(Policy& policy, std::string_view word) {
  if (word == "spare") return &policy.spare;
  if (word == "spawn") return &policy.spawn;
  if (word == "shrink") return &policy.shrink;
  if (word == "blank") return &policy.blank;
  return nullptr;
}

}  // namespace

Policy Policy::parse(std::string_view text) {
  Policy policy{.spare = false};
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    bool* const allowed = rung(policy, word);
    if (allowed == nullptr) {
      throw UsageError(fmt::format(
          "'{}' is not a policy for failures: give one or more of spare, spawn, shrink and blank, separated by commas",
          word));
    }
    *allowed = true;
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  if (policy.shrink && policy.blank) {
    throw UsageError("shrink and blank exclude each other: choose one of them");
  }
  return policy;
}

std::string to_string(const Policy& policy) {
  std::string text;
  Policy copy = policy;
  for (const std::string_view word : {"spare", "spawn", "shrink", "blank"}) {
    if (*rung(copy, word)) text += fmt::format("{}{}", text.empty() ? "" : ",", word);
  }
  return text;
}

}  // namespace mend
