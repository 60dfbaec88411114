// Jobs of ranks that run random programs and die at random times. The processes that take over go through the setup and
// the interval again with the help of the other ranks' logs, together with all ranks of their clusters. The end must be
// that of a run without failures.

#include "replay/clusters/clusters.hpp"
#include "replay/clusters/retained.hpp"
#include "replay/sender_log.hpp"
#include "tests/replay/drawn_messages.hpp"
#include "tests/replay/hash.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/seeds.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace mend::replay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::uint64_t number_in(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

SenderLog::Copy send(SenderLog& log, const SenderLog::Channel& channel, std::uint64_t number) {
  const bool all = log.needs_all();
  const SenderLog::Copy sent = log.begin_send(channel, sizeof number);
  EXPECT_TRUE(!all || sent.needed);
  std::memcpy(sent.bytes.data(), &number, sizeof number);
  log.end_send(channel, sent.bytes);
  return sent;
}

void receive(SenderLog& log, const SenderLog::Channel& channel, std::uint64_t number) {
  log.receive(channel, std::as_bytes(std::span(&number, 1)));
}

/// Ends the setup, or the phase before a commit that is published at once.
void cut(SenderLog& log) {
  const bool was_setup = log.phase() == 0;
  log.begin_phase();
  if (!was_setup) log.committed();
}

// --- random jobs -----------------------------------------------------------------------------------------------

/// The steps of the ranks, phase by phase: the setup, and the intervals. The order of the receives lets the job end.
struct PhasedProgram {
  int ranks;
  std::vector<std::vector<std::vector<Step>>> steps;  ///< [phase][rank]
  std::vector<bool> ends_later;                       ///< by phase: the commit at its end is only begun there
};

PhasedProgram draw_phased_program(std::mt19937_64& random, int most_ranks = 4, int most_messages = 8) {
  PhasedProgram program{drawn(random, 1, most_ranks), {}, {}};
  const int phases = drawn(random, 2, 5);
  for (int phase = 0; phase < phases; ++phase) {
    program.ends_later.push_back(drawn(random, 0, 1) == 1);
    auto& of_ranks = program.steps.emplace_back(static_cast<std::size_t>(program.ranks));
    for (int message = drawn(random, 0, most_messages); message > 0; --message) {
      const int from = drawn(random, 0, program.ranks - 1);
      const int to = drawn(random, 0, program.ranks - 1);
      const int tag = drawn(random, 0, 1);
      of_ranks[static_cast<std::size_t>(from)].push_back({true, to, tag});
      of_ranks[static_cast<std::size_t>(to)].push_back({false, from, tag});
    }
  }
  return program;
}

/// Counts of what a job did, to check that the cases occur at all.
struct Deeds {
  int resent = 0;
  int between_mates = 0;  ///< of these
  int acknowledged = 0;
  int reentered = 0;  ///< survivors that went back with their clusters
  int spared = 0;     ///< sends that no receiver needed
  int restored = 0;   ///< by a newcomer, from a commit
  int passed = 0;     ///< commits that had begun before a death, and that a rank which went back did not begin again
};

/// What a job of a test does not keep to.
enum class Without : std::uint8_t {
  nothing,
  whole_cluster,        ///< only those that died go back
  copies,               ///< messages within a cluster count as acknowledged when they are sent
  log_until_published,  ///< the log of before a commit is dropped when the commit begins
};

const char* rule_name(Without rule) {
  switch (rule) {
    case Without::nothing: return "nothing";
    case Without::whole_cluster: return "whole_cluster";
    case Without::copies: return "copies";
    case Without::log_until_published: return "log_until_published";
  }
  return "";
}

class ClusterJob {
 public:
  explicit ClusterJob(PhasedProgram program, Without without = Without::nothing) : ClusterJob(program, {}, without) {}
  ClusterJob(PhasedProgram program, Clusters clusters, Without without)
      : program_(std::move(program)),
        clusters_(clusters.empty() ? single_ranks(program_.ranks) : std::move(clusters)),
        without_(without),
        snapshots_(of_all<std::uint64_t>(0)) {
    for (int rank = 0; rank < program_.ranks; ++rank) processes_.push_back(newcomer(rank));
  }

