#pragma once

#include <compare>
#include <cstdint>

namespace mend::replay {

/// One direction of messages between this rank and `peer`. Messages on a channel arrive in the order in which they were
/// sent.
struct Channel {
  int peer = 0;
  std::uint32_t context = 0;  ///< the communicator, and what of it: the same number on both sides
  int tag = 0;
  auto operator<=>(const Channel&) const = default;
};

}  // namespace mend::replay
