// A rank that receives from any source dies, and the one that takes over gets its messages again in an order that is
// possible: drawn programs whose result is the same in every run have it after a death too, at any moment.

#include "replay/wildcard_order.hpp"

#include "replay/sender_log.hpp"
#include "tests/replay/drawn_messages.hpp"
#include "tests/replay/hash.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/seeds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mend::replay {
namespace {

// Not mend::testing.
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using OrderAnswer = WildcardOrder::Answer;
using Match = WildcardOrder::Match;
using Envelope = WildcardOrder::Envelope;

constexpr int any = WildcardOrder::any;

// --- one rank --------------------------------------------------------------------------------------------------

/// Events of the channel at a place of a history.
constexpr std::uint32_t sends(std::uint32_t place) { return History::event(place, History::What::sent); }
constexpr std::uint32_t receives(std::uint32_t place) { return History::event(place, History::What::received); }
constexpr std::uint32_t finds(std::uint32_t place) { return History::event(place, History::What::found); }

/// The histories of ranks 1 and 2 in the picture of wildcard_order.hpp, with tag 7.
std::map<int, History> histories_of_the_picture() {
  const History of_1{{{0, 0, 7}}, {sends(0)}};                                    // a
  const History of_2{{{0, 0, 7}, {0, 0, 8}}, {sends(0), receives(1), sends(0)}};  // b, e, c
  return {{1, of_1}, {2, of_2}};
}

std::vector<int> sources_taken(WildcardOrder& order, int at_most) {
  std::vector<int> sources;
  for (std::uint64_t i = 0; static_cast<int>(i) < at_most; ++i) {
    const auto answer = order.post(i, {any, 0, 7});
    if (answer.match != Match::logged) {
      order.drop(i);
      break;
    }
    sources.push_back(answer.envelope.source);
  }
  return sources;
}

TEST(WildcardOrder, holds_back_what_depends_on_a_message_that_was_not_sent_again) {
  WildcardOrder order(0, histories_of_the_picture(), {}, {});
  EXPECT_THAT(sources_taken(order, 3), ::testing::UnorderedElementsAre(1, 2));
  order.sent({2, 0, 8});
  EXPECT_THAT(sources_taken(order, 3), ElementsAre(2));
}

TEST(WildcardOrder, gives_a_receive_that_waits_its_message_when_it_arrives) {
  WildcardOrder order(0, histories_of_the_picture(), {}, {{{1, 0, 7}, 1}, {{2, 0, 7}, 1}});
  EXPECT_EQ(order.post(5, {any, 0, any}).match, Match::waits);
  EXPECT_EQ(order.post(6, {2, 0, 7}).match, Match::waits) << "the receive before it could take the message";
  EXPECT_THAT(order.take_answered(), IsEmpty());
  order.sent({2, 0, 8});
  EXPECT_THAT(order.take_answered(),
              ElementsAre(Pair(5, OrderAnswer{Match::logged, {2, 7}}), Pair(6, OrderAnswer{Match::beyond})));
  EXPECT_THAT(order.take_answered(), IsEmpty());
}

/// Ranks 1 and 2 send a message when they have received one.
std::map<int, History> histories_of_answers() {
  const History of_each{{{0, 0, 8}, {0, 0, 5}}, {receives(0), sends(1)}};
  return {{1, of_each}, {2, of_each}};
}

TEST(WildcardOrder, gives_a_receive_that_names_its_source_a_message_when_those_before_it_have_theirs) {
  WildcardOrder order(0, histories_of_answers(), {}, {});
  EXPECT_EQ(order.post(0, {any, 0, 5}).match, Match::waits);
  EXPECT_EQ(order.post(1, {1, 0, 5}).match, Match::waits);
  EXPECT_EQ(order.post(2, {1, 0, any}).match, Match::waits);
  order.sent({2, 0, 8});  // the answer of rank 1 depends on another message
  EXPECT_THAT(order.take_answered(),
              ElementsAre(Pair(0, OrderAnswer{Match::logged, {2, 5}}), Pair(1, OrderAnswer{Match::logged, {1, 5}}),
                          Pair(2, OrderAnswer{Match::beyond})));
  order.sent({1, 0, 8});
  EXPECT_THAT(order.take_answered(), IsEmpty());
  EXPECT_EQ(order.post(3, {any, 0, any}).match, Match::waits) << "all are taken";
}

TEST(WildcardOrder, lets_receives_go_on_that_have_waited_for_one_that_is_taken_back) {
  WildcardOrder order(0, histories_of_answers(), {}, {});
  EXPECT_EQ(order.post(0, {any, 0, any}).match, Match::waits);
  EXPECT_EQ(order.post(1, {1, 0, 9}).match, Match::waits);
  EXPECT_EQ(order.post(2, {any, 0, 6}).match, Match::waits);
  EXPECT_EQ(order.post(3, {1, 0, any}).match, Match::waits);
  order.drop(0);
  EXPECT_THAT(order.take_answered(),
              ElementsAre(Pair(1, OrderAnswer{Match::beyond}), Pair(3, OrderAnswer{Match::logged, {1, 5}})));
}

/// Otherwise it would take the second message of its source before the first one.
TEST(WildcardOrder, gives_a_receive_what_has_arrived_although_one_before_it_waits) {
  const History of_2{{{0, 0, 7}, {0, 0, 8}, {0, 0, 9}}, {sends(0), receives(1), sends(2)}};
  WildcardOrder order(0, {{2, of_2}}, {}, {});
  EXPECT_EQ(order.post(0, {any, 0, 6}).match, Match::waits);
  EXPECT_EQ(order.post(1, {any, 0, any}), (OrderAnswer{Match::logged, {2, 7}}));
  EXPECT_EQ(order.post(2, {any, 0, any}).match, Match::waits);
  order.sent({2, 0, 8});
  EXPECT_THAT(order.take_answered(), ElementsAre(Pair(2, OrderAnswer{Match::logged, {2, 9}})));
}

TEST(WildcardOrder, gives_a_receive_that_names_its_source_the_next_message_at_once) {
  WildcardOrder order(0, histories_of_the_picture(), {}, {});
  EXPECT_EQ(order.post(0, {2, 0, 7}).match, Match::logged);
  EXPECT_EQ(order.post(1, {2, 0, any}).match, Match::logged);
  EXPECT_EQ(order.post(2, {2, 0, 7}).match, Match::beyond);
  EXPECT_EQ(order.post(3, {1, 0, 8}).match, Match::beyond);
  EXPECT_THAT(sources_taken(order, 3), ElementsAre(1));
}

TEST(WildcardOrder, knows_that_no_message_comes_from_a_source_that_has_ended_the_phase) {
  WildcardOrder order(0, histories_of_the_picture(), {}, {}, {1});
  EXPECT_EQ(order.look({1, 0, 7}).envelope, (Envelope{1, 7}));
  EXPECT_EQ(order.look({1, 0, 8}).match, Match::never);
  EXPECT_EQ(order.look({2, 0, 9}).match, Match::beyond);
  EXPECT_EQ(order.post(0, {1, 0, 8}).match, Match::never);
  EXPECT_EQ(order.post(1, {1, 0, any}).match, Match::logged) << "the receive before it takes nothing";
  EXPECT_EQ(order.post(2, {1, 0, any}).match, Match::never);
  EXPECT_EQ(order.post(3, {any, 0, any}).envelope, (Envelope{2, 7}));
  EXPECT_EQ(order.post(4, {0, 0, 7}).match, Match::beyond) << "this rank itself is in the phase";
}

TEST(WildcardOrder, lets_a_receive_that_waits_keep_only_the_messages_that_fit_it) {
  WildcardOrder order(0, histories_of_the_picture(), {}, {});
  EXPECT_EQ(order.post(0, {any, 0, 6}).match, Match::waits);
  EXPECT_EQ(order.look({2, 0, any}).envelope, (Envelope{2, 7}));
  EXPECT_EQ(order.post(1, {2, 0, any}).envelope, (Envelope{2, 7}));
  EXPECT_EQ(order.post(2, {any, 0, any}).envelope, (Envelope{1, 7})) << "it has arrived, and nothing else takes it";
  EXPECT_EQ(order.post(3, {any, 0, any}).match, Match::waits);
}

TEST(WildcardOrder, knows_what_a_rank_sends_to_itself) {
  WildcardOrder order(0, {}, {{{0, 0, 3}, 2}}, {{{0, 0, 3}, 1}});
  EXPECT_EQ(order.post(0, {any, 0, any}).envelope, (Envelope{0, 3}));
  EXPECT_EQ(order.look({any, 0, any}).match, Match::waits);
  order.sent({0, 0, 4});
  EXPECT_EQ(order.look({any, 0, any}).envelope, (Envelope{0, 4}));
}

TEST(WildcardOrder, does_not_go_past_what_a_lost_rank_has_sent) {
  const History of_1{{{2, 0, 7}, {0, 0, 7}}, {receives(0), sends(1)}};
  WildcardOrder order(0, {{1, of_1}}, {}, {});
  EXPECT_EQ(order.look({any, 0, any}).match, Match::waits);
}

/// Rank 1 probes, answers what it has found, and receives it then. What is found twice is one message.
TEST(WildcardOrder, holds_back_what_depends_on_a_message_that_a_probe_has_found) {
  const History of_1{{{0, 0, 8}, {0, 0, 7}}, {finds(0), sends(1), finds(0), receives(0), finds(0), sends(1)}};
  const History of_2{{{0, 0, 7}}, {sends(0)}};
  WildcardOrder order(0, {{1, of_1}, {2, of_2}}, {}, {});
  EXPECT_THAT(sources_taken(order, 3), ElementsAre(2));
  order.sent({1, 0, 8});
  EXPECT_THAT(sources_taken(order, 3), ElementsAre(1));
  order.sent({1, 0, 8});
  EXPECT_THAT(sources_taken(order, 3), ElementsAre(1));
}

TEST(WildcardOrder, shows_a_poll_only_what_has_arrived) {
  WildcardOrder order(0, histories_of_answers(), {}, {});
  EXPECT_EQ(order.look({1, 0, 5}).match, Match::logged);
  EXPECT_EQ(order.poll({1, 0, 5}).match, Match::early);
  EXPECT_EQ(order.look({1, 0, 6}).match, Match::beyond);
  EXPECT_EQ(order.poll({1, 0, 6}).match, Match::early) << "it is sent from now on";
  EXPECT_EQ(order.poll({any, 0, 5}).match, Match::waits);
  order.sent({1, 0, 8});
  EXPECT_EQ(order.poll({1, 0, 5}), (OrderAnswer{Match::logged, {1, 5}}));
  EXPECT_EQ(order.poll({2, 0, 5}).match, Match::early);
}

TEST(WildcardOrder, knows_of_a_receive_whether_its_message_has_arrived) {
  WildcardOrder order(0, histories_of_answers(), {}, {});
  EXPECT_EQ(order.post(3, {1, 0, 5}).match, Match::logged);
  EXPECT_EQ(order.post(4, {2, 0, 5}).match, Match::logged);
  EXPECT_EQ(order.post(5, {2, 0, 5}).match, Match::beyond);
  EXPECT_FALSE(order.has_arrived(3));
  EXPECT_FALSE(order.has_arrived(4));
  EXPECT_FALSE(order.has_arrived(5)) << "its message is sent from now on";
  order.sent({2, 0, 8});
  EXPECT_FALSE(order.has_arrived(3));
  EXPECT_TRUE(order.has_arrived(4));
}

/// It gets its message when the receive before it has its own.
TEST(WildcardOrder, knows_of_a_receive_that_has_waited_whether_its_message_has_arrived) {
  const History of_1{{{0, 0, 8}, {0, 0, 5}}, {receives(0), sends(1), receives(0), sends(1)}};
  WildcardOrder order(0, {{1, of_1}}, {}, {});
  EXPECT_EQ(order.post(0, {any, 0, 5}).match, Match::waits);
  EXPECT_EQ(order.post(1, {1, 0, 5}).match, Match::waits);
  order.sent({1, 0, 8});
  EXPECT_THAT(order.take_answered(),
              ElementsAre(Pair(0, OrderAnswer{Match::logged, {1, 5}}), Pair(1, OrderAnswer{Match::logged, {1, 5}})));
  EXPECT_TRUE(order.has_arrived(0));
  EXPECT_FALSE(order.has_arrived(1));
  order.sent({1, 0, 8});
  EXPECT_TRUE(order.has_arrived(1));
}

TEST(History, comes_back_as_it_was_sent) {
  for (const std::vector<std::uint32_t>& events : {std::vector<std::uint32_t>{}, {1, 0, 2}, {3, 2}}) {
    const History history{{{3, 7, -1}, {0, 1, 9}}, events};
    std::vector<std::uint64_t> words{17};
    put(words, history);
    std::size_t at = 1;
    EXPECT_EQ(history_from(words, at), history);
    EXPECT_EQ(at, words.size());
  }
}

// --- drawn jobs ------------------------------------------------------------------------------------------------

enum class Act : std::uint8_t {
  send,
  receive,
  probe,
  receive_first,  ///< the first of two receives that have begun: from `peer` and `other`
  receive_rest,   ///< the other one of the two
};

struct ActOfRank {
  Act act;
  int peer;
  int tag;
  int other = -1;
};

using Program = std::vector<std::vector<ActOfRank>>;  ///< by rank

/// Messages in an order in which the job ends. Many are received from any source.
Program draw_program(std::mt19937_64& random) {
  Program program(static_cast<std::size_t>(drawn(random, 2, 4)));
  const int last = static_cast<int>(program.size()) - 1;
  const int tags = drawn(random, 1, 2);
  for (int message = drawn(random, 4, 10); message > 0; --message) {
    const int from = drawn(random, 0, last);
    const int to = drawn(random, 0, 2) == 0 ? drawn(random, 0, last) : 0;
    const int tag = drawn(random, 1, tags);
    program[static_cast<std::size_t>(from)].push_back({Act::send, to, tag});
    program[static_cast<std::size_t>(to)].push_back({Act::receive, drawn(random, 0, 3) == 0 ? from : any, tag});
  }
  return program;
}

/// Some messages are found by probes, answered, and received later. Some ranks wait for any of two receives, of which
/// always the same ends first: the message of the other depends on what the rank sends then.
Program draw_program_that_polls(std::mt19937_64& random) {
  Program program(static_cast<std::size_t>(drawn(random, 3, 4)));
  const int ranks = static_cast<int>(program.size());
  const auto does = [&](int rank, ActOfRank act) { program[static_cast<std::size_t>(rank)].push_back(act); };
  std::deque<std::pair<int, ActOfRank>> later;
  for (int i = drawn(random, 3, 6); i > 0; --i) {
    const int to = drawn(random, 0, 1) == 0 ? 0 : drawn(random, 0, ranks - 1);
    const int distance = drawn(random, 1, ranks - 1);
    const int from = (to + distance) % ranks;
    if (drawn(random, 0, 2) == 0) {
      const int second = (to + distance % (ranks - 1) + 1) % ranks;
      does(from, {Act::send, to, 3});
      does(to, {Act::receive_first, second, 3, from});
      does(to, {Act::send, second, 4});
      does(second, {Act::receive, to, 4});
      does(second, {Act::send, to, 3});
      does(to, {Act::receive_rest, second, 3});
      continue;
    }
    const ActOfRank receive{Act::receive, drawn(random, 0, 3) == 0 ? from : any, 1};
    does(from, {Act::send, to, 1});
    if (drawn(random, 0, 1) == 0) {
      does(to, receive);
    } else {
      does(to, {Act::probe, drawn(random, 0, 1) == 0 ? from : any, 1});
      does(to, {Act::send, from, 1});
      does(from, {Act::receive, any, 1});
      later.emplace_back(to, receive);
    }
    if (later.empty() || drawn(random, 0, 1) == 0) continue;
    does(later.front().first, later.front().second);
    later.pop_front();
  }
  for (const auto& [rank, receive] : later) does(rank, receive);
  return program;
}

/// Where all ranks are, with what is under way. What a rank receives from any source is added up, so neighbouring
/// receives may be in any order.
struct JobState {
  std::vector<std::size_t> next;
  std::vector<std::uint64_t> values;
  std::vector<int> rest;  ///< the source of the receive that is left of two
  std::map<std::pair<int, int>, std::deque<std::pair<int, std::uint64_t>>> network;  ///< by ends: tags and values