  /// Lets one rank, drawn from those that can, do its next step. Returns false if none can.
  bool step(std::mt19937_64& random) {
    if (!acknowledgements_.empty() && drawn(random, 0, 11) == 0) acknowledge();
    if (begun_ && drawn(random, 0, 11) == 0) publish();
    std::vector<int> able;
    for (int rank = 0; rank < program_.ranks; ++rank)
      if (is_able(rank)) able.push_back(rank);
    if (able.empty()) return cut_together();
    act(able[static_cast<std::size_t>(drawn(random, 0, static_cast<int>(able.size()) - 1))]);
    return true;
  }

  /// All messages under way are lost, and processes without knowledge take over the ranks of the dead.
  void kill(const std::set<int>& dead) {
    network_.clear();
    acknowledgements_.clear();
    begun_.reset();
    std::vector<Life> lives(processes_.size(), 0);
    for (const int rank : dead) lives[static_cast<std::size_t>(rank)].reset();
    const std::vector<bool> rolls_back = survivors_that_roll_back(lives, clusters_);
    for (int rank = 0; rank < program_.ranks; ++rank) {
      const bool reenters = without_ != Without::whole_cluster && rolls_back[static_cast<std::size_t>(rank)];
      if (reenters) ++deeds_.reentered;
      if (reenters || dead.contains(rank)) process(rank) = newcomer(rank);
    }
    for (int from = 0; from < program_.ranks; ++from) {
      for (int to = 0; to < program_.ranks; ++to) {
        for (const SenderLog::Resent& resent : process(from).log.hear(to, process(to).log.receipts_for(from))) {
          network_[{from, to}].emplace_back(resent.channel.tag, number_in(resent.bytes));
          ++deeds_.resent;
          if (are_mates(from, to)) ++deeds_.between_mates;
        }
      }
    }
  }

