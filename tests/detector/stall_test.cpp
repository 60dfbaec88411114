// Ranks that wait for others: which lines are printed, by which process, and how the job ends.

#include "detector/stall/stall_watch.hpp"

#include "base/error.hpp"
#include "tests/detector/stall_answers.hpp"
#include "tests/detector/written.hpp"
#include "tests/support/fuzz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <set>

namespace mend::detector {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using StallKind = StallMessage::Kind;

Whereabouts at(Place place, int rank, std::chrono::milliseconds waited = 10s) { return {place, Rank{rank}, waited, 1}; }

const Whereabouts spare{Place::spare, std::nullopt, 1h, 1};

TEST(AStall, is_told_with_who_waits_and_who_has_not_come) {
  EXPECT_EQ(describe_stall(
                answers({at(Place::none, 0), at(Place::commit, 1), at(Place::none, 2), at(Place::none, 3), spare})),
            "rank 1 has waited in commit() for 10 s; ranks 0, 2, 3 have not come");
  EXPECT_EQ(describe_stall(answers({at(Place::finish, 0, 1500ms), at(Place::none, 1), at(Place::finish, 2, 900ms)})),
            "ranks 0, 2 have waited at the end of the body for 1.5 s; rank 1 has not come");
}

TEST(AStall, of_ranks_in_different_calls_is_one_of_order) {
  EXPECT_EQ(describe_stall(
                answers({at(Place::split, 0, 12s), at(Place::commit, 1), at(Place::commit, 2), at(Place::commit, 3)})),
            "ranks 1-3 have been in commit() for 10 s, rank 0 has been in split() for 12 s: every rank must come to "
            "these in the "
            "same order");
  EXPECT_THAT(describe_stall(answers({at(Place::split, 0), at(Place::commit, 1), at(Place::none, 2)})),
              HasSubstr("; rank 2 has not come: every rank must come to these in the same order"));
}

TEST(AStall, of_a_recovery_says_what_the_missing_rank_must_do) {
  EXPECT_EQ(
      describe_stall(answers({at(Place::recovery, 0), at(Place::none, 1), at(Place::recovery, 2)})),
      "ranks 0, 2 have waited in a recovery for 10 s; rank 1 has not come: ProcessFailure must leave the body, or be "
      "followed by repair()");
}

TEST(AStall, of_ranks_that_know_of_a_failure_and_go_on_is_one_even_if_nobody_waits) {
  const auto all = answers({at(Place::interrupted, 0, 12s), std::nullopt, at(Place::interrupted, 2), spare});
  EXPECT_EQ(describe_stall(all, {ProcessId{1}}),
            "ranks 0, 2 have known for 12 s that process 1 is dead, and have not come to the recovery: ProcessFailure "
            "must leave the body, or be followed by repair()");
  EXPECT_THAT(describe_stall(answers({at(Place::interrupted, 0), at(Place::none, 1)}), {ProcessId{2}, ProcessId{3}}),
              StartsWith("rank 0 has known for 10 s that processes 2, 3 are dead, and has not come to the recovery"));
  EXPECT_THAT(describe_stall(answers({at(Place::interrupted, 0)}), {}),
              StartsWith("rank 0 has known for 10 s of a failure, and has not come to the recovery"));
  EXPECT_THAT(describe_stall(answers({at(Place::interrupted, 0), at(Place::recovery, 1, 3s)}), {ProcessId{2}}),
              StartsWith("rank 1 has waited in a recovery for 3.0 s; rank 0 has not come: ProcessFailure must"));
}

TEST(AStall, names_processes_that_do_not_answer) {
  EXPECT_EQ(describe_stall(answers({at(Place::commit, 0), at(Place::commit, 1), std::nullopt})),
            "ranks 0, 1 have waited in commit() for 10 s; process 2 does not answer");
  EXPECT_THAT(describe_stall(answers({at(Place::commit, 0), std::nullopt, std::nullopt})),
              HasSubstr("; processes 1, 2 do not answer"));
}

TEST(AStall, is_none_when_all_are_in_one_call_or_none_waits) {
  EXPECT_THAT(describe_stall(answers({at(Place::commit, 0), at(Place::commit, 1), spare})), IsEmpty());
  EXPECT_THAT(describe_stall(answers({at(Place::none, 0), at(Place::none, 1), spare})), IsEmpty());
  EXPECT_FALSE(find_longest_wait(answers({at(Place::none, 0), spare, std::nullopt})));
}

Whereabouts in_call(MpiCall call, int rank, std::chrono::milliseconds waited = 60s) {
  return {Place::none, Rank{rank}, waited, 1, call};
}

TEST(AQuietJob, is_one_in_which_no_rank_moves_and_none_waits_in_mend) {
  EXPECT_EQ(find_quiet(answers({in_call(MpiCall::recv, 0, 70s), at(Place::none, 1, 60s), spare})), 60s);
  EXPECT_FALSE(find_quiet(answers({in_call(MpiCall::recv, 0), at(Place::commit, 1, 60s)})));
  EXPECT_FALSE(find_quiet(answers({in_call(MpiCall::recv, 0), std::nullopt})));
  EXPECT_TRUE(are_all_in_mpi(answers({in_call(MpiCall::recv, 0), in_call(MpiCall::barrier, 1), spare})));
  EXPECT_FALSE(are_all_in_mpi(answers({in_call(MpiCall::recv, 0), at(Place::none, 1)})));
}

TEST(AQuietJob, is_told_with_the_calls_in_which_ranks_are) {
  EXPECT_EQ(
      describe_quiet(answers({in_call(MpiCall::recv, 0), at(Place::none, 1), in_call(MpiCall::recv, 2), spare}), 60s),
      "mend has seen no progress in any rank for 60 s: ranks 0, 2 are in MPI_Recv, rank 1 computes");
  EXPECT_EQ(describe_quiet(answers({in_call(MpiCall::barrier, 0), in_call(MpiCall::wait, 1)}), 1500ms),
            "mend has seen no progress in any rank for 1.5 s: rank 1 is in MPI_Wait, rank 0 is in MPI_Barrier");
}

// --- the wire --------------------------------------------------------------------------------------------------

TEST(StallWire, brings_every_message_back) {
  for (const StallMessage& message :
       {StallMessage{}, StallMessage{StallKind::question, 7, {}},
        StallMessage{StallKind::answer, 7, at(Place::commit, 3)}, StallMessage{StallKind::answer, 0xffffffff, spare},
        StallMessage{StallKind::answer, 7, {Place::none, Rank{3}, 10s, 1, last_mpi_call}},
        StallMessage{StallKind::answer, 7, {Place::commit, Rank{3}, 10s, 1, MpiCall::none, 9s, Turn{3, 5}, true}},
        StallMessage{StallKind::answer, 7, {Place::none, Rank{3}, 10s, 1, MpiCall::recv, 9s, Turn{3, 5}, false, true}},
        StallMessage{StallKind::answer, 7, {Place::none, Rank{3}, 10s, 1, MpiCall::none, 0s, Turn{}, false, true, 9s}},
        StallMessage{StallKind::leave, 0, {}}, StallMessage{StallKind::go_back, 0, {}}}) {
    EXPECT_EQ(read_stall_message(written(message)), message);
    EXPECT_TRUE(is_about_stalls(written(message)));
  }
}

TEST(StallWire, reads_any_bytes_or_refuses_them) {
  support::expect_read_or_refused<EnvironmentError>(
      [](support::Fuzzer& fuzzer) {
        return fuzzer.change(written(StallMessage{StallKind::answer, 7, at(Place::commit, 3)}));
      },
      [](const std::vector<std::byte>& bytes) {
        EXPECT_EQ(written(read_stall_message(bytes)), bytes) << "what is read is what was written";
      });
  EXPECT_FALSE(is_about_stalls({}));
}

// --- a job of watches ------------------------------------------------------------------------------------------

/// The control threads of a job. Their messages arrive at once.
class StallJob : public testing::Test {
 protected:
  static constexpr Time step = 50ms;