  explicit JobState(std::size_t ranks) : next(ranks), values(ranks), rest(ranks, -1) {
    for (std::size_t rank = 0; rank < ranks; ++rank) values[rank] = mixed(rank + 1);
  }

  const ActOfRank* step_of(const Program& program, int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return next[index] == program[index].size() ? nullptr : &program[index][next[index]];
  }
  bool may_come_from(int source, const ActOfRank& step, int rank) const {
    if (step.act == Act::receive_rest) return source == rest[static_cast<std::size_t>(rank)];
    if (step.act == Act::receive_first && source == step.other) return true;
    return step.peer == any || step.peer == source;
  }
  /// The sources from which the receive or probe could take or find something.
  std::vector<int> sources(const ActOfRank& step, int rank) const {
    std::vector<int> all;
    for (const auto& [ends, line] : network) {
      const bool fits = ends.second == rank && may_come_from(ends.first, step, rank);
      if (fits && std::ranges::find(line, step.tag, &std::pair<int, std::uint64_t>::first) != line.end())
        all.push_back(ends.first);
    }
    return all;
  }
  std::uint64_t take(int source, int rank, int tag) {
    auto& line = network[{source, rank}];
    const auto message = std::ranges::find(line, tag, &std::pair<int, std::uint64_t>::first);
    const std::uint64_t value = message->second;
    line.erase(message);
    if (line.empty()) network.erase({source, rank});
    return value;
  }
  void receive(int rank, const ActOfRank& step, int source, std::uint64_t value) {
    const auto index = static_cast<std::size_t>(rank);
    std::uint64_t& own = values[index];
    own = step.peer == any ? own + mixed(value) : mixed(own + 3 * value);
    if (step.act == Act::receive_first) rest[index] = source == step.peer ? step.other : step.peer;
    ++next[index];
  }
  std::uint64_t value_to_send(int rank) {
    std::uint64_t& own = values[static_cast<std::size_t>(rank)];
    own = mixed(own + 1);
    ++next[static_cast<std::size_t>(rank)];
    return own;
  }
  std::string text() const {
    std::string all = fmt::format("{}|{}|{}|", fmt::join(next, ","), fmt::join(values, ","), fmt::join(rest, ","));
    for (const auto& [ends, line] : network) {
      all += fmt::format("{}>{}:", ends.first, ends.second);
      for (const auto& [tag, value] : line) all += fmt::format("{}={},", tag, value);
    }
    return all;
  }
};

/// The values at the end, if every run without deaths ends with them.
std::optional<std::vector<std::uint64_t>> only_result(const Program& program) {
  constexpr std::size_t most_states = 3000;
  std::set<std::string> seen;
  std::vector<JobState> open{JobState(program.size())};
  std::optional<std::vector<std::uint64_t>> result;
  while (!open.empty()) {
    const JobState state = std::move(open.back());
    open.pop_back();
    if (!seen.insert(state.text()).second) continue;
    if (seen.size() > most_states) return std::nullopt;
    bool has_ended = true;
    bool goes_on = false;
    for (int rank = 0; rank < static_cast<int>(program.size()); ++rank) {
      const ActOfRank* const step = state.step_of(program, rank);
      if (step == nullptr) continue;
      has_ended = false;
      if (step->act == Act::send) {
        JobState after = state;
        const std::uint64_t value = after.value_to_send(rank);
        after.network[{rank, step->peer}].emplace_back(step->tag, value);
        open.push_back(std::move(after));
        goes_on = true;
        continue;
      }
      for (const int source : state.sources(*step, rank)) {
        JobState after = state;
        if (step->act == Act::probe) {
          ++after.next[static_cast<std::size_t>(rank)];
        } else {
          after.receive(rank, *step, source, after.take(source, rank, step->tag));
        }
        open.push_back(std::move(after));
        goes_on = true;
      }
    }
    if (!has_ended && !goes_on) return std::nullopt;
    if (!has_ended) continue;
    if (result && *result != state.values) return std::nullopt;
    result = state.values;
  }
  return result;
}

/// The rules that a test may remove.
enum class OrderRule {
  none,
  histories_wait_for_what_they_received,
  histories_wait_for_what_they_found,
  only_logged_until_all_is_sent_again,
  polls_see_only_what_has_arrived,
};

class WildcardJob {
 public:
  WildcardJob(const Program& program, OrderRule without)
      : program_(program), without_(without), state_(program.size()) {
    for (std::size_t rank = 0; rank < program.size(); ++rank) logs_.push_back(newcomer(static_cast<int>(rank)));
  }