  bool has_ended() const {
    return std::ranges::all_of(processes_, [&](const Process& one) { return is_at_the_end(one); });
  }
  std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> values;
    for (const Process& one : processes_) values.push_back(one.value);
    return values;
  }
  std::string differences() const {
    std::string text;
    for (int rank = 0; rank < program_.ranks; ++rank)
      if (processes_[static_cast<std::size_t>(rank)].log.difference()) text += fmt::format("rank {} differs; ", rank);
    return text;
  }
  const Deeds& deeds() const { return deeds_; }
  bool is_balanced() const { return balanced_; }

 private:
  struct Process {
    SenderLog log;
    std::uint64_t value;
    std::size_t phase = 0;
    std::size_t next = 0;  ///< step in the phase
    std::uint64_t cuts = 0;
  };

  template <class T>
  std::vector<T> of_all(T value) const {
    return std::vector<T>(static_cast<std::size_t>(program_.ranks), value);
  }
  bool are_mates(int one, int other) const {
    return one != other && clusters_[static_cast<std::size_t>(one)] == clusters_[static_cast<std::size_t>(other)];
  }
  Process newcomer(int rank) const {
    std::vector<bool> mates;
    for (int other = 0; other < program_.ranks; ++other) mates.push_back(are_mates(rank, other));
    constexpr SenderLog::Window small{24, 2};
    return {SenderLog(rank, &hash, std::move(mates), small), mixed(static_cast<std::uint64_t>(rank) + 1)};
  }
  Process& process(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  const std::vector<Step>& steps_of(const Process& one) const {
    return program_.steps[one.phase][static_cast<std::size_t>(&one - processes_.data())];
  }
  bool is_at_cut(const Process& one) const { return one.next == steps_of(one).size(); }
  bool is_at_the_end(const Process& one) const { return is_at_cut(one) && one.phase + 1 == program_.steps.size(); }

  std::deque<std::pair<int, std::uint64_t>>::iterator message_for(int rank, const Step& step) {
    auto& line = network_[{step.peer, rank}];
    return std::ranges::find(line, step.tag, &std::pair<int, std::uint64_t>::first);
  }
  /// Returns true if others have gone through this cut before.
  bool can_cut_alone(const Process& one) const {
    return is_at_cut(one) &&
           std::ranges::any_of(processes_, [&](const Process& other) { return other.phase > one.phase; });
  }
  bool is_able(int rank) {
    const Process& one = process(rank);
    if (is_at_cut(one)) return can_cut_alone(one);
    const Step& step = steps_of(one)[one.next];
    return step.sends || message_for(rank, step) != network_[{step.peer, rank}].end();
  }

  void act(int rank) {
    Process& one = process(rank);
    if (is_at_cut(one)) return cut(rank);
    const Step& step = steps_of(one)[one.next++];
    const SenderLog::Channel channel{step.peer, 0, step.tag};
    if (step.sends) {
      one.value = mixed(one.value + 1);
      const bool needed = send(one.log, channel, one.value).needed;
      if (needed) network_[{rank, step.peer}].emplace_back(step.tag, one.value);
      if (!needed) ++deeds_.spared;
      if (without_ == Without::copies && are_mates(rank, step.peer)) forget_copies(one, step);
      return;
    }
    const auto message = message_for(rank, step);
    receive(one.log, channel, message->second);
    one.value = mixed(one.value ^ message->second);
    network_[{step.peer, rank}].erase(message);
    for (SenderLog::Acknowledgement& due : one.log.take_acknowledgements())
      acknowledgements_.push_back({rank, due.to, std::move(due.words)});
  }

  /// The oldest acknowledgement comes.
  void acknowledge() {
    const Acknowledged come = std::move(acknowledgements_.front());
    acknowledgements_.pop_front();
    Process& one = process(come.to);
    const std::size_t before = one.log.retained_bytes();
    one.log.acknowledged(come.by, come.words);
    one.log.reuse_retained();
    if (one.log.retained_bytes() < before) ++deeds_.acknowledged;
  }

  void forget_copies(Process& one, const Step& step) {
    const std::array<std::uint64_t, 3> all{one.cuts, static_cast<std::uint64_t>(step.tag), UINT64_MAX};
    one.log.acknowledged(step.peer, all);
    one.log.reuse_retained();
  }

  /// Called when no rank can do anything else. If all are at the end of the same phase, ends it.
  bool cut_together() {
    const std::size_t phase = processes_.front().phase;
    const auto is_there = [&](const Process& one) { return one.phase == phase && is_at_cut(one); };
    if (!std::ranges::all_of(processes_, is_there) || phase + 1 == program_.steps.size()) return false;
    std::uint64_t balance = 0;
    for (const Process& one : processes_) balance += one.log.balance();
    balanced_ = balanced_ && balance == 0;
    if (begun_) publish();
    if (phase > 0) begun_ = Commit{phase, values()};
    for (int rank = 0; rank < program_.ranks; ++rank) cut(rank);
    if (begun_ && !program_.ends_later[phase]) publish();
    return true;
  }

  void publish() {
    snapshots_ = begun_->values;
    committed_ = begun_->phase;
    begun_.reset();
    for (Process& one : processes_) one.log.committed();
  }

  /// The rank ends its phase. After the setup it restores the committed data.
  void cut(int rank) {
    Process& one = process(rank);
    if (one.phase > 0 && can_cut_alone(one)) ++deeds_.passed;
    one.log.begin_phase();
    if (one.phase > 0 && without_ == Without::log_until_published) one.log.committed();
    ++one.cuts;
    if (one.phase == 0 && committed_ > 0) {
      one.value = snapshots_[static_cast<std::size_t>(rank)];
      one.phase = committed_;
      ++deeds_.restored;
    }
    ++one.phase;
    one.next = 0;
  }

  struct Acknowledged {
    int by;
    int to;
    std::vector<std::uint64_t> words;
  };

  PhasedProgram program_;
  Clusters clusters_;
  Without without_;
  std::vector<Process> processes_;
  std::deque<Acknowledged> acknowledgements_;                                         ///< under way
  std::map<std::pair<int, int>, std::deque<std::pair<int, std::uint64_t>>> network_;  ///< the messages under way
  struct Commit {
    std::size_t phase;
    std::vector<std::uint64_t> values;
  };
  std::vector<std::uint64_t> snapshots_;
  std::size_t committed_ = 0;    ///< the last phase after which all committed
  std::optional<Commit> begun_;  ///< and not published
  bool balanced_ = true;
  Deeds deeds_;
};

