// The job decision and its rule, for all combinations of contributions of up to four processes.

#include "framework/recovery/job_decision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace {

using mend::ExitCode;
using mend::Intent;
using mend::JobDecision;

/// Records the contribution, and returns it combined with those of the others.
class Recorded final : public mend::agreement::Agreement {
 public:
  explicit Recorded(std::uint32_t others) : others_(others) {}
  mend::agreement::Outcome agree(std::uint32_t contribution) override {
    contributed = contribution;
    return {contribution & others_, false};
  }
  std::uint32_t contributed = 0;

 private:
  std::uint32_t others_;
};

struct Wish {
  Intent intent;
  ExitCode code = ExitCode::ok;
  bool progressed = false;
};

std::uint32_t contribution_of(Wish wish) {
  Recorded alone(~0U);
  mend::decide_job(alone, wish.intent, wish.code, wish.progressed);
  return alone.contributed;
}

/// The decision that each of `wishes` gets.
std::vector<JobDecision> decisions(const std::vector<Wish>& wishes) {
  std::uint32_t all = ~0U;
  for (Wish wish : wishes) all &= contribution_of(wish);
  std::vector<JobDecision> told;
  for (Wish wish : wishes) {
    Recorded agreement(all);
    told.push_back(mend::decide_job(agreement, wish.intent, wish.code, wish.progressed));
  }
  return told;
}

constexpr std::array<Wish, 8> possible{{{Intent::finish},
                                        {Intent::recover},
                                        {Intent::recover, ExitCode::ok, true},
                                        {Intent::finish, ExitCode::ok, true},
                                        {Intent::follow},
                                        {Intent::abandon, ExitCode::failed},
                                        {Intent::abandon, ExitCode::usage},
                                        {Intent::abandon, ExitCode::unrecoverable}}};

Intent expected(const std::vector<Wish>& wishes) {
  const auto any = [&](Intent intent) {
    return std::any_of(wishes.begin(), wishes.end(), [&](Wish wish) { return wish.intent == intent; });
  };
  if (any(Intent::abandon)) return Intent::abandon;
  if (any(Intent::recover)) return Intent::recover;
  return any(Intent::finish) ? Intent::finish : Intent::recover;
}

void check_all(std::vector<Wish>& wishes, std::size_t count) {
  if (wishes.size() == count) {
    const auto told = decisions(wishes);
    const bool progressed = std::any_of(wishes.begin(), wishes.end(), [](Wish wish) { return wish.progressed; });
    for (const JobDecision& decision : told) {
      ASSERT_EQ(decision.what, expected(wishes));
      ASSERT_EQ(decision.code, told.front().code);
      ASSERT_EQ(decision.code != ExitCode::ok, decision.what == Intent::abandon);
      ASSERT_EQ(decision.progressed, progressed);
    }
    return;
  }
  for (const Wish& wish : possible) {
    wishes.push_back(wish);
    check_all(wishes, count);
    wishes.pop_back();
  }
}

TEST(JobDecision, tells_all_the_same_and_obeys_its_order_of_wishes) {
  for (std::size_t count = 1; count <= 4; ++count) {
    std::vector<Wish> wishes;
    check_all(wishes, count);
  }
}

TEST(JobDecision, ends_with_the_code_of_the_one_who_abandons) {
  for (ExitCode code : {ExitCode::failed, ExitCode::usage, ExitCode::unrecoverable}) {
    for (const JobDecision& decision : decisions({{Intent::follow}, {Intent::abandon, code}, {Intent::recover}})) {
      EXPECT_EQ(decision.code, code);
    }
  }
}

TEST(JobDecision, ends_with_the_highest_code_when_several_abandon) {
  const auto told = decisions({{Intent::abandon, ExitCode::failed}, {Intent::abandon, ExitCode::usage}});
  for (const JobDecision& decision : told) EXPECT_EQ(decision.code, ExitCode::usage);
  EXPECT_EQ(decisions({{Intent::abandon, ExitCode::usage}, {Intent::abandon, ExitCode::unrecoverable}}).front().code,
            ExitCode::unrecoverable);
}

TEST(JobDecision, of_spares_alone_recovers) {
  EXPECT_EQ(decisions({{Intent::follow}, {Intent::follow}}).front().what, Intent::recover);
}

TEST(JobDecision, keeps_to_the_31_bits_that_an_agreement_carries) {
  for (const Wish& wish : possible) EXPECT_EQ(contribution_of(wish) >> 31U, 0U);
}

TEST(JobDecision, knows_of_a_recovery_in_vain_from_anybody_unless_somebody_has_progressed) {
  Recorded despairing(~0U);
  EXPECT_TRUE(mend::decide_job(despairing, Intent::recover, ExitCode::ok, false, true).in_vain);
  Recorded another(despairing.contributed);
  EXPECT_TRUE(mend::decide_job(another, Intent::follow).in_vain);
  Recorded one_that_has_progressed(despairing.contributed);
  EXPECT_FALSE(mend::decide_job(one_that_has_progressed, Intent::recover, ExitCode::ok, true).in_vain);
  Recorded nobody(~0U);
  EXPECT_FALSE(mend::decide_job(nobody, Intent::recover).in_vain);
}

std::uint32_t contribution_of_writes_done(std::uint32_t count) {
  Recorded rank(~0U);
  mend::decide_job(rank, Intent::recover, ExitCode::ok, false, false, false, false, count);
  EXPECT_EQ(rank.contributed >> 31U, 0U);
  return rank.contributed;
}

TEST(JobDecision, tells_spares_how_many_requests_for_a_version_the_ranks_have_carried_out) {
  for (const std::uint32_t count : {0U, 1U, 2U, 1000U}) {
    Recorded spare(contribution_of_writes_done(count));
    const JobDecision decision = mend::decide_job(spare, Intent::follow);
    EXPECT_EQ(decision.writes_done, count);
    EXPECT_EQ(decision.what, Intent::recover);
  }
  Recorded of_spares_alone(~0U);
  EXPECT_EQ(mend::decide_job(of_spares_alone, Intent::follow).writes_done, 0U);
}

TEST(JobDecision, never_tells_of_more_requests_than_were_carried_out) {
  for (const std::uint32_t count : {0x7ffeU, 0x7fffU, 0x8000U, 0xffffffffU}) {
    Recorded spare(contribution_of_writes_done(count));
    EXPECT_EQ(mend::decide_job(spare, Intent::follow).writes_done, 0x7ffeU);
  }
  Recorded spare(contribution_of_writes_done(5) & contribution_of_writes_done(6));
  EXPECT_LE(mend::decide_job(spare, Intent::follow).writes_done, 5U);
}

TEST(JobDecision, says_whether_a_rank_has_asked_for_it) {
  Recorded others(~0U);
  mend::decide_job(others, Intent::recover, ExitCode::ok, false, false, true);
  Recorded follows(others.contributed);
  EXPECT_TRUE(mend::decide_job(follows, Intent::follow).asked);
  Recorded alone(~0U);
  EXPECT_FALSE(mend::decide_job(alone, Intent::recover).asked);
}

}  // namespace