  /// Has one rank do its next step. Returns false if none can.
  bool step(std::mt19937_64& random) {
    std::vector<int> able;
    for (int rank = 0; rank < ranks(); ++rank)
      if (is_able(rank)) able.push_back(rank);
    if (able.empty() || all_go_back()) return false;
    act(able[static_cast<std::size_t>(drawn(random, 0, static_cast<int>(able.size()) - 1))], random);
    return true;
  }

  void kill(int rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (order_ && goes_back_ != rank) {
      two_go_back_ = true;  // no order is known
      return;
    }
    state_.network.clear();
    logs_[index] = newcomer(rank);
    state_.next[index] = 0;
    state_.values[index] = mixed(index + 1);
    for (int from = 0; from < ranks(); ++from)
      for (int to = 0; to < ranks(); ++to)
        for (const SenderLog::Resent& one : log(from).hear(to, log(to).receipts_for(from))) put(from, to, one);
    std::map<int, History> others;
    for (int other = 0; other < ranks(); ++other) {
      if (other == rank) continue;
      History history = log(other).history(1);
      if (without_ == OrderRule::histories_wait_for_what_they_received) remove(History::What::received, history);
      if (without_ == OrderRule::histories_wait_for_what_they_found) remove(History::What::found, history);
      others[other] = std::move(history);
    }
    order_ = std::make_unique<WildcardOrder>(rank, std::move(others), WildcardOrder::Counts{}, WildcardOrder::Counts{});
    goes_back_ = rank;
    end_replay_if_over();
  }

