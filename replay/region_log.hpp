// What a rank knows of its messages in the regions of a program that goes on in them: those of message logs as Fenix
// has them (fenix/mlog).
//
//   region 7 | region 8 | region 9 ...        the program says when one begins; messages may cross from one to the next
//
// The log keeps the last `depth` regions: the messages that were sent in them, with their bytes, and how much had been
// sent and received on each channel when each began, with hashes. So a rank can go back to the beginning of a region,
// or, with a log that was committed and comes back from there, to where it was then. After a failure all ranks say
// where they go on from, and tell each other what they have received there (hear()): the rest is sent again from the
// log, and what a rank sends again that the receiver has is recognised, and compared.
//
// The ranks need not commit at the same place, and messages may be under way when they do: a log that is committed
// holds the messages of the regions before.
//
// A log that has no messages and goes on at a region (a process that has taken over a rank, without a log that was
// committed) takes its counts from the others: what they had sent to it, and received from it, when that region began.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/log_memory.hpp"
#include "replay/message_log.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace mend::replay {

class RegionLog final : public MessageLog {
 public:
  /// How many messages of a channel, from its beginning, and the hash over them.
  struct Count {
    std::uint64_t number = 0;
    std::uint64_t hash = 0;
    bool operator==(const Count&) const = default;
  };
  using Counts = std::map<Channel, Count>;

  /// What a rank tells all others of where it goes on.
  struct Position {
    bool takes_counts = false;  ///< it has no messages, and begins at `region`
    int region = -1;
  };
  /// What it tells one of them. The channels are numbered as there: `peer` is the one who tells.
  struct Report {
    Counts received{};  ///< what it has received from that one
    // For one that takes counts:
    Counts received_then{};  ///< the same when its region began
    Counts sent_then{};      ///< what had been sent to it then
    bool is_lost = false;    ///< the region is not kept
  };

  /// `depth`: how many regions are kept, at least 1.
  RegionLog(std::size_t depth, Hash hash) : depth_(depth), hash_(hash) {}

  // --- the program's messages ------------------------------------------------------------------------------------
  Copy begin_send(const Channel& channel, std::size_t size) override;
  /// The copy stays where it is until its region is dropped and forget_dropped() was called.
  void end_send(const Channel& channel, std::span<const std::byte> copy) override;
  void receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request) override;

  /// A call of the program begins.
  void begin_call();
  /// It has ended with a failure, and will be made again: what was sent and received in it has not been, but for what
  /// was received by request.
  void undo_call();

  // --- regions ---------------------------------------------------------------------------------------------------
  /// The region that has begun last.
  std::optional<int> region() const;
  /// Returns true if that is earlier, or has no messages.
  bool can_begin(int region) const;
  /// Region 0 begins by itself with the first message, if none has begun before.
  void begin_region(int region);
  /// Whether `region` is kept, or is later than all.
  bool can_go_back_to(int region) const;
  /// To the beginning of `region`, which begins now if it is later than all.
  void go_back_to(int region);
  /// Nothing uses the copies of dropped regions any more.
  void forget_dropped();

  // --- after a failure: all ranks together -----------------------------------------------------------------------
  bool has_messages() const { return !sends_.empty() || !received_.empty(); }
  /// What `peer` is told, which goes on from `position`.
  Report report_for(int peer, const Position& position) const;
  /// Whether the messages that `peer` needs again are kept. `report`: what it has told.
  bool can_serve(int peer, const Position& position, const Report& report) const;
  /// Returns what is sent to `peer` again, in order. `takes_counts`: this rank's own position, before this call and the
  /// same in all.
  std::vector<Resent> hear(int peer, const Position& position, const Report& report, bool takes_counts);
  const std::optional<Difference>& difference() const { return difference_; }

  // --- as a member of what is committed --------------------------------------------------------------------------
  std::vector<std::byte> write() const;
  /// Throws std::runtime_error if `bytes` are not what write() has returned.
  void read(std::span<const std::byte> bytes);

  /// How many bytes of messages are kept.
  std::size_t bytes() const;

 private:
  struct Entry {
    Channel channel;
    Count before;  ///< of the channel, without it
    std::span<const std::byte> bytes;
  };
  struct Region {
    int id = 0;
    Counts sent;  ///< at its beginning
    Counts received;
    std::vector<Entry> log;
    LogMemory memory;
  };

  Region& now();
  Counts counts_of(const Counts& counts, int peer) const;
  const Region* first_from(int region) const;
  bool has_dropped_before(int region) const;
  Counts sent_at(int region) const;
  Counts received_at(int region) const;
  Counts needed_from(int peer, const Position& position, const Report& report) const;
  Region begun(int id);
  void retire(Region region);
  void compare(const Channel& channel, const Count& mine, const Count& theirs);

  std::size_t depth_;
  Hash hash_;
  std::deque<Region> regions_;  // the oldest first
  Counts sends_;
  Counts received_;
  Counts theirs_;  // by channel of this rank's sends: what the receiver has, as heard last
  bool has_dropped_ = false;
  std::vector<LogMemory> dropped_;
  std::vector<LogMemory> spare_;
  std::vector<Channel> sent_in_call_;
  std::vector<std::pair<Channel, Count>> received_in_call_;  // and the count before
  std::optional<Difference> difference_;
};

}  // namespace mend::replay