  void begin(std::uint32_t processes, const StallLimits& limits) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      watches_.emplace(ProcessId{p}, StallWatch({p}, limits));
      watches_.at({p}).enter(ProcessSet::first(processes));
      go({p}, Place::none);
    }
  }

  /// The application of `process` comes to `place`.
  void go(ProcessId process, Place place) { places_[process] = {place, now_, MpiCall::none}; }
  void enter(ProcessId process, MpiCall call) { places_[process] = {Place::none, now_, call}; }
  void wait_in_library(ProcessId process, Place place, Turn turn) { places_[process] = {place, now_, {}, turn}; }
  void die(ProcessId process) {
    watches_.erase(process);
    for (auto& [other, watch] : watches_) watch.died(ProcessSet{process});
  }

  void run(Time time) {
    for (const Time end = now_ + time; now_ < end; now_ += step) {
      for (const ProcessId process : living()) {
        if (!watches_.contains(process) || watches_.at(process).next_deadline() > now_) continue;
        StallActions actions;
        watches_.at(process).tick(now_, where(process), actions);
        perform(process, actions);
        deliver();
      }
    }
  }

  std::vector<ProcessId> living() const {
    std::vector<ProcessId> all;
    for (const auto& [process, watch] : watches_) all.push_back(process);
    return all;
  }

  std::vector<std::string> said_;
  std::vector<std::string> end_sentences_;
  std::vector<ProcessId> struck_;
  std::set<ProcessId> shows_stack_;
  std::set<ProcessId> goes_back_;
  bool has_gone_back_ = false;    // a rank, under local rollback
  bool stacks_are_shown_ = true;  // as soon as they are requested
  int messages_ = 0;
  Time now_ = 100s;

 private:
  struct Stay {
    Place place;
    Time since;
    MpiCall call;
    std::optional<Turn> turn{};  ///< in the library
  };
  struct Letter {
    ProcessId from;
    ProcessId to;
    StallMessage message;
  };

  Whereabouts where(ProcessId process) const {
    const Stay& stay = places_.at(process);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - stay.since);
    return {stay.place,
            Rank{static_cast<int>(process.value)},
            waited,
            static_cast<std::uint64_t>(stay.since.count()),
            stay.call,
            stay.turn ? waited : std::chrono::milliseconds(0),
            stay.turn.value_or(Turn{}),
            false,
            has_gone_back_};
  }

  void perform(ProcessId process, const StallActions& actions) {
    for (const auto& [to, message] : actions.sends) post_.push_back({process, to, message});
    if (!actions.warning.empty()) said_.push_back(std::to_string(process.value) + ": " + actions.warning);
    if (!actions.end_sentence.empty()) end_sentences_.push_back(actions.end_sentence);
    if (actions.show_stack) {
      shows_stack_.insert(process);
      if (stacks_are_shown_) {
        StallActions more;
        watches_.at(process).stack_shown(more);
        perform(process, more);
      }
    }
    if (actions.stuck) struck_.push_back(*actions.stuck);
    if (actions.go_back) goes_back_.insert(process);
    if (actions.leave) die(process);
  }

  void deliver() {
    while (!post_.empty()) {
      const Letter letter = post_.front();
      post_.pop_front();
      if (!watches_.contains(letter.to)) continue;
      ++messages_;
      StallActions actions;
      watches_.at(letter.to).receive(letter.from, letter.message, now_, where(letter.to), actions);
      perform(letter.to, actions);
    }
  }

  std::map<ProcessId, StallWatch> watches_;
  std::map<ProcessId, Stay> places_;
  std::deque<Letter> post_;
};

