// The data that each rank sends to each other rank after a failure under local rollback: its state, the communicators
// that it has made, and what it has received from the other.

#pragma once

#include "framework/local_rollback/derived_comms.hpp"
#include "framework/local_rollback/log_pacing.hpp"
#include "replay/sender_log.hpp"

#include "base/ids.hpp"

#include <cstdint>
#include <vector>

namespace mend {

/// A commit that makes up for a void one. All ranks make it at the same step.
struct CommitAgain {
  std::uint64_t voids = 0;  ///< how many commits since the version were void when it was planned
  std::uint64_t step = 0;   ///< the number of steps since the version
  bool operator==(const CommitAgain&) const = default;
};

/// The state of a rank. It is the same for all receivers.
struct PeerState {
  enum class Standing : std::uint8_t {
    settled,
    newcomer,  ///< has begun, and has not met the others
    replays,   ///< has met the others before, and has not repeated what they know of it
  };

  replay::SenderLog::Phase phase = 0;
  Standing standing = Standing::settled;
  bool refuses = false;            ///< cannot give others the messages that they need
  bool receives_from_any = false;  ///< has done so, or knows of another that has
  Version version{};               ///< restored or published last
  std::uint64_t steps = 0;         ///< since the commit before that, as commit_due() counts
  std::uint64_t kept = 0;          ///< steps since the version
  std::uint64_t logged = 0;        ///< bytes
  std::uint64_t log_limit = 0;     ///< agreed on by all; 0: not yet
  std::uint64_t log_of_setup = 0;  ///< the largest, when they agreed
  LogPacing::State log_pacing;     ///< at the version
  std::uint32_t next_number = 0;   ///< of the next derived communicator, at the version
  /// The same at each commit that has begun since the version. Failures have voided these commits.
  std::vector<std::uint32_t> begun{};
  std::vector<CommitAgain> again{};  ///< those planned since the version
  std::vector<int> nodes{};          ///< of the ranks; nothing in a newcomer

  bool has_restored() const { return phase > 0; }
  bool operator==(const PeerState&) const = default;
};

struct PeerPacket {
  PeerState state;
  std::vector<Recipe> recipes;
  replay::SenderLog::Receipts receipts;  ///< of the messages from the other rank; in the phase of `state`

  /// Convert to 64-bit words, and back: `words` are those of a packet. Pure.
  std::vector<std::uint64_t> words() const;
  static PeerPacket from(const std::vector<std::uint64_t>& words);
  bool operator==(const PeerPacket&) const = default;
};

}  // namespace mend
