// Answers to the question where processes wait, for the tests of what is concluded from them.

#pragma once

#include "detector/stall/stall_report.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace mend::detector {

/// Returns the answers of the processes 0, 1, ...; nothing: of one that does not answer.
inline Answers answers(const std::vector<std::optional<Whereabouts>>& all) {
  Answers made;
  for (std::uint32_t i = 0; i < all.size(); ++i) made[{i}] = all[i];
  return made;
}

}  // namespace mend::detector
