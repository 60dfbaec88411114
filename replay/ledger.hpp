// What a rank knows of its messages, so that another that goes back to the last commit gets them again, and what it
// sends again is recognised.
//
// All ranks commit together, and no message is under way when they do. So the messages of a job fall into phases:
//
//   entry of the body --setup--> restore() --interval--> commit() --interval--> commit() ...
//
// The ledger keeps those of the setup, and those of the interval that has begun last: what this rank has sent, with its
// bytes (the log), and how much it has received, with a hash. A process that takes over the rank of a dead one begins
// with an empty ledger: it goes through the setup, restores, and goes through the interval. All ranks then tell each
// other what they have received (a Receipts each), and hear() says which logged messages are sent again:
//
//   to the newcomer    all that the rank had been sent, because it has received nothing
//   between survivors  what was under way when the communicator was interrupted
//
// The newcomer sends what its predecessor has sent. The receivers have most of that already, so send() says that it is
// not needed; and at the last message that a receiver has, the hash over all of them must be the receiver's. Otherwise
// the program is not send-deterministic, and what the newcomer computes does not fit what the others have.
//
// Messages are numbered on their channel, by both sides alike, because MPI keeps their order there. Nothing is sent
// beside them.
//
// This is sender-based message logging with coordinated commits (Johnson and Zwaenepoel, FTCS 1987), with one process
// in each cluster. replay/protocol.hpp has the protocol in which clusters commit at different times.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/log_memory.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend::replay {

class Ledger {
 public:
  /// One direction of messages between this rank and `peer`. What is sent there arrives in the same order.
  struct Channel {
    int peer = 0;
    std::uint32_t context = 0;  ///< the communicator, and what of it: the same number on both sides
    int tag = 0;
    auto operator<=>(const Channel&) const = default;
  };

  /// The parts of a job between which no message is under way.
  enum class Phase : std::uint8_t { setup, interval };

  /// How much came on a channel from its beginning in a phase.
  struct Receipt {
    std::uint32_t context = 0;
    int tag = 0;
    std::uint64_t count = 0;
    std::uint64_t hash = 0;  ///< over the contents, in order
    bool operator==(const Receipt&) const = default;
  };

  /// What a rank tells another of the messages that it has received from it.
  struct Receipts {
    Phase phase = Phase::setup;  ///< in which the rank is
    std::vector<Receipt> setup;
    std::vector<Receipt> interval;
    bool operator==(const Receipts&) const = default;
  };

  /// A message that is sent again. The bytes stay where they are until the next cut().
  struct Resent {
    Channel channel;
    std::span<const std::byte> bytes;
  };

  /// Returns 64 bits that depend on all bytes.
  using Hash = std::uint64_t (*)(std::span<const std::byte>);

  /// `self`: this rank.
  Ledger(int self, Hash hash) : self_(self), hash_(hash) {}

  /// A message was sent.
  struct Sent {
    bool needed = true;                ///< the receiver does not have it
    std::span<const std::byte> bytes;  ///< the copy; it stays where it is until the next cut()
  };
  /// Writes down that `size` bytes are sent. `fill(copy, needed)` packs them into the copy, and may send them meanwhile
  /// if they are needed.
  template <class Fill>
  Sent send(const Channel& channel, std::size_t size, Fill fill) {
    const std::span<std::byte> copy = now().memory.take(size);
    Sends& sends = now().sends[channel];
    const bool needed = !is_known(channel, sends);
    fill(copy, needed);
    note_sent(channel, sends, copy);
    return {needed, copy};
  }

  /// The next message of `channel` was received.
  void receive(const Channel& channel, std::span<const std::byte> bytes);

  /// Ends the phase: all ranks do so together. The log of the setup is kept, that of an interval is dropped.
  void cut();
  Phase phase() const { return phase_; }

  /// The same number is added by a sender and subtracted by the receiver of each message of the phase: the sum over all
  /// ranks is 0 if no message is under way. (Any other set of messages gives 0 once in 2^64.)
  std::uint64_t balance() const;
  /// How many messages have been sent to `peer` in this phase on each channel.
  std::map<Channel, std::uint64_t> sent_to(int peer) const;
  std::map<Channel, std::uint64_t> received_from(int peer) const;

  /// What `peer` is told after a recovery.
  Receipts receipts_for(int peer) const;
  /// `peer` has told this: returns what is sent to it again, in order.
  std::vector<Resent> hear(int peer, const Receipts& receipts);

  /// Set when what this rank sends again is not what its predecessor has sent, or is said to have sent.
  struct Difference {
    Channel channel;
    std::uint64_t number = 0;  ///< of the message, from 1
    enum class What : std::uint8_t { content, more, fewer } what = What::content;
  };
  const std::optional<Difference>& difference() const { return difference_; }

  /// How many bytes are kept.
  std::size_t bytes() const { return phases_[0].memory.used() + phases_[1].memory.used(); }

 private:
  struct Entry {
    Channel channel;
    std::uint64_t number;
    std::span<const std::byte> bytes;
  };
  struct Received {
    std::uint64_t count = 0;
    std::uint64_t hash = 0;
  };
  struct Known {
    std::uint64_t count = 0;  ///< what the receiver has
    std::uint64_t hash = 0;
  };
  struct Sends {
    std::uint64_t count = 0;
    std::uint64_t hash = 0;  ///< as far as the receiver has them
    Known theirs;
  };
  struct OfPhase {
    LogMemory memory;
    std::map<int, std::vector<Entry>> log;  ///< by peer
    std::map<Channel, Sends> sends;
    std::map<Channel, Received> received;
  };

  OfPhase& now() { return phases_[static_cast<std::size_t>(phase_)]; }
  const OfPhase& now() const { return phases_[static_cast<std::size_t>(phase_)]; }
  bool is_past(int peer) const;
  bool is_known(const Channel& channel, const Sends& sends) const;
  void note_sent(const Channel& channel, Sends& sends, std::span<const std::byte> copy);
  void note(const Channel& channel, std::uint64_t number, Difference::What what);
  static std::uint64_t chained(std::uint64_t before, std::uint64_t content);
  static void hear_phase(OfPhase& phase, int peer, const std::vector<Receipt>& receipts, std::vector<Resent>& resent);

  int self_;
  Hash hash_;
  Phase phase_ = Phase::setup;
  OfPhase phases_[2];
  std::map<int, Phase> peers_;  ///< in which phase the others are, as heard last
  std::optional<Difference> difference_;
};

}  // namespace mend::replay
