// The record of a rank's messages. With it, a rank that rolls back to the last commit gets its messages again, and the
// messages that it sends again are recognised.
//
// All ranks commit together, and no message is under way when they do. So the messages of a job fall into phases:
//
//   entry of the body --0, the setup--> restore() --1--> commit() --1--> commit_async() --2--> published --1--> ...
//
// The log keeps the messages of the setup and those since the last published commit: the messages that this rank has
// sent, with their bytes (the log), and how many it has received, with a hash. commit_async() begins a phase, because
// its data is that of this moment; the phases before it are needed until the commit is published. If a failure prevents
// that, the job goes on with one phase more, until the next commit is published.
//
// A process that takes over the rank of a dead one begins with an empty log: it goes through the setup, restores, and
// goes through the other phases. All ranks then tell each other which messages they have received (one Receipts each),
// and hear() returns the logged messages to send again:
//
//   to the newcomer    all messages to that rank, because the newcomer has received none
//   between survivors  the messages under way when the communicator was interrupted
//
// The newcomer sends the messages that its predecessor has sent. The receivers have most of them already, so
// begin_send() reports that they are not needed. At the last message that a receiver has, the hash over all messages
// must equal the receiver's. Otherwise the program is not send-deterministic, and the results of the newcomer do not
// fit those of the others.
//
// Messages are numbered on their channel, by both sides in the same way, because MPI keeps their order there. No
// additional messages are sent.
//
// Ranks that roll back together, the mates of a cluster (clusters.hpp), need no messages of each other from a log. A
// message to a mate is neither logged nor hashed. Its copy is kept until the mate has acknowledged it (retained.hpp): a
// process of another cluster may die while the message is under way. Mates acknowledge many messages at once.
//
// This is sender-based message logging with coordinated commits (Johnson and Zwaenepoel, FTCS 1987).
// replay/uncoordinated/protocol.hpp has the protocol in which clusters commit at different times.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/channel.hpp"
#include "replay/channel_map.hpp"
#include "replay/history.hpp"
#include "replay/log_memory.hpp"
#include "replay/message_log.hpp"
#include "replay/clusters/retained.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mend::replay {

class SenderLog final : public MessageLog {
 public:
  using Channel = replay::Channel;
  using Resent = replay::Resent;  ///< its bytes are not moved until the next cut()
  using Difference = replay::Difference;
  using Hash = replay::Hash;

  /// The number of a part of the job, between which no message is under way: 0 is the setup.
  using Phase = std::size_t;

  /// The number of messages that came on a channel in a phase.
  struct Receipt {
    std::uint32_t context = 0;
    int tag = 0;
    std::uint64_t count = 0;
    std::uint64_t hash = 0;  ///< over the contents, in order
    bool is_found = false;   ///< a probe has found the next message
    bool operator==(const Receipt&) const = default;
  };

  /// The report of a rank to another about the messages received from it.
  struct Receipts {
    Phase phase = 0;                           ///< the current phase of the rank
    std::vector<std::vector<Receipt>> phases;  ///< of the phases up to this one
    bool operator==(const Receipts&) const = default;
  };

  /// The number of bytes or messages after which a rank acknowledges the messages that it has received from a mate.
  struct Window {
    std::size_t bytes = std::size_t{256} << 10U;
    std::uint64_t messages = 64;
  };

  /// `self`: this rank. `mates`: by rank, whether it rolls back together with this one; empty: none does.
  SenderLog(int self, Hash hash, std::vector<bool> mates = {});
  SenderLog(int self, Hash hash, std::vector<bool> mates, Window window);

  /// Replaces the mates from now on. Called on all ranks, right after a commit.
  void set_mates(std::vector<bool> mates) { mates_ = std::move(mates); }

