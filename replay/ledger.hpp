// The record of a rank's messages. With it, a rank that goes back to the last commit gets its messages again, and the
// messages that it sends again are recognised.
//
// All ranks commit together, and no message is under way when they do. So the messages of a job fall into phases:
//
//   entry of the body --setup--> restore() --interval--> commit() --interval--> commit() ...
//
// The ledger keeps the messages of the setup and of the current interval: the messages that this rank has sent, with
// their bytes (the log), and how many it has received, with a hash. A process that takes over the rank of a dead one
// begins with an empty ledger: it goes through the setup, restores, and goes through the interval. All ranks then tell
// each other what they have received (a Receipts each), and hear() returns the logged messages to send again:
//
//   to the newcomer    all that the rank had been sent, because it has received nothing
//   between survivors  the messages under way when the communicator was interrupted
//
// The newcomer sends what its predecessor has sent. The receivers have most of that already, so send() reports that it
// is not needed. At the last message that a receiver has, the hash over all messages must equal the receiver's.
// Otherwise the program is not send-deterministic, and the results of the newcomer do not fit those of the others.
//
// Messages are numbered on their channel, by both sides in the same way, because MPI keeps their order there. No
// additional messages are sent.
//
// This is sender-based message logging with coordinated commits (Johnson and Zwaenepoel, FTCS 1987), with one process
// in each cluster. replay/protocol.hpp has the protocol in which clusters commit at different times.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/channel.hpp"
#include "replay/history.hpp"
#include "replay/log_memory.hpp"
#include "replay/message_log.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend::replay {

class Ledger final : public MessageLog {
 public:
  using Channel = replay::Channel;
  using Resent = replay::Resent;  ///< its bytes are not moved until the next cut()
  using Difference = replay::Difference;
  using Hash = replay::Hash;

  /// The parts of a job between which no message is under way.
  enum class Phase : std::uint8_t { setup, interval };

  /// How many messages came on a channel since its beginning in a phase.
  struct Receipt {
    std::uint32_t context = 0;
    int tag = 0;
    std::uint64_t count = 0;
    std::uint64_t hash = 0;  ///< over the contents, in order
    bool operator==(const Receipt&) const = default;
  };

  /// The report of a rank to another about the messages received from it.
  struct Receipts {
    Phase phase = Phase::setup;  ///< the current phase of the rank
    std::vector<Receipt> setup;
    std::vector<Receipt> interval;
    bool operator==(const Receipts&) const = default;
  };

  /// `self`: this rank.
  Ledger(int self, Hash hash) : self_(self), hash_(hash) {}

  /// The copy is not moved until the next cut().
  Copy begin_send(const Channel& channel, std::size_t size) override;
  void end_send(const Channel& channel, std::span<const std::byte> copy) override;
  void receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request = false) override;

  /// Ends the phase; all ranks do so together. The log of the setup is kept, the log of an interval is dropped.
  void cut();
  Phase phase() const { return phase_; }

  /// Returns this rank's share of a sum over all ranks, which is 0 if no message is under way: for each message of the
  /// phase, the sender adds a number and the receiver subtracts it. (Any other set of messages gives 0 with probability
  /// 2^-64.)
  std::uint64_t balance() const;
  /// Returns how many messages have been sent to `peer` in this phase on each channel.
  std::map<Channel, std::uint64_t> sent_to(int peer) const;
  std::map<Channel, std::uint64_t> received_from(int peer) const;

  /// Returns the numbers of messages sent and received in `phase`, on all channels.
  std::map<Channel, std::uint64_t> sent(Phase phase) const;
  std::map<Channel, std::uint64_t> received(Phase phase) const;
  /// Returns their order.
  const History& history(Phase phase) const { return phases_[static_cast<std::size_t>(phase)].history; }
  /// Returns true while other ranks have messages from this rank that it has not sent again.
  bool is_behind() const;

  /// Returns the report for `peer` after a recovery.
  Receipts receipts_for(int peer) const;
  /// Takes the report of `peer`. Returns the messages to send to it again, in order.
  std::vector<Resent> hear(int peer, const Receipts& receipts);

  /// Set if the messages that this rank sends again differ from those that its predecessor sent, according to the
  /// receivers.
  const std::optional<Difference>& difference() const { return difference_; }

  /// Returns how many bytes are kept.
  std::size_t bytes() const { return phases_[0].memory.used() + phases_[1].memory.used(); }

 private:
  struct Entry {
    Channel channel;
    std::uint64_t number;
    std::span<const std::byte> bytes;
  };
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  struct Received {
    std::uint64_t count = 0;
    std::uint64_t hash = 0;
    std::uint32_t place = nowhere;  ///< of the channel in the history
  };
  struct Known {
    std::uint64_t count = 0;  ///< how many messages the receiver has
    std::uint64_t hash = 0;
  };
  struct Sends {
    std::uint64_t count = 0;
    std::uint64_t hash = 0;  ///< over the messages that the receiver has
    Known theirs;
    std::uint32_t place = nowhere;
  };
  struct OfPhase {
    LogMemory memory;
    std::map<int, std::vector<Entry>> log;  ///< by peer
    std::map<Channel, Sends> sends;
    std::map<Channel, Received> received;
    History history;
  };

  OfPhase& now() { return phases_[static_cast<std::size_t>(phase_)]; }
  const OfPhase& now() const { return phases_[static_cast<std::size_t>(phase_)]; }
  bool is_past(int peer) const;
  bool is_known(const Channel& channel, const Sends& sends) const;
  void note(const Channel& channel, std::uint64_t number, Difference::What what);
  void note_event(const Channel& channel, std::uint32_t& place, bool was_received);
  static void hear_phase(OfPhase& phase, int peer, const std::vector<Receipt>& receipts, std::vector<Resent>& resent);

  int self_;
  Hash hash_;
  Phase phase_ = Phase::setup;
  OfPhase phases_[2];
  std::map<int, Phase> peers_;  ///< the phase of each other rank, according to its last report
  mutable std::optional<std::uint64_t>
      behind_;  ///< number of messages of the phase that others have; nothing: to count
  std::optional<Difference> difference_;
};

}  // namespace mend::replay
