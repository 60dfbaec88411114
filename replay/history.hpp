// The messages that a rank has sent and received in a phase, in order. A rank that rolls back gets the histories of the
// others. wildcard_order.hpp determines from them the order in which its messages may arrive again.

#pragma once

#include "replay/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mend::replay {

struct History {
  std::vector<Channel> channels;      ///< in the order of their first message; one entry for each direction
  std::vector<std::uint32_t> events;  ///< each: twice the channel's place, and 1 more if it was received
  bool operator==(const History&) const = default;
};

/// Convert a history to 64-bit words, and back. `at` is moved behind the words that were read. Pure.
void put(std::vector<std::uint64_t>& words, const History& history);
History history_from(const std::vector<std::uint64_t>& words, std::size_t& at);

}  // namespace mend::replay