  bool waits_in_vain() const { return waits_in_vain_; }
  bool all_go_back() const { return waits_in_vain_ || two_go_back_; }
  bool has_ended() const {
    for (int rank = 0; rank < ranks(); ++rank)
      if (state_.step_of(program_, rank) != nullptr) return false;
    return true;
  }
  bool differs() const {
    return std::ranges::any_of(logs_, [](const SenderLog& one) { return one.difference().has_value(); });
  }
  const std::vector<std::uint64_t>& values() const { return state_.values; }
  int chosen() const { return chosen_; }

 private:
  static SenderLog newcomer(int rank) {
    SenderLog log(rank, &hash);
    log.begin_phase();
    return log;
  }
  static void remove(History::What what, History& history) {
    std::erase_if(history.events, [&](std::uint32_t event) { return History::what_of(event) == what; });
  }
  int ranks() const { return static_cast<int>(program_.size()); }
  SenderLog& log(int rank) { return logs_[static_cast<std::size_t>(rank)]; }
  void put(int from, int to, const SenderLog::Resent& one) {
    std::uint64_t value = 0;
    std::memcpy(&value, one.bytes.data(), sizeof value);
    state_.network[{from, to}].emplace_back(one.channel.tag, value);
  }
  bool replays(int rank) const { return order_ && goes_back_ == rank; }
  bool is_able(int rank) const {
    const ActOfRank* const step = state_.step_of(program_, rank);
    if (step == nullptr) return false;
    if (step->act == Act::send) return true;
    const std::vector<int> sources = state_.sources(*step, rank);
    if (!replays(rank) || step->act == Act::receive_rest) return !sources.empty();
    if (step->act == Act::receive_first)
      return std::ranges::any_of(sources, [&](int source) { return is_seen(source, step->tag); });
    return order_->look({step->peer, 0, step->tag}).match == Match::waits ? true : !sources.empty();
  }
  /// Returns true if a rank that replays and polls may see the next message of `source`.
  bool is_seen(int source, int tag) const {
    return without_ == OrderRule::polls_see_only_what_has_arrived ||
           order_->poll({source, 0, tag}).match != Match::early;
  }

