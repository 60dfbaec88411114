// Determines the order in which a rank that rolls back may receive its messages again, if it receives from any source.
//
// All messages that were sent to this rank are logged and available at once. But a receive from any source must not
// take a message that depends on one that the rank has yet to send:
//
//          a, from rank 1     b, from rank 2        c, from rank 2, which has received e
//   rank 0 ---receives any----receives any---sends e---receives any---
//
// If c came before a or b, rank 0 would send another message instead of e. Each other rank has kept its history: the
// messages that it has sent and received, in order. So the rank that rolls back goes through these histories while it
// runs. In its history, a rank sends a message as soon as it has received there all messages that it received before
// that send. A message from the rank that rolls back counts as received there when that rank has sent it again. A
// message has arrived only when its sender has sent it in its history; then a receive from any source may take it. The
// run with the new order is valid: each event comes after the events on which it depends. A send-deterministic program
// sends the same messages in it.
//
// A probe that finds a message is an event of the history too: the rank may send another message because of it, before
// it receives the one that was found. It goes on there when the message has been sent, and does not take it.
//
// Receives are matched as in MPI: a message goes to the first posted receive that fits it. So what has arrived and was
// not taken fits no receive that waits. A receive that names its source takes the next logged message from that source
// at once, because a rank sends the same messages in every valid run. It waits while a receive before it waits that
// could take the message. If there is no logged message for it, and its source has ended the phase, none comes: a
// message that arrives belongs to the next phase.
//
// A program that polls sees which of its messages come first, also if it names their sources. So a poll must not see a
// message that was taken before it has arrived (has_arrived(), poll()). A call that blocks for that message may end at
// once: in the first run, the call ended without anything that this rank sent later.
//
// If a second rank rolls back at the same time, the histories of the others contain nothing about it. Then no order is
// known to be correct. No order is known to be correct either if a receive from any source finds no message that has
// arrived before this rank has sent all messages that the others have: the program received other messages in another
// order, and may wait for a message that is sent in another order too.
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
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace mend::replay {

class WildcardOrder {
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
    beyond,  ///< no logged message is for it: it takes a message that is sent from now on
    waits,   ///< no message for it has arrived
    never,   ///< no message for it comes in this phase
    early,   ///< for a poll: a message is for it, which has not arrived
  };
  struct Answer {
    Match match = Match::waits;
    Envelope envelope{};
    bool operator==(const Answer&) const = default;
  };
  using Receive = std::uint64_t;  ///< the caller's number of a receive
  using Counts = std::map<Channel, std::uint64_t>;

  /// `self`: this rank, which rolls back alone. `others`: the histories of all other ranks in the phase. `sent`,
  /// `received`: the messages that this rank has sent and received again so far. `ended`: the other ranks that are in a
  /// later phase.
  WildcardOrder(int self, std::map<int, History> others, const Counts& sent, const Counts& received,
                std::set<int> ended = {});

  /// Records that this rank has sent the next message of `channel` again.
  void sent(const Channel& channel);
  /// Posts a receive. If it waits, take_answered() returns it later, unless it is dropped.
  Answer post(Receive receive, const Pattern& pattern);
  /// Takes a receive that waits back. Others may not have to wait for it any more.
  void drop(Receive receive);
  /// Returns the answer that a receive would get if it were posted now.
  Answer look(const Pattern& pattern);
  /// The same for a program that polls. It does not find a message that has not arrived, or that is sent from now on:
  /// this rank still has to send what it has sent without that message.
  Answer poll(const Pattern& pattern);
  /// Returns false while the message of a receive that was posted here has not arrived: it is not complete for a
  /// program that polls.
  bool has_arrived(Receive receive) const;
  /// Returns the receives that have waited and have another answer now, in the order of their answers.
  std::vector<std::pair<Receive, Answer>> take_answered() { return std::exchange(answered_, {}); }

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
    std::size_t to_self = 0;              // the number of messages to this rank that were passed
  };
  using Way = std::tuple<int, int, std::uint32_t, int>;  // from, to, context, tag
  struct Pending {
    Receive receive;
    Pattern pattern;
  };

  /// If the answer is Match::logged, `place` is that of the message among those of its source.
  struct Found {
    Answer answer{};
    std::size_t place = 0;
  };

  static bool fits(const Pattern& pattern, int source, const Message& message);
  static bool overlap(const Pattern& one, const Pattern& other);
  Found find(const Pattern& pattern, std::span<const Pending> earlier);
  void take(Receive receive, const Found& found);
  void answer_waiting();
  void list_messages(int source, const History& history, const Counts& received);
  void walk(int rank);
  void walk_all();
  void was_sent(const Way& way);
  void arrive(int source, std::size_t place);

  int self_;
  std::set<int> ended_;
  std::map<int, Walker> walkers_;
  std::map<Way, std::uint64_t> sent_;
  std::map<Way, int> waiting_;                      // the rank that waits for the next message of a way: its receiver
  std::vector<int> able_;                           // the ranks that can continue
  std::map<int, Messages> messages_;                // by source
  std::vector<std::pair<int, std::size_t>> order_;  // of arrival: source, and place among its messages
  std::size_t first_in_order_ = 0;                  // those before it are taken
  std::vector<Pending> pending_;                    // in the order in which they were posted
  std::map<Receive, std::pair<int, std::size_t>> early_;  // those that took a message that had not arrived, with it
  std::set<Receive> beyond_;                              // they take messages that are sent from now on
  std::vector<std::pair<Receive, Answer>> answered_;
};

}  // namespace mend::replay