TEST_F(StallJob, has_all_go_back_when_they_wait_in_vain_since_a_rank_has) {
  begin(3, {10s, 0s, 15s});
  has_gone_back_ = true;
  wait_in_library({0}, Place::commit, {2, 2});
  wait_in_library({2}, Place::none, {2, 2});
  run(30s);
  EXPECT_THAT(goes_back_, IsEmpty()) << "rank 1 computes";
  wait_in_library({1}, Place::none, {2, 2});
  run(14s);
  EXPECT_THAT(goes_back_, IsEmpty());
  run(10s);
  EXPECT_THAT(goes_back_, ElementsAre(ProcessId{0}));
  EXPECT_THAT(struck_, IsEmpty());
}

TEST_F(StallJob, lets_ranks_wait_for_each_other_when_none_has_gone_back) {
  begin(3, {10s, 0s, 15s});
  wait_in_library({0}, Place::commit, {2, 2});
  wait_in_library({1}, Place::none, {2, 2});
  wait_in_library({2}, Place::none, {2, 2});
  run(60s);
  EXPECT_THAT(goes_back_, IsEmpty());
}

TEST_F(StallJob, tells_a_wait_once_and_again_when_it_has_doubled) {
  begin(4, {10s, 0s});
  go({2}, Place::commit);
  run(9s);
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_EQ(messages_, 0);
  run(10s);
  EXPECT_THAT(said_, ElementsAre(StartsWith("0: rank 2 has waited in commit() for 1")));
  run(60s);
  EXPECT_EQ(said_.size(), 3U) << "after 20 and 40 s";
}