  /// Leaves those of `sources` from which a rank that replays may take or find a message. Returns false if no order is
  /// known.
  bool choose(const ActOfRank& step, std::vector<int>& sources) {
    if (step.act == Act::receive_rest) return true;  // it was posted with the first
    if (step.act == Act::receive_first) {
      for (const int source : {step.peer, step.other}) {
        order_->post(++posted_, {source, 0, step.tag});
        const bool is_early = !order_->has_arrived(posted_);
        if (is_early && without_ != OrderRule::polls_see_only_what_has_arrived) std::erase(sources, source);
      }
      return true;
    }
    const WildcardOrder::Pattern pattern{step.peer, 0, step.tag};
    const auto answer = step.act == Act::probe ? order_->look(pattern) : order_->post(++posted_, pattern);
    if (answer.match == Match::waits) return false;
    if (answer.match == Match::logged && step.peer == any) ++chosen_;
    if (answer.match == Match::logged) sources = {answer.envelope.source};
    return true;
  }

  void act(int rank, std::mt19937_64& random) {
    const ActOfRank& step = *state_.step_of(program_, rank);
    if (step.act == Act::send) return send(rank, step);
    std::vector<int> sources = state_.sources(step, rank);
    if (replays(rank) && !choose(step, sources)) {
      waits_in_vain_ = true;
      return;
    }
    const int source = sources[static_cast<std::size_t>(drawn(random, 0, static_cast<int>(sources.size()) - 1))];
    if (step.act == Act::probe) {
      log(rank).found({source, 0, step.tag});
      ++state_.next[static_cast<std::size_t>(rank)];
      return;
    }
    const std::uint64_t value = state_.take(source, rank, step.tag);
    log(rank).receive({source, 0, step.tag}, std::as_bytes(std::span(&value, 1)));
    state_.receive(rank, step, source, value);
  }