std::vector<std::uint64_t> undisturbed(const PhasedProgram& program, std::mt19937_64& random) {
  ClusterJob job(program);
  while (job.step(random)) {
  }
  EXPECT_TRUE(job.has_ended());
  return job.values();
}

/// Plays a program with deaths that are drawn. Returns what is wrong at the end; empty: nothing.
std::string play(const PhasedProgram& program, const Clusters& clusters, Without without, std::mt19937_64& random,
                 Deeds& all) {
  const auto expected = undisturbed(program, random);
  ClusterJob job(program, clusters, without);
  const int deaths = drawn(random, 0, 4);
  int died = 0;
  bool goes_on = true;
  while (goes_on) {
    if (died < deaths && drawn(random, 0, 12) == 0) {
      std::set<int> dead;
      for (int more = drawn(random, 1, program.ranks); more > 0; --more)
        dead.insert(drawn(random, 0, program.ranks - 1));
      const bool anybody_is_left = static_cast<int>(dead.size()) < program.ranks;
      if (anybody_is_left) job.kill(dead);
      ++died;
    }
    goes_on = job.step(random);
  }
  all.resent += job.deeds().resent;
  all.between_mates += job.deeds().between_mates;
  all.acknowledged += job.deeds().acknowledged;
  all.reentered += job.deeds().reentered;
  all.spared += job.deeds().spared;
  all.restored += job.deeds().restored;
  all.passed += job.deeds().passed;
  if (!job.has_ended()) return "has not ended";
  if (job.values() != expected) return "other values";
  if (!job.differences().empty()) return job.differences();
  return job.is_balanced() ? "" : "not balanced";
}

TEST(SenderLog, brings_every_rank_to_where_it_would_be_without_deaths) {
  const auto seeds = support::seeds(support::long_tests() ? 1'000'000 : 20'000, 500);
  Deeds all;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    std::mt19937_64 random(seed);
    const PhasedProgram program = draw_phased_program(random);
    ASSERT_EQ(play(program, single_ranks(program.ranks), Without::nothing, random, all), "")
        << support::to_see_again(seed);
  }
  if (seeds.count() < 100) return;
  EXPECT_GT(all.resent, 0);
  EXPECT_GT(all.spared, 0);
  EXPECT_GT(all.restored, 0);
  EXPECT_GT(all.passed, 0);
  EXPECT_EQ(all.between_mates, 0);
}

// --- clusters --------------------------------------------------------------------------------------------------

/// Ranks in up to three clusters.
Clusters draw_clusters(int ranks, std::mt19937_64& random) {
  std::vector<NodeId> keys;
  for (int rank = 0; rank < ranks; ++rank) keys.push_back(NodeId{static_cast<std::uint32_t>(drawn(random, 0, 2))});
  return ranks_of_nodes(keys);
}

TEST(SenderLogOfAMember, brings_every_rank_to_where_it_would_be_without_deaths) {
  const auto seeds = support::seeds(support::long_tests() ? 1'000'000 : 20'000, 500);
  Deeds all;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    std::mt19937_64 random(seed);
    const PhasedProgram program = draw_phased_program(random, 5, 20);
    const Clusters clusters = draw_clusters(program.ranks, random);
    ASSERT_EQ(play(program, clusters, Without::nothing, random, all), "") << support::to_see_again(seed);
  }
  if (seeds.count() < 100) return;
  EXPECT_GT(all.resent, all.between_mates);
  EXPECT_GT(all.between_mates, 0);
  EXPECT_GT(all.acknowledged, 0);
  EXPECT_GT(all.reentered, 0);
  EXPECT_GT(all.spared, 0);
  EXPECT_GT(all.restored, 0);
}