TEST_F(StallJob, tells_one_line_of_ranks_that_come_one_after_the_other) {
  begin(8, {10s, 0s});
  for (std::uint32_t p = 1; p < 8; ++p) {
    go({p}, Place::commit);
    run(100ms);
  }
  run(15s);
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_THAT(said_.front(), HasSubstr("ranks 1-7 have waited in commit()"));
}

TEST_F(StallJob, tells_one_line_whoever_of_those_that_came_together_seems_to_wait_longest) {
  begin(3, {500ms, 0s});
  go({1}, Place::commit);
  go({2}, Place::commit);
  run(100ms);
  go({0}, Place::commit);
  run(100ms);
  go({0}, Place::none);
  run(550ms);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(StallJob, tells_a_new_wait_after_one_that_was_told) {
  begin(2, {10s, 0s});
  go({1}, Place::commit);
  run(13s);
  go({1}, Place::none);
  run(1s);
  go({1}, Place::split);
  run(13s);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("commit()"), HasSubstr("split()")));
}

TEST_F(StallJob, says_nothing_while_ranks_only_work_or_wait_together) {
  begin(3, {10s, 0s});
  run(59s);
  for (std::uint32_t p = 0; p < 3; ++p) go({p}, Place::commit);
  run(60s);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(StallJob, tells_of_one_in_which_nothing_moves_and_again_when_that_has_doubled) {
  begin(3, {10s, 0s});
  enter({0}, MpiCall::recv);
  run(59s);
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_EQ(messages_, 0);
  run(10s);
  EXPECT_THAT(said_, ElementsAre(StartsWith("0: mend has seen no progress in any rank for 6")));
  run(45s);
  EXPECT_EQ(said_.size(), 1U);
  run(30s);
  EXPECT_EQ(said_.size(), 2U);
  for (std::uint32_t p = 0; p < 3; ++p) go({p}, Place::none);
  run(120s);
  EXPECT_EQ(said_.size(), 2U) << "a stretch that is no longer than those before";
}

TEST_F(StallJob, says_nothing_while_one_rank_moves) {
  begin(3, {10s, 0s});
  for (int i = 0; i < 20; ++i) {
    enter({1}, MpiCall::recv);
    run(20s);
  }
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(StallJob, ends_when_all_are_in_MPI_calls_for_longer_than_the_limit) {
  begin(3, {10s, 30s});
  for (std::uint32_t p = 0; p < 3; ++p) enter({p}, MpiCall::recv);
  run(29s);
  EXPECT_EQ(living().size(), 3U);
  run(7s);
  ASSERT_EQ(end_sentences_.size(), 1U);
  EXPECT_THAT(end_sentences_.front(), HasSubstr("30 s (--mend-stall-limit): mend has seen no progress in any rank"));
  EXPECT_THAT(living(), IsEmpty());
}

TEST_F(StallJob, does_not_end_while_one_rank_computes) {
  begin(3, {10s, 30s});
  for (std::uint32_t p = 1; p < 3; ++p) enter({p}, MpiCall::recv);
  run(300s);
  EXPECT_EQ(living().size(), 3U);
}

TEST_F(StallJob, ends_at_a_limit_below_that_of_telling_without_a_line_before) {
  begin(3, {10s, 5s});
  go({2}, Place::commit);
  run(4s);
  EXPECT_EQ(living().size(), 3U);
  run(4s);
  EXPECT_THAT(said_, IsEmpty());
  ASSERT_EQ(end_sentences_.size(), 1U);
  EXPECT_THAT(end_sentences_.front(), HasSubstr("longer than 5 s (--mend-stall-limit): rank 2 has waited in commit()"));
}

TEST_F(StallJob, goes_on_with_another_coordinator_when_the_first_is_dead) {
  begin(4, {10s, 0s});
  go({2}, Place::commit);
  run(5s);
  die({0});
  run(8s);
  EXPECT_THAT(said_, ElementsAre(StartsWith("1: rank 2 has waited in commit()")));
}

TEST_F(StallJob, ends_when_the_limit_has_passed_and_all_have_shown_their_stacks) {
  begin(4, {10s, 30s});
  go({2}, Place::commit);
  run(29s);
  EXPECT_EQ(living().size(), 4U);
  run(7s);
  ASSERT_EQ(end_sentences_.size(), 1U);
  EXPECT_THAT(end_sentences_.front(), StartsWith("the job ends because ranks wait for longer than 30 s"));
  EXPECT_THAT(end_sentences_.front(), HasSubstr("rank 2 has waited in commit()"));
  EXPECT_EQ(shows_stack_.size(), 4U);
  EXPECT_THAT(living(), IsEmpty());
}

TEST_F(StallJob, ends_though_all_wait_in_the_same_call_and_nothing_is_told_before) {
  begin(3, {0s, 30s});
  for (std::uint32_t p = 0; p < 3; ++p) go({p}, Place::restore);
  run(40s);
  ASSERT_EQ(end_sentences_.size(), 1U);
  EXPECT_THAT(end_sentences_.front(), HasSubstr("all are in restore()"));
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_THAT(living(), IsEmpty());
}

TEST_F(StallJob, ends_though_stacks_do_not_come_and_though_the_coordinator_dies) {
  stacks_are_shown_ = false;
  begin(3, {10s, 30s});
  go({2}, Place::commit);
  run(32s);
  EXPECT_EQ(end_sentences_.size(), 1U);
  EXPECT_EQ(living().size(), 3U);
  die({0});
  run(2 * StallWatch::most_time_for_stacks);
  EXPECT_THAT(living(), IsEmpty());
}

TEST_F(StallJob, ends_soon_after_the_limit_though_stacks_do_not_come) {
  stacks_are_shown_ = false;
  begin(3, {10s, 30s});
  go({2}, Place::commit);
  run(30s + 5s);
  EXPECT_THAT(living(), IsEmpty());
}

TEST_F(StallJob, holds_one_dead_that_is_stuck_while_all_others_wait_for_it) {
  begin(4, {10s, 0s, 15s});
  for (std::uint32_t p = 0; p < 4; ++p) wait_in_library({p}, Place::recovery, {1, p == 2 ? 3U : 5U});
  run(14s);
  EXPECT_THAT(struck_, IsEmpty());
  run(6s);
  EXPECT_THAT(struck_, ElementsAre(ProcessId{2}));
  EXPECT_THAT(said_, testing::Contains(StartsWith("0: rank 2 (process 2) is stuck in a recovery")));
}

TEST_F(StallJob, holds_another_dead_when_it_was_not_that_one) {
  begin(3, {0s, 0s, 15s});
  for (std::uint32_t p = 0; p < 3; ++p) wait_in_library({p}, Place::recovery, {1, 3});
  run(20s);
  EXPECT_THAT(struck_, ElementsAre(ProcessId{2}));
  die({2});
  run(20s);
  EXPECT_THAT(struck_, ElementsAre(ProcessId{2}, ProcessId{1}));
}

TEST_F(StallJob, holds_nobody_dead_while_one_computes) {
  begin(3, {0s, 0s, 15s});
  for (std::uint32_t p = 0; p < 2; ++p) wait_in_library({p}, Place::commit, {0, 1});
  run(200s);
  EXPECT_THAT(struck_, IsEmpty());
}

TEST_F(StallJob, is_off_without_limits) {
  begin(2, {});
  go({1}, Place::commit);
  run(100s);
  EXPECT_EQ(messages_, 0);
}

}  // namespace
}  // namespace mend::detector
