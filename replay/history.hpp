// The messages that a rank has sent, received and found by a probe in a phase, in order. A rank that rolls back gets
// the histories of the others. wildcard_order.hpp determines from them the order in which its messages may arrive
// again.

#pragma once

#include "replay/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mend::replay {

struct History {
  enum class What : std::uint32_t {
    sent,
    received,
    found,  ///< a probe has found the next message, which is received later
  };

  std::vector<Channel> channels;      ///< in the order of their first message; one entry for each direction
  std::vector<std::uint32_t> events;  ///< of event()

  /// Returns the event of a message of the channel at `place` in `channels`. Pure, as the two that follow.
  static constexpr std::uint32_t event(std::uint32_t place, What what) {
    return 4 * place + static_cast<std::uint32_t>(what);
  }
  static constexpr std::uint32_t place_of(std::uint32_t event) { return event / 4; }
  static constexpr What what_of(std::uint32_t event) { return static_cast<What>(event % 4); }

  bool operator==(const History&) const = default;
};

/// Convert a history to 64-bit words, and back. `at` is moved behind the words that were read. Pure.
void put(std::vector<std::uint64_t>& words, const History& history);
History history_from(const std::vector<std::uint64_t>& words, std::size_t& at);

}  // namespace mend::replay