  void send(int rank, const ActOfRank& step) {
    const std::uint64_t value = state_.value_to_send(rank);
    const Channel channel{step.peer, 0, step.tag};
    const SenderLog::Copy sent = log(rank).begin_send(channel, sizeof value);
    std::memcpy(sent.bytes.data(), &value, sizeof value);
    log(rank).end_send(channel, sent.bytes);
    if (sent.needed) state_.network[{rank, step.peer}].emplace_back(step.tag, value);
    if (!replays(rank)) return;
    order_->sent(channel);
    if (without_ == OrderRule::only_logged_until_all_is_sent_again) order_.reset();
    end_replay_if_over();
  }

  void end_replay_if_over() {
    if (order_ && !log(goes_back_).is_behind()) order_.reset();
  }

  const Program& program_;
  OrderRule without_;
  JobState state_;
  std::vector<SenderLog> logs_;
  std::unique_ptr<WildcardOrder> order_;
  int goes_back_ = -1;
  WildcardOrder::Receive posted_ = 0;
  int chosen_ = 0;
  bool waits_in_vain_ = false;
  bool two_go_back_ = false;
};

struct Tally {
  int runs = 0;
  int wrong = 0;
  int all_go_back = 0;
  int in_vain = 0;
  int chosen = 0;
  std::string first_wrong{};
};

/// Programs with one result, each in some runs with a death or two.
Tally play_many(OrderRule without, std::uint64_t programs, Program (*draw)(std::mt19937_64&) = draw_program) {
  const auto seeds = support::seeds(programs, programs / 10);
  Tally tally;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = draw(random);
    const auto expected = only_result(program);
    if (!expected) continue;
    for (int run = 0; run < 6; ++run) {
      WildcardJob job(program, without);
      int deaths = drawn(random, 1, 2);
      for (bool goes_on = true; goes_on;) {
        if (deaths > 0 && drawn(random, 0, 6) == 0) {
          job.kill(drawn(random, 0, 1) == 0 ? 0 : drawn(random, 0, static_cast<int>(program.size()) - 1));
          --deaths;
        }
        goes_on = job.step(random) || (deaths > 0 && !job.all_go_back());
      }
      ++tally.runs;
      tally.all_go_back += job.all_go_back() ? 1 : 0;
      tally.in_vain += job.waits_in_vain() ? 1 : 0;
      tally.chosen += job.chosen();
      const bool is_right = job.all_go_back() || (job.has_ended() && !job.differs() && job.values() == *expected);
      if (is_right) continue;
      ++tally.wrong;
      if (tally.first_wrong.empty()) tally.first_wrong = support::to_see_again(seed);
    }
  }
  return tally;
}

