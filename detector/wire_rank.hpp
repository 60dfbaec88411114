// A rank, or none, in the messages of control threads.

#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <optional>

namespace mend::detector {

inline constexpr std::int32_t no_rank = -1;

inline std::int32_t number_of(std::optional<Rank> rank) { return rank ? rank->value : no_rank; }

inline std::optional<Rank> rank_of_number(std::int32_t number) {
  return number == no_rank ? std::nullopt : std::optional(Rank{number});
}

}  // namespace mend::detector