  /// True if no rank has reported what it has received since the last commit was published; before the first, since the
  /// entry of the body.
  bool needs_all() const override { return !has_heard_; }
  /// The copy is not moved until its phase is dropped.
  Copy begin_send(const Channel& channel, std::size_t size) override;
  void end_send(const Channel& channel, std::span<const std::byte> copy) override;
  void receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request = false) override;
  /// It is noted once for each message.
  void found(const Channel& channel) override;

  /// Begins the next phase. All ranks do so together, or this rank repeats what the others have done. All phases are
  /// kept.
  void begin_phase();
  /// Drops the phases between the setup and the present one: a commit of what the ranks had at the beginning of this
  /// phase is published. No copy of a dropped phase may be on its way. All ranks are in the same phase.
  void committed();
  /// Returns the number of the present phase.
  Phase phase() const { return phase_; }
  /// Numbers the phase that has begun, for acknowledgements: mates have the same number in a phase, and no two phases
  /// of an epoch have one number. begin_phase() raises it by 1, committed() leaves it as it is.
  void number_phase(std::uint64_t number) { number_ = number; }

  /// Returns this rank's share of a sum over all ranks, which is 0 if no message is under way: for each message of the
  /// phases that are kept, the sender adds a number and the receiver subtracts it. (Any other set of messages gives 0
  /// with probability 2^-64.) All ranks are in the same phase.
  std::uint64_t balance() const { return balance_of_phases(phase_ + 1); }
  /// The same without the present phase.
  std::uint64_t balance_before() const { return balance_of_phases(phase_); }
  /// Returns how many messages have been sent to `peer` in this phase on each channel.
  std::map<Channel, std::uint64_t> sent_to(int peer) const;
  std::map<Channel, std::uint64_t> received_from(int peer) const;

  /// Returns the numbers of messages sent and received in `phase`, on all channels.
  std::map<Channel, std::uint64_t> sent(Phase phase) const;
  std::map<Channel, std::uint64_t> received(Phase phase) const;
  /// Returns the order of the messages sent, received and found in `phase`. It is empty if they were forgotten.
  const History& history(Phase phase) const { return phases_.at(phase).history; }
  /// Returns true while other ranks have messages from this rank, or have found one by a probe, that it has not sent
  /// again.
  bool is_behind() const;

  /// Returns the report for `peer` after a recovery.
  Receipts receipts_for(int peer) const;
  /// Handles the report of `peer`. Returns the messages to send to it again, in order.
  std::vector<Resent> hear(int peer, const Receipts& receipts);

  /// Set if the messages that this rank sends again differ from those that its predecessor sent, according to the
  /// receivers.
  const std::optional<Difference>& difference() const { return difference_; }

  /// An acknowledgement for a mate: words for its acknowledged().
  struct Acknowledgement {
    int to;
    std::vector<std::uint64_t> words;
  };
  /// Returns the acknowledgements that are due. If some are lost with a communicator, hear() makes up for them.
  std::vector<Acknowledgement> take_acknowledgements();
  void acknowledged(int by, std::span<const std::uint64_t> words);
  /// Reuses the memory of copies that were acknowledged.
  void reuse_retained(InUse in_use = {});

  /// Returns how many bytes have been sent to each of `ranks` ranks in this phase.
  std::vector<std::uint64_t> bytes_sent(int ranks) const;

  /// Returns how many messages this rank has sent again that receivers had, and compared.
  std::uint64_t compared() const { return compared_; }

  /// Returns how many bytes were logged in all phases that are kept. It depends only on the messages that were sent and
  /// on the mates at that time.
  std::size_t bytes() const;
  /// The same without the setup.
  std::size_t bytes_since_restore() const { return bytes() - bytes_of(phases_.front()); }
  /// The same with what the messages need beside their bytes. It does not include the history of messages that were
  /// received: at a step of the program, their number depends on timing.
  std::size_t room_since_restore() const { return room() - room_of(phases_.front()); }
  std::size_t room() const;
  /// Returns how many of the logged bytes are kept.
  std::size_t bytes_kept() const;
  /// Forgets the messages of the setup, while it lasts; afterwards all others, including those to mates, and their
  /// history. They cannot be sent again from now on.
  void forget_log(InUse in_use = {});
  /// Returns true if messages of a phase that is kept were forgotten.
  bool has_forgotten() const;
  /// Returns how many bytes the log, the copies for mates and the history hold, with what messages need beside their
  /// bytes: what counts for the limit.
  std::size_t bytes_held() const { return held_; }
  /// Returns how many bytes of memory the copies for mates take.
  std::size_t retained_bytes() const;

 private:
  struct Entry {
    Channel channel;
    std::uint64_t number;
    std::span<const std::byte> bytes;
  };
  /// What a logged message needs beside its bytes: the entry, and what rounding costs.
  static constexpr std::size_t bytes_beside = sizeof(Entry) + 16;
  static constexpr std::size_t bytes_of_event = sizeof(std::uint32_t);  ///< in the history
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  struct Received {
    std::uint64_t count = 0;
    std::uint64_t hash = 0;
    std::uint32_t place = nowhere;  ///< of the channel in the history
    bool is_to_tell = false;        ///< is in Unacknowledged::channels
    bool is_found = false;          ///< a probe has found the next message
  };
  struct Unacknowledged {
    std::size_t bytes = 0;
    std::uint64_t messages = 0;
    std::vector<Channel> channels;
  };
  struct Known {
    std::uint64_t count = 0;  ///< how many messages the receiver has
    std::uint64_t hash = 0;
    bool is_found = false;

    /// Returns how many messages may have had an effect on the receiver.
    std::uint64_t met() const { return count + (is_found ? 1 : 0); }
  };
  struct Sends {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t hash = 0;  ///< over the messages that the receiver has
    Known theirs;
    std::uint32_t place = nowhere;
    std::vector<Entry>* log = nullptr;  ///< of the peer
  };
  struct OfPhase {
    explicit OfPhase(std::size_t piece) : retained(piece) {}
    void clear();

    LogMemory memory;
    Retained retained;
    std::size_t forgotten = 0;              ///< bytes
    bool has_forgotten = false;             ///< messages, which may be empty
    std::uint64_t logged = 0;               ///< messages, also those that were forgotten
    std::map<int, std::vector<Entry>> log;  ///< by peer
    ChannelMap<Sends> sends;
    ChannelMap<Received> received;
    History history;
  };

  OfPhase& now() { return phases_[phase_]; }
  const OfPhase& now() const { return phases_[phase_]; }
  static std::size_t bytes_of(const OfPhase& phase) { return phase.memory.used() + phase.forgotten; }
  static std::size_t room_of(const OfPhase& phase) {
    return bytes_of(phase) + phase.logged * (bytes_beside + bytes_of_event);
  }
  void need_phase(Phase phase);
  template <class BytesIn>
  std::size_t sum_over_phases(BytesIn bytes_in) const;
  std::uint64_t balance_of_phases(Phase end) const;
  void count_held();
  bool is_mate(int peer) const {
    return peer != self_ && static_cast<std::size_t>(peer) < mates_.size() && mates_[static_cast<std::size_t>(peer)];
  }
  bool is_due(const Unacknowledged& one) const;
  bool is_past(int peer) const;
  bool is_known(const Channel& channel, const Sends& sends) const;
  void note(const Channel& channel, std::uint64_t number, Difference::What what);
  void note_event(const Channel& channel, std::uint32_t& place, History::What what);
  void hear_phase(OfPhase& phase, int peer, const std::vector<Receipt>& receipts, std::vector<Resent>& resent);

  int self_;
  Hash hash_;
  std::vector<bool> mates_;
  Window window_;
  std::size_t held_ = 0;
  std::map<int, Unacknowledged> unacknowledged_;
  std::vector<int> due_;      ///< mates to which an acknowledgement is due
  std::uint64_t number_ = 0;  ///< of the phase
  Phase phase_ = 0;
  std::vector<OfPhase> phases_;  ///< those after phase_ are known from others
  std::vector<OfPhase> unused_;  ///< phases that have ended, for their memory
  std::map<int, Phase> peers_;   ///< the phase of each other rank, according to its last report
  bool has_heard_ = false;       ///< other ranks may have messages that this rank has not sent in this life
  mutable std::optional<std::uint64_t>
      behind_;  ///< number of messages of the phase that others have; nothing: not counted yet
  std::optional<Difference> difference_;
  std::uint64_t compared_ = 0;
};

}  // namespace mend::replay