class SenderLogWithout : public testing::TestWithParam<Without> {};
INSTANTIATE_TEST_SUITE_P(ARule, SenderLogWithout,
                         testing::Values(Without::whole_cluster, Without::copies, Without::log_until_published),
                         [](const auto& one) { return rule_name(one.param); });

TEST_P(SenderLogWithout, is_caught) {
  SKIP_IF_SANITIZED();
  Deeds all;
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    std::mt19937_64 random(seed);
    const PhasedProgram program = draw_phased_program(random, 5, 20);
    const Clusters clusters = draw_clusters(program.ranks, random);
    if (!play(program, clusters, GetParam(), random, all).empty()) ++wrong;
  }
  EXPECT_GT(wrong, 0);
}

TEST(SenderLogOfAMember, logs_no_message_to_a_mate_and_keeps_it_until_it_is_acknowledged) {
  SenderLog sender(0, &hash, {false, true, false}, {16, 2});
  SenderLog mate(1, &hash, {true, false, false}, {16, 2});
  constexpr std::size_t memory_of_three = 3 * LogMemory::room_for(sizeof(std::uint64_t));
  for (const std::uint64_t number : {1U, 2U, 3U}) send(sender, {1, 0, 7}, number);
  EXPECT_EQ(sender.retained_bytes(), memory_of_three);
  constexpr std::size_t history_of_three = 3 * sizeof(std::uint32_t);
  EXPECT_EQ(sender.bytes_held(), memory_of_three + history_of_three);
  send(sender, {2, 0, 7}, 4);
  EXPECT_EQ(sender.bytes(), 8U);
  EXPECT_EQ(sender.retained_bytes(), memory_of_three);
  receive(mate, {0, 0, 7}, 1);
  EXPECT_THAT(mate.take_acknowledgements(), IsEmpty());
  receive(mate, {0, 0, 7}, 2);
  const auto due = mate.take_acknowledgements();
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due.front().to, 0);
  sender.acknowledged(1, due.front().words);
  const auto resent = sender.hear(1, mate.receipts_for(0));
  ASSERT_THAT(resent, SizeIs(1));
  EXPECT_EQ(number_in(resent.front().bytes), 3U);
  cut(sender);
  EXPECT_EQ(sender.retained_bytes(), memory_of_three);  // a mate may not have come to its restore() yet
  cut(sender);
  EXPECT_EQ(sender.retained_bytes(), 0U);
  EXPECT_EQ(sender.bytes(), 8U);  // of the setup
}

TEST(SenderLogOfAMember, counts_an_acknowledgement_in_its_phase_only) {
  SenderLog sender(0, &hash, {false, true}, {8, 1});
  SenderLog mate(1, &hash, {true, false}, {8, 1});
  send(sender, {1, 0, 7}, 1);
  receive(mate, {0, 0, 7}, 1);
  const auto due = mate.take_acknowledgements();
  ASSERT_THAT(due, SizeIs(1));
  sender.begin_phase();
  mate.begin_phase();
  send(sender, {1, 0, 7}, 2);
  sender.acknowledged(1, due.front().words);
  const auto resent = sender.hear(1, mate.receipts_for(0));
  ASSERT_THAT(resent, SizeIs(1));
  EXPECT_EQ(number_in(resent.front().bytes), 2U);
}

/// All but the newest message are acknowledged at any time.
TEST(Retained, uses_the_memory_of_small_messages_again_before_a_commit) {
  for (const std::size_t size : {0U, 1U, 100U}) {
    Retained retained(1024);
    for (std::uint64_t number = 0; number < 10'000; ++number) {
      retained.keep({1, 0, 7}, number, retained.take(size));
      retained.received({1, 0, 7}, number);
      retained.reuse({});
      ASSERT_GT(retained.bytes(), 0U) << size;
      ASSERT_LT(retained.bytes(), 4096U) << size;
    }
  }
}

// --- one rank --------------------------------------------------------------------------------------------------

