// In which order a rank that goes back may receive its messages again, when it receives from any source.
//
// All that it had been sent is logged, and at hand at once. But a receive from any source must not take a message that
// depends on one that the rank has yet to send:
//
//          a, from rank 1     b, from rank 2        c, from rank 2, which has received e
//   rank 0 ---receives any----receives any---sends e---receives any---
//
// If c came before a or b, the rank would send something else than e. Each other rank has kept its history: what it has
// sent and received, in order. So the rank that goes back goes through their histories while it goes forward itself: a
// rank sends in its history as soon as it has received there what it received before, which for messages of this rank
// means that this rank has sent them again. Only then has its message arrived, and a receive from any source may take
// it. Such a run, with the new order, is a valid one: each event of it comes after those that it depends on. A program
// that is send-deterministic sends the same in it.
//
// Receives are matched as MPI does: a message goes to the first receive that was posted and fits it. A receive that
// names its source takes the next logged message from there at once, because what a rank sends is the same in every
// valid run; unless an earlier receive from any source could take the message.
//
// The histories of the others tell nothing of a second rank that goes back at the same time. Then there is no order
// that is known to be right. Nor is there if a receive from any source finds nothing that has arrived before this rank
// has sent what the others have: the program received something else in another order, and may wait for a message that
// is sent in another order too.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/channel.hpp"
#include "replay/history.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace mend::replay {

class Arrivals {
 public:
  static constexpr int any = std::numeric_limits<int>::min();

  /// The messages that a receive accepts.
  struct Pattern {
    int source = any;
    std::uint32_t context = 0;
    int tag = any;
  };
  struct Envelope {
    int source = 0;
    int tag = 0;
    bool operator==(const Envelope&) const = default;
  };
  enum class Match : std::uint8_t {
    logged,  ///< the receive takes the message with this envelope
    beyond,  ///< what was logged holds nothing for it: it takes a message that is sent from now on
    waits,   ///< nothing for it has arrived
  };
  struct Answer {
    Match match = Match::waits;
    Envelope envelope{};
  };
  using Receive = std::uint64_t;  ///< the caller's number of a receive
  using Counts = std::map<Channel, std::uint64_t>;

  /// `self`: this rank, which goes back alone. `others`: the histories of the phase, of all others. `sent`, `received`:
  /// what this rank has sent and received again so far.
  Arrivals(int self, std::map<int, History> others, const Counts& sent, const Counts& received);

  /// This rank has sent the next message of `channel` again.
  void sent(const Channel& channel);
  /// A receive is posted. If it waits, take_matched() has it later, unless it is dropped.
  Answer post(Receive receive, const Pattern& pattern);
  void drop(Receive receive);
  /// Returns the answer to a receive that were posted now.
  Answer look(const Pattern& pattern);
  /// Receives that have waited, and take a message now, in that order.
  std::vector<std::pair<Receive, Envelope>> take_matched() { return std::exchange(matched_, {}); }

 private:
  struct Message {
    std::uint32_t context = 0;
    int tag = 0;
    bool has_arrived = false;
    bool is_taken = false;
  };
  struct Messages {            // of one source
    std::vector<Message> all;  // in the order in which they were sent
    std::size_t first = 0;     // those before it are taken
  };
  struct Walker {  // through the history of another rank
    History history;
    std::size_t next = 0;
    std::vector<std::uint64_t> received;  // by channel
    std::size_t to_self = 0;              // so many messages to this rank were passed
  };
  using Way = std::tuple<int, int, std::uint32_t, int>;  // from, to, context, tag
  struct Pending {
    Receive receive;
    Pattern pattern;
  };

  static bool fits(const Pattern& pattern, int source, const Message& message);
  static bool overlap(const Pattern& one, const Pattern& other);
  Answer find(const Pattern& pattern, Message** found);
  bool earlier_may_take(const Pattern& pattern) const;
  void list_messages(int source, const History& history, const Counts& received);
  void walk(int rank);
  void walk_all();
  void was_sent(const Way& way);
  void arrive(int source, std::size_t place);

  int self_;
  std::map<int, Walker> walkers_;
  std::map<Way, std::uint64_t> sent_;
  std::map<Way, int> waiting_;                      // who waits for the next message of a way: its receiver
  std::vector<int> able_;                           // those who can go on
  std::map<int, Messages> messages_;                // by source
  std::vector<std::pair<int, std::size_t>> order_;  // of arrival: source, and place among its messages
  std::size_t first_in_order_ = 0;                  // those before it are taken
  std::vector<Pending> pending_;
  std::vector<std::pair<Receive, Envelope>> matched_;
};

}  // namespace mend::replay
