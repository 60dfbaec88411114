// A process that waits in the MPI library for what has happened: who is taken for stuck, and above all who is not.

#include "detector/stall/stuck_process.hpp"

#include "tests/detector/stall_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace mend::detector {
namespace {

using namespace std::chrono_literals;
using testing::Eq;
using testing::Optional;

constexpr std::chrono::milliseconds limit = 15s;
constexpr std::uint32_t body = 4;
constexpr std::uint32_t recovery = 5;

/// A rank of which nothing has moved in the library for `held`.
Whereabouts held(Place place, Turn turn, std::chrono::milliseconds time = 16s) {
  return {place, Rank{0}, time, 1, MpiCall::none, time, turn};
}

Whereabouts in_mpi_call_of_program(Turn turn, std::chrono::milliseconds time = 16s) {
  return {Place::none, Rank{0}, time, 1, MpiCall::recv, time, turn};
}

Whereabouts computing(Place place, Turn turn) { return {place, Rank{0}, 1h, 1, MpiCall::none, 0ms, turn}; }

Whereabouts parked(Turn turn) { return {Place::spare, std::nullopt, 1h, 1, MpiCall::none, 0ms, turn}; }

std::optional<ProcessId> stuck_of(const std::vector<std::optional<Whereabouts>>& all) {
  return find_stuck(answers(all), limit);
}

TEST(AStuckProcess, is_one_that_waits_for_a_result_that_the_others_have) {
  const Turn in_agreement{recovery, 3};
  EXPECT_THAT(stuck_of({held(Place::recovery, {recovery, 5}), held(Place::recovery, in_agreement),
                        held(Place::recovery, {recovery, 4}), parked({recovery, 0})}),
              Optional(ProcessId{1}));
  EXPECT_THAT(stuck_of({in_mpi_call_of_program({body, 8}), held(Place::commit, {body, 7})}), Optional(ProcessId{1}))
      << "the other rank is in the body again, and waits there for this one";
}

TEST(AStuckProcess, is_the_last_of_those_that_all_wait_in_one_agreement) {
  const auto waits = held(Place::recovery, {recovery, 3});
  EXPECT_THAT(stuck_of({waits, waits, waits}), Optional(ProcessId{2}));
  EXPECT_THAT(stuck_of({waits}), Optional(ProcessId{0})) << "of the only process that is left";
}

TEST(AStuckProcess, is_the_one_in_which_the_library_does_nothing_if_all_wait_in_one_agreement) {
  const auto waits = held(Place::recovery, {recovery, 3});
  auto sleeps = waits;
  sleeps.is_idle = true;
  EXPECT_THAT(stuck_of({waits, sleeps, waits}), Optional(ProcessId{1}));
  sleeps.turn.step = 5;
  EXPECT_THAT(stuck_of({waits, sleeps, waits}), Optional(ProcessId{2})) << "who is behind comes first";
}

TEST(AStuckProcess, is_one_whose_messages_of_a_commit_have_arrived) {
  EXPECT_THAT(stuck_of({held(Place::commit, {body, 7}), held(Place::commit, {body, 6}), held(Place::commit, {body, 7}),
                        parked({body, 0})}),
              Optional(ProcessId{1}));
}

TEST(AStuckProcess, is_one_that_does_not_come_out_of_a_call_though_all_others_recover) {
  const auto recovers = held(Place::recovery, {body, 9});
  EXPECT_THAT(stuck_of({recovers, held(Place::commit, {body, 8}), recovers}), Optional(ProcessId{1}));
  EXPECT_THAT(stuck_of({recovers, in_mpi_call_of_program({body, 8}), recovers}), Optional(ProcessId{1}));
  EXPECT_THAT(stuck_of({in_mpi_call_of_program({body, 8})}), Eq(std::nullopt)) << "there is nobody who recovers";
}

TEST(AStuckProcess, is_one_of_several_that_do_not_come_out_of_calls_though_another_recovers) {
  const auto recovers = held(Place::recovery, {recovery, 1});
  const auto in_call = in_mpi_call_of_program({body, 8});
  EXPECT_THAT(stuck_of({in_call, recovers, in_call, in_call}), Optional(ProcessId{3}));
  EXPECT_THAT(stuck_of({in_call, held(Place::commit, {body, 7}), recovers}), Optional(ProcessId{1}));
  EXPECT_THAT(stuck_of({in_call, in_mpi_call_of_program({body, 8}, 14s), recovers}), Eq(std::nullopt));
}

TEST(AStuckProcess, is_a_spare_that_was_called_and_sleeps) {
  const auto waits = held(Place::recovery, {recovery, 1});
  EXPECT_THAT(stuck_of({waits, parked({body, 0}), waits}), Optional(ProcessId{1}));
  EXPECT_THAT(stuck_of({held(Place::commit, {body, 3}), parked({body, 0})}), Optional(ProcessId{0}))
      << "ranks vote without the spares";
}

TEST(NobodyIsStuck, while_anybody_computes_or_packs) {
  EXPECT_THAT(stuck_of({held(Place::commit, {body, 7}), computing(Place::none, {body, 6})}), Eq(std::nullopt));
  EXPECT_THAT(stuck_of({held(Place::commit, {body, 7}), computing(Place::commit, {body, 6})}), Eq(std::nullopt));
  EXPECT_THAT(stuck_of({held(Place::recovery, {recovery, 1}), computing(Place::recovery, {recovery, 8})}),
              Eq(std::nullopt))
      << "a spare prepares memory, or a process is started";
}

TEST(NobodyIsStuck, while_anything_has_moved_within_the_limit) {
  const auto waits = held(Place::recovery, {recovery, 3});
  EXPECT_THAT(stuck_of({waits, held(Place::recovery, {recovery, 3}, 14s)}), Eq(std::nullopt));
  EXPECT_THAT(stuck_of({waits, held(Place::recovery, {recovery, 3}, 15s)}), Optional(ProcessId{1}));
}

TEST(NobodyIsStuck, while_one_does_not_answer) {
  EXPECT_THAT(stuck_of({held(Place::recovery, {recovery, 3}), std::nullopt}), Eq(std::nullopt));
}

TEST(NobodyIsStuck, when_nobody_waits) {
  EXPECT_THAT(stuck_of({}), Eq(std::nullopt));
  EXPECT_THAT(stuck_of({parked({body, 0}), parked({body, 0})}), Eq(std::nullopt));
}

TEST(NobodyIsStuck, when_ranks_of_the_program_wait_for_each_other) {
  EXPECT_THAT(stuck_of({held(Place::commit, {body, 7}), in_mpi_call_of_program({body, 6})}), Eq(std::nullopt))
      << "the second has not come to the commit: it waits for a message that the first would send after it";
  EXPECT_THAT(stuck_of({in_mpi_call_of_program({body, 6}), in_mpi_call_of_program({body, 6})}), Eq(std::nullopt));
  EXPECT_THAT(stuck_of({held(Place::commit, {body, 7}), held(Place::commit_due, {body, 6})}), Eq(std::nullopt))
      << "calls in another order";
  EXPECT_THAT(stuck_of({held(Place::finish, {body, 7}), in_mpi_call_of_program({body, 6})}), Eq(std::nullopt));
}

// --- under local rollback --------------------------------------------------------------------------------------

Whereabouts with_rank(Whereabouts where, int rank, bool has_gone_back) {
  where.rank = Rank{rank};
  where.has_gone_back = has_gone_back;
  return where;
}

std::optional<ProcessId> told_to_go_back(const std::vector<std::optional<Whereabouts>>& all) {
  return find_wait_in_vain(answers(all), limit);
}

TEST(AWaitInVain, is_told_to_the_lowest_rank_when_a_rank_has_gone_back_and_all_wait) {
  const auto stays = with_rank(in_mpi_call_of_program({body, 6}), 1, true);
  const auto newcomer = with_rank(held(Place::commit, {body, 7}), 0, true);
  EXPECT_THAT(told_to_go_back({parked({body, 0}), stays, newcomer}), Optional(ProcessId{2}));
  EXPECT_THAT(told_to_go_back({stays, with_rank(held(Place::finish, {body, 7}), 0, true)}), Optional(ProcessId{1}));
}

TEST(AWaitInVain, is_none_if_nobody_has_gone_back_since_the_last_commit) {
  const auto waits = in_mpi_call_of_program({body, 6});
  EXPECT_THAT(told_to_go_back({with_rank(waits, 0, false), with_rank(waits, 1, false)}), Eq(std::nullopt));
  EXPECT_THAT(told_to_go_back({with_rank(waits, 0, false), with_rank(waits, 1, true)}), Optional(ProcessId{0}))
      << "one that has not heard of it may wait longest";
}

TEST(AWaitInVain, is_told_when_ranks_poll_for_messages) {
  auto polls = with_rank(computing(Place::none, {body, 6}), 1, true);
  const auto waits = with_rank(in_mpi_call_of_program({body, 6}), 0, true);
  polls.polled = 14s;
  EXPECT_THAT(told_to_go_back({waits, polls}), Eq(std::nullopt));
  polls.polled = 15s;
  EXPECT_THAT(told_to_go_back({waits, polls}), Optional(ProcessId{0}));
  EXPECT_THAT(stuck_of({held(Place::recovery, {recovery, 3}), polls}), Eq(std::nullopt)) << "it computes for others";
}

TEST(AWaitInVain, is_none_while_anybody_computes_moves_recovers_or_does_not_answer) {
  const auto waits = with_rank(in_mpi_call_of_program({body, 6}), 0, true);
  EXPECT_THAT(told_to_go_back({waits, with_rank(computing(Place::none, {body, 6}), 1, true)}), Eq(std::nullopt));
  EXPECT_THAT(told_to_go_back({waits, with_rank(in_mpi_call_of_program({body, 6}, 14s), 1, true)}), Eq(std::nullopt));
  EXPECT_THAT(told_to_go_back({waits, with_rank(held(Place::recovery, {body, 9}), 1, true)}), Eq(std::nullopt));
  EXPECT_THAT(told_to_go_back({waits, with_rank(held(Place::interrupted, {body, 9}), 1, true)}), Eq(std::nullopt));
  EXPECT_THAT(told_to_go_back({waits, std::nullopt}), Eq(std::nullopt));
  EXPECT_THAT(told_to_go_back({parked({body, 0})}), Eq(std::nullopt));
}

TEST(AStuckProcess, is_described_with_what_it_is_in) {
  Whereabouts where = held(Place::commit, {body, 7});
  where.rank = Rank{2};
  EXPECT_EQ(describe_stuck({5}, where),
            "rank 2 (process 5) is stuck in commit(): nothing has moved for 16 s in the MPI library, where all others "
            "wait for it (--mend-stuck-limit)");
  where.place = Place::recovery;
  where.rank.reset();
  EXPECT_THAT(describe_stuck({5}, where), testing::StartsWith("process 5 is stuck in a recovery: nothing has moved"));
  EXPECT_EQ(describe_stuck({5}, parked({body, 0})),
            "process 5 is stuck: it waits as a spare, and does not come to a recovery");
}

}  // namespace
}  // namespace mend::detector