constexpr SenderLog::Channel to_one{1, 0, 7};

/// Returns what rank 1, which is past the setup, has received from rank 0.
SenderLog::Receipts past_setup(std::vector<std::uint64_t> in_setup, std::vector<std::uint64_t> in_interval) {
  SenderLog other(1, &hash);
  for (const std::uint64_t number : in_setup) receive(other, {0, 0, 7}, number);
  cut(other);
  for (const std::uint64_t number : in_interval) receive(other, {0, 0, 7}, number);
  return other.receipts_for(0);
}

TEST(SenderLogOfANewcomer, sends_only_what_the_others_do_not_have) {
  SenderLog log(0, &hash);
  EXPECT_THAT(log.hear(1, past_setup({10}, {20, 21})), IsEmpty());
  EXPECT_FALSE(send(log, to_one, 10).needed);
  cut(log);
  EXPECT_FALSE(send(log, to_one, 20).needed);
  EXPECT_FALSE(send(log, to_one, 21).needed);
  EXPECT_TRUE(send(log, to_one, 22).needed);
  EXPECT_FALSE(log.difference());
}

TEST(SenderLogOfANewcomer, notices_that_it_sends_something_else) {
  SenderLog log(0, &hash);
  log.hear(1, past_setup({}, {20, 21}));
  cut(log);
  send(log, to_one, 20);
  EXPECT_FALSE(log.difference());
  send(log, to_one, 22);
  ASSERT_TRUE(log.difference());
  EXPECT_EQ(log.difference()->what, SenderLog::Difference::What::content);
  EXPECT_EQ(log.difference()->channel, to_one);
  EXPECT_EQ(log.difference()->number, 2);
}

TEST(SenderLogOfANewcomer, notices_that_it_sends_more_in_the_setup) {
  SenderLog log(0, &hash);
  log.hear(1, past_setup({10}, {}));
  send(log, to_one, 10);
  EXPECT_FALSE(send(log, to_one, 11).needed);
  ASSERT_TRUE(log.difference());
  EXPECT_EQ(log.difference()->what, SenderLog::Difference::What::more);
}

TEST(SenderLogOfANewcomer, notices_that_it_sends_less_before_a_cut) {
  SenderLog log(0, &hash);
  log.hear(1, past_setup({10, 11}, {}));
  send(log, to_one, 10);
  cut(log);
  ASSERT_TRUE(log.difference());
  EXPECT_EQ(log.difference()->what, SenderLog::Difference::What::fewer);
  EXPECT_EQ(log.difference()->number, 2);
}

TEST(SenderLog, gives_a_newcomer_the_setup_and_the_interval_and_nothing_of_what_was_committed) {
  SenderLog log(0, &hash);
  send(log, to_one, 1);
  cut(log);
  send(log, to_one, 2);
  cut(log);
  send(log, to_one, 3);
  std::vector<std::uint64_t> numbers;
  for (const SenderLog::Resent& resent : log.hear(1, SenderLog(1, &hash).receipts_for(0)))
    numbers.push_back(number_in(resent.bytes));
  EXPECT_THAT(numbers, ElementsAre(1, 3));
  EXPECT_EQ(log.bytes(), 16);
}

TEST(SenderLog, knows_that_messages_were_forgotten_though_they_were_empty) {
  SenderLog log(0, &hash);
  cut(log);
  log.end_send(to_one, log.begin_send(to_one, 0).bytes);
  EXPECT_GT(log.bytes_held(), 0U);
  EXPECT_FALSE(log.has_forgotten());
  log.forget_log();
  EXPECT_EQ(log.bytes_held(), 0U);
  EXPECT_TRUE(log.has_forgotten());
  cut(log);
  EXPECT_FALSE(log.has_forgotten());
}

