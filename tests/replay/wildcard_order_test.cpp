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

/// The histories of ranks 1 and 2 in the picture of wildcard_order.hpp, with tag 7.
std::map<int, History> histories_of_the_picture() {
  const History of_1{{{0, 0, 7}}, {0}};                   // a
  const History of_2{{{0, 0, 7}, {0, 0, 8}}, {0, 3, 0}};  // b, e, c
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
  const History of_each{{{0, 0, 8}, {0, 0, 5}}, {1, 2}};
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
  const History of_2{{{0, 0, 7}, {0, 0, 8}, {0, 0, 9}}, {0, 3, 4}};  // sends, receives, and sends
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
  const History of_1{{{2, 0, 7}, {0, 0, 7}}, {1, 2}};  // receives from 2, and sends
  WildcardOrder order(0, {{1, of_1}}, {}, {});
  EXPECT_EQ(order.look({any, 0, any}).match, Match::waits);
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

using Program = std::vector<std::vector<Step>>;  ///< by rank

/// Messages in an order in which the job ends. Many are received from any source.
Program draw_program(std::mt19937_64& random) {
  Program program(static_cast<std::size_t>(drawn(random, 2, 4)));
  const int last = static_cast<int>(program.size()) - 1;
  const int tags = drawn(random, 1, 2);
  for (int message = drawn(random, 4, 10); message > 0; --message) {
    const int from = drawn(random, 0, last);
    const int to = drawn(random, 0, 2) == 0 ? drawn(random, 0, last) : 0;
    const int tag = drawn(random, 1, tags);
    program[static_cast<std::size_t>(from)].push_back({true, to, tag});
    program[static_cast<std::size_t>(to)].push_back({false, drawn(random, 0, 3) == 0 ? from : any, tag});
  }
  return program;
}

/// Where all ranks are, with what is under way. What a rank receives from any source is added up, so neighbouring
/// receives may be in any order.
struct JobState {
  std::vector<std::size_t> next;
  std::vector<std::uint64_t> values;
  std::map<std::pair<int, int>, std::deque<std::pair<int, std::uint64_t>>> network;  ///< by ends: tags and values

  explicit JobState(std::size_t ranks) : next(ranks), values(ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank) values[rank] = mixed(rank + 1);
  }

  const Step* step_of(const Program& program, int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return next[index] == program[index].size() ? nullptr : &program[index][next[index]];
  }
  /// The sources from which the receive could take something.
  std::vector<int> sources(const Step& step, int rank) const {
    std::vector<int> all;
    for (const auto& [ends, line] : network) {
      const bool fits = ends.second == rank && (step.peer == any || step.peer == ends.first);
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
  void receive(int rank, const Step& step, std::uint64_t value) {
    std::uint64_t& own = values[static_cast<std::size_t>(rank)];
    own = step.peer == any ? own + mixed(value) : mixed(own + 3 * value);
    ++next[static_cast<std::size_t>(rank)];
  }
  std::uint64_t value_to_send(int rank) {
    std::uint64_t& own = values[static_cast<std::size_t>(rank)];
    own = mixed(own + 1);
    ++next[static_cast<std::size_t>(rank)];
    return own;
  }
  std::string text() const {
    std::string all = fmt::format("{}|{}|", fmt::join(next, ","), fmt::join(values, ","));
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
      const Step* const step = state.step_of(program, rank);
      if (step == nullptr) continue;
      has_ended = false;
      if (step->sends) {
        JobState after = state;
        const std::uint64_t value = after.value_to_send(rank);
        after.network[{rank, step->peer}].emplace_back(step->tag, value);
        open.push_back(std::move(after));
        goes_on = true;
        continue;
      }
      for (const int source : state.sources(*step, rank)) {
        JobState after = state;
        after.receive(rank, *step, after.take(source, rank, step->tag));
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
enum class OrderRule { none, histories_wait_for_what_they_received, only_logged_until_all_is_sent_again };

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
      if (without_ == OrderRule::histories_wait_for_what_they_received)
        std::erase_if(history.events, [](std::uint32_t event) { return event % 2 == 1; });
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
  int ranks() const { return static_cast<int>(program_.size()); }
  SenderLog& log(int rank) { return logs_[static_cast<std::size_t>(rank)]; }
  void put(int from, int to, const SenderLog::Resent& one) {
    std::uint64_t value = 0;
    std::memcpy(&value, one.bytes.data(), sizeof value);
    state_.network[{from, to}].emplace_back(one.channel.tag, value);
  }
  bool replays(int rank) const { return order_ && goes_back_ == rank; }
  bool is_able(int rank) const {
    const Step* const step = state_.step_of(program_, rank);
    if (step == nullptr) return false;
    if (step->sends) return true;
    const bool has_any = !state_.sources(*step, rank).empty();
    return replays(rank) && order_->look({step->peer, 0, step->tag}).match == Match::waits ? true : has_any;
  }

  void act(int rank, std::mt19937_64& random) {
    const Step& step = *state_.step_of(program_, rank);
    if (step.sends) return send(rank, step);
    std::vector<int> sources = state_.sources(step, rank);
    if (replays(rank)) {
      const auto answer = order_->post(0, {step.peer, 0, step.tag});
      if (answer.match == Match::waits) {
        waits_in_vain_ = true;
        return;
      }
      if (answer.match == Match::logged && step.peer == any) ++chosen_;
      if (answer.match == Match::logged) sources = {answer.envelope.source};
    }
    const int source = sources[static_cast<std::size_t>(drawn(random, 0, static_cast<int>(sources.size()) - 1))];
    const std::uint64_t value = state_.take(source, rank, step.tag);
    log(rank).receive({source, 0, step.tag}, std::as_bytes(std::span(&value, 1)));
    state_.receive(rank, step, value);
  }

  void send(int rank, const Step& step) {
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
Tally play_many(OrderRule without, std::uint64_t programs) {
  const auto seeds = support::seeds(programs, programs / 10);
  Tally tally;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    std::mt19937_64 random(seed);
    const Program program = draw_program(random);
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

TEST(WildcardOrderOfDrawnJobs, goes_wrong_if_new_messages_are_taken_before_all_is_sent_again) {
  EXPECT_GT(play_many(OrderRule::only_logged_until_all_is_sent_again, 2'000).wrong, 0);
}

}  // namespace
}  // namespace mend::replay
