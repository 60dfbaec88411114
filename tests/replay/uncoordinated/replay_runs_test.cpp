// The paper's figures 1 and 2, message by message. The paper's text says which messages are logged, rolled back and
// orphans, and what follows; the rest of the figures is chosen to match. Rank p is the paper's process P_p, in figure 2
// P_(p+1).

#include "tests/replay/uncoordinated/replay_system.hpp"
#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <variant>

namespace mend::replay {
namespace {

using Job = System<AllRules>;
using Kind = Job::Step::Kind;

struct Outcome {
  std::string transcript;
  Line line;
  std::string complaint;
  bool done = false;
};

/// Runs the scene in the order of ranks until `moment`, at which `dies` dies; then in the reverse order, so that
/// anything that could come too early does.
Outcome run(const Scene& scene, std::size_t dies, const std::function<bool(const Job&)>& moment,
            const std::function<bool(const Job::Step&)>& later) {
  auto matches = std::make_shared<Matches>();
  Job job(scene, matches, true);
  Outcome result;
  bool failed = false;
  for (int i = 0; i < 10'000; ++i) {
    if (!failed && moment(job)) {
      failed = true;
      job.take({Kind::die, static_cast<std::uint8_t>(dies), 0}, &result.transcript);
    }
    std::optional<Job::Step> next;
    for (const Job::Step& step : job.steps()) {
      if (!job.progresses(step) || (!failed && later(step)) || (next && !failed)) continue;
      next = step;
    }
    if (!next) break;
    job.take(*next, &result.transcript);
    for (std::size_t p = 0; p < scene.programs.size(); ++p) {
      if (!job.core(p).line().empty()) result.line = job.core(p).line();
    }
  }
  result.transcript += job.describe();
  result.complaint = job.broken(true).value_or("");
  result.done = job.done();
  return result;
}

bool never(const Job::Step&) { return false; }

/// m7: 4 to 3, logged; m8: 0 to 1; m9: 2 to 1; m10: 1 to 3.
const Scene figure_1{.programs = {"c s1", "c r0 r2 s3", "c s1", "c r4 r1", "s3"}};

TEST(Figure1, rolls_back_the_senders_of_m8_and_m9_if_P1_fails_and_not_the_receiver_of_m10) {
  const Outcome found = run(
      figure_1, 1, [](const Job& job) { return job.word_of(3) == 3; }, never);
  EXPECT_EQ(found.complaint, "");
  EXPECT_TRUE(found.done);
  EXPECT_EQ(to_string(found.line), "0 to 2, 1 to 2, 2 to 2");
  testing::expect_golden("figure_1_P1_fails", found.transcript);
}

TEST(Figure1, replays_m7_from_the_log_if_P3_fails_and_nobody_goes_back_to_epoch_1) {
  const Outcome found = run(
      figure_1, 3, [](const Job& job) { return job.word_of(3) == 3; }, never);
  EXPECT_EQ(found.complaint, "");
  EXPECT_TRUE(found.done);
  ASSERT_EQ(found.line.size(), 5U);
  EXPECT_FALSE(found.line[4]);
  for (const auto& target : found.line) EXPECT_TRUE(!target || *target >= CommitEpoch{2});
  testing::expect_golden("figure_1_P3_fails", found.transcript);
}

/// m0: 0 to 1, logged; m1: 1 to 2; m2: 2 to 1, logged; m3: 1 to 0; m4: 1 to 3; m6: 3 to 1; m7: 0 to 1, not sent before
/// the failure of P2, which is rank 1.
const Scene figure_2{.programs = {"s1 r1 s1", "c * s2 * s0 s3 * *", "r1 s1", "r1 c s1"}};

TEST(Figure2, replays_m0_then_m2_then_m6_and_m7) {
  bool before_m7 = true;
  const auto moment = [&](const Job& job) {
    before_m7 = job.word_of(0) == 2;
    return job.word_of(1) == 7;
  };
  const auto later = [&](const Job::Step& step) { return before_m7 && step.kind == Kind::act && step.who == 0; };
  const Outcome found = run(figure_2, 1, moment, later);
  EXPECT_EQ(found.complaint, "");
  EXPECT_TRUE(found.done);
  EXPECT_EQ(to_string(found.line), "1 to 2, 3 to 2");
  const auto m0 = found.transcript.find("1 gets #1 of epoch 1, phase 1, from the log from 0");
  const auto m2 = found.transcript.find("1 gets #1 of epoch 1, phase 2, from the log from 2");
  EXPECT_NE(m0, std::string::npos);
  EXPECT_NE(m2, std::string::npos);
  EXPECT_LT(m0, m2);
  testing::expect_golden("figure_2", found.transcript);
}

/// Does a step of one of two ranks. Their messages arrive at once.
void step_at_once(std::array<ReplayCore, 2>& ranks, Rank rank, const Event& event) {
  for (const Action& action : ranks[static_cast<std::size_t>(rank.value)].step(event)) {
    if (const auto* send = std::get_if<Send>(&action)) step_at_once(ranks, send->to, Arrives{rank, send->letter});
    if (const auto* tell = std::get_if<Tell>(&action)) step_at_once(ranks, tell->to, Hears{rank, tell->message});
  }
}

TEST(Collects, leaves_no_more_after_many_commits_than_after_a_few) {
  const replay::Setup setup{.clusters = {0, 1}, .first_epochs = {}};
  std::array<ReplayCore, 2> ranks{ReplayCore(setup, Rank{0}), ReplayCore(setup, Rank{1})};
  constexpr std::uint32_t rounds = 100;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    step_at_once(ranks, Rank{0}, Sends{Rank{1}});
    for (const Rank rank : {Rank{0}, Rank{1}}) step_at_once(ranks, rank, Commits{});
    step_at_once(ranks, Rank{0}, Collects{});
    ASSERT_EQ(ranks[1].received(Rank{0}), Date{round});
    ASSERT_EQ(ranks[1].commit().channels[0].received.size(), 1U) << "round " << round;
    ASSERT_LE(ranks[0].commit().channels[1].kept.size(), 1U) << "round " << round;
    for (const ReplayCore& core : ranks) ASSERT_EQ(core.commit().rows.size(), 1U) << "round " << round;
  }
}

}  // namespace
}  // namespace mend::replay