TEST(SenderLog, counts_the_history_of_what_it_receives_and_forgets_it_with_the_log) {
  SenderLog log(0, &hash);
  cut(log);
  const std::size_t room = log.room();
  for (int i = 0; i < 1000; ++i) receive(log, {1, 0, 7}, 1);
  EXPECT_EQ(log.bytes_held(), 4000U);
  EXPECT_EQ(log.room(), room) << "at a step of the program, the number of messages depends on timing";
  log.forget_log();
  EXPECT_TRUE(log.has_forgotten()) << "a rank that rolls back would not know the order";
  EXPECT_EQ(log.bytes_held(), 0U);
  receive(log, {1, 0, 7}, 1);
  EXPECT_THAT(log.history(1).events, IsEmpty());
  EXPECT_EQ(log.bytes_held(), 0U);
  cut(log);
  EXPECT_FALSE(log.has_forgotten());
  receive(log, {1, 0, 7}, 1);
  EXPECT_THAT(log.history(1).events, SizeIs(1));
}

TEST(SenderLog, holds_60_bytes_more_for_each_message_that_is_sent) {
  SenderLog log(0, &hash);
  cut(log);
  for (int i = 0; i < 100; ++i) send(log, to_one, 1);
  EXPECT_EQ(log.bytes_held(), 100U * (sizeof(std::uint64_t) + 60));
  EXPECT_EQ(log.room_since_restore(), log.bytes_held());
}

TEST(SenderLog, notes_once_in_its_history_that_a_probe_has_found_a_message) {
  using What = History::What;
  SenderLog log(0, &hash);
  log.found({1, 0, 7});
  log.found({1, 0, 7});
  send(log, to_one, 1);
  receive(log, {1, 0, 7}, 2);
  log.found({1, 0, 7});
  EXPECT_THAT(log.history(0).channels, ElementsAre(SenderLog::Channel{1, 0, 7}, to_one));
  EXPECT_THAT(log.history(0).events, ElementsAre(History::event(0, What::found), History::event(1, What::sent),
                                                 History::event(0, What::received), History::event(0, What::found)));
  EXPECT_EQ(log.balance(), [] {
    SenderLog same(0, &hash);
    send(same, to_one, 1);
    receive(same, {1, 0, 7}, 2);
    return same.balance();
  }()) << "what was found is not received";
}

TEST(SenderLog, knows_that_copies_for_mates_were_forgotten_which_no_commit_frees) {
  for (const bool in_setup : {true, false}) {
    SenderLog log(0, &hash, {true, true});
    if (!in_setup) cut(log);
    send(log, to_one, 1);
    log.forget_log();
    EXPECT_EQ(log.has_forgotten(), !in_setup);
  }
}

TEST(SenderLog, gives_a_newcomer_what_was_sent_before_a_begun_commit_until_it_is_published) {
  SenderLog log(0, &hash);
  cut(log);
  send(log, to_one, 1);
  log.begin_phase();
  send(log, to_one, 2);
  EXPECT_EQ(log.bytes_since_restore(), 16);
  EXPECT_THAT(log.hear(1, SenderLog(1, &hash).receipts_for(0)), SizeIs(2));
  log.begin_phase();
  send(log, to_one, 3);
  log.committed();
  EXPECT_EQ(log.phase(), 1);
  EXPECT_EQ(log.bytes_since_restore(), 8);
  const auto resent = log.hear(1, SenderLog(1, &hash).receipts_for(0));
  ASSERT_THAT(resent, SizeIs(1));
  EXPECT_EQ(number_in(resent.front().bytes), 3U);
}

TEST(SenderLogOfANewcomer, sends_in_each_phase_only_what_the_others_do_not_have) {
  SenderLog other(1, &hash);
  for (const std::uint64_t number : {20U, 21U, 22U}) {  // one in each phase
    receive(other, {0, 0, 7}, number);
    if (number < 22) other.begin_phase();
  }
  SenderLog log(0, &hash);
  EXPECT_THAT(log.hear(1, other.receipts_for(0)), IsEmpty());
  for (const std::uint64_t number : {20U, 21U}) {
    EXPECT_TRUE(log.is_behind());
    EXPECT_FALSE(send(log, to_one, number).needed);
    log.begin_phase();
  }
  EXPECT_FALSE(send(log, to_one, 22).needed);
  EXPECT_FALSE(log.is_behind());
  EXPECT_TRUE(send(log, to_one, 23).needed);
  EXPECT_FALSE(log.difference());
}