TEST(WildcardOrderOfDrawnJobs, brings_every_rank_to_where_it_would_be_without_deaths) {
  const Tally tally = play_many(OrderRule::none, support::long_tests() ? 500'000 : 10'000);
  EXPECT_EQ(tally.wrong, 0) << tally.first_wrong;
  EXPECT_EQ(tally.in_vain, 0);
  fmt::print(
      "{} runs; {} receives from any source were replayed; in {} runs all go back, in {} of them for a receive\n",
      tally.runs, tally.chosen, tally.all_go_back, tally.in_vain);
}

TEST(WildcardOrderOfDrawnJobs, goes_wrong_if_a_message_does_not_wait_for_what_it_depends_on) {
  EXPECT_GT(play_many(OrderRule::histories_wait_for_what_they_received, 2'000).wrong, 0);
}

TEST(WildcardOrderOfDrawnJobs, brings_every_rank_that_polls_to_where_it_would_be_without_deaths) {
  const Tally tally = play_many(OrderRule::none, support::long_tests() ? 100'000 : 3'000, draw_program_that_polls);
  EXPECT_EQ(tally.wrong, 0) << tally.first_wrong;
  EXPECT_LE(10 * tally.in_vain, tally.runs);
  fmt::print("{} runs; {} receives or probes from any source were replayed; in {} runs all go back, in {} in vain\n",
             tally.runs, tally.chosen, tally.all_go_back, tally.in_vain);
}

TEST(WildcardOrderOfDrawnJobs, goes_wrong_if_a_message_does_not_wait_for_what_a_probe_has_found) {
  EXPECT_GT(play_many(OrderRule::histories_wait_for_what_they_found, 3'000, draw_program_that_polls).wrong, 0);
}

TEST(WildcardOrderOfDrawnJobs, goes_wrong_if_a_poll_sees_what_has_not_arrived) {
  EXPECT_GT(play_many(OrderRule::polls_see_only_what_has_arrived, 1'000, draw_program_that_polls).wrong, 0);
}

TEST(WildcardOrderOfDrawnJobs, goes_wrong_if_new_messages_are_taken_before_all_is_sent_again) {
  EXPECT_GT(play_many(OrderRule::only_logged_until_all_is_sent_again, 2'000).wrong, 0);
}

}  // namespace
}  // namespace mend::replay