TEST(SenderLog, needs_all_messages_until_a_rank_reports_what_it_has_and_again_from_the_next_interval_on) {
  SenderLog log(0, &hash);
  EXPECT_TRUE(log.needs_all());
  log.hear(1, past_setup({10}, {20}));
  EXPECT_FALSE(log.needs_all());
  EXPECT_FALSE(send(log, to_one, 10).needed);
  cut(log);
  EXPECT_FALSE(log.needs_all());  // the report was about the interval too
  EXPECT_FALSE(send(log, to_one, 20).needed);
  cut(log);
  EXPECT_TRUE(log.needs_all());
  EXPECT_TRUE(send(log, to_one, 30).needed);
  log.hear(1, past_setup({10}, {30}));
  EXPECT_FALSE(log.needs_all());
  cut(log);
  EXPECT_TRUE(log.needs_all());
}

TEST(SenderLog, sees_that_a_message_is_under_way) {
  SenderLog sender(0, &hash);
  SenderLog receiver(1, &hash);
  send(sender, to_one, 1);
  EXPECT_NE(sender.balance() + receiver.balance(), 0);
  receive(receiver, {0, 0, 8}, 1);  // another tag
  EXPECT_NE(sender.balance() + receiver.balance(), 0);
  EXPECT_THAT(sender.sent_to(1), ElementsAre(std::pair(to_one, 1U)));
  EXPECT_THAT(receiver.received_from(0), ElementsAre(std::pair(SenderLog::Channel{0, 0, 8}, 1U)));
}

TEST(LogMemory, gives_each_piece_a_place_of_its_own) {
  LogMemory memory;
  const std::byte* const first = memory.take(0).data();
  const std::byte* const second = memory.take(0).data();
  EXPECT_NE(first, second);
  EXPECT_NE(second, memory.take(1).data());
  EXPECT_EQ(memory.used(), 1U);
  EXPECT_EQ(memory.taken(), 3 * LogMemory::room_for(1));
  EXPECT_EQ(LogMemory::room_for(0), LogMemory::room_for(16));
  EXPECT_EQ(LogMemory::room_for(17), 32U);
}

TEST(LogMemory, keeps_what_it_gave_where_it_is_and_takes_it_again) {
  LogMemory memory;
  const std::byte* const first = memory.take(100).data();
  const std::span<std::byte> large = memory.take(5 << 20);
  EXPECT_THAT(large, SizeIs(5 << 20));
  EXPECT_EQ(memory.used(), 100U + (5U << 20U));
  EXPECT_EQ(memory.taken(), 112U + (5U << 20U));
  memory.clear();
  EXPECT_EQ(memory.used(), 0);
  EXPECT_EQ(memory.taken(), 0);
  EXPECT_EQ(memory.take(50).data(), first);
}

TEST(LogMemory, leaves_alone_what_is_in_use_until_it_is_not) {
  LogMemory memory;
  const std::byte* const first = memory.take(100).data();
  const std::span<std::byte> large = memory.take(5 << 20);
  const std::vector<const std::byte*> in_use{large.data()};
  EXPECT_TRUE(memory.has_any(in_use));
  for (int i = 0; i < 2; ++i) {
    memory.clear(in_use);
    EXPECT_EQ(memory.used(), 0U);
    EXPECT_EQ(memory.take(50).data(), first);
    EXPECT_NE(memory.take(5 << 20).data(), large.data());
    EXPECT_TRUE(memory.has_any(in_use));
  }
  memory.clear();
  memory.take(1);
  const std::vector<const std::byte*> both{memory.take(5 << 20).data(), memory.take(5 << 20).data()};
  EXPECT_THAT(both, testing::Contains(large.data()));
  const std::byte elsewhere{};
  EXPECT_FALSE(memory.has_any(std::vector{&elsewhere}));
}

}  // namespace
}  // namespace mend::replay
