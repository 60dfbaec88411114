#include "tests/spares/machines.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

namespace {

using namespace machines;
using mend::LostRank;
using mend::NodeId;
using mend::ProcessId;
using mend::ProcessSet;
using mend::Rank;
using mend::RankAssignment;
using mend::Replacement;
using mend::Roster;
using testing::ElementsAre;
using testing::IsEmpty;

/// Worker i runs on worker_nodes[i]; the spares come after them.
Roster roster_of(const std::vector<std::uint32_t>& worker_nodes, const std::vector<std::uint32_t>& spare_nodes) {
  Roster roster;
  std::uint32_t process = 0;
  for (std::uint32_t node : worker_nodes) {
    const Rank origin{static_cast<int>(process)};
    roster.seats.push_back({placed(process++, node), 0, origin});
  }
  for (std::uint32_t node : spare_nodes) roster.spares.push_back(placed(process++, node));
  return roster;
}

ProcessSet dead(std::initializer_list<std::uint32_t> processes) {
  ProcessSet set;
  for (std::uint32_t process : processes) set.insert(ProcessId{process});
  return set;
}

Replacement replaced(int rank, std::uint32_t gone, std::uint32_t newcomer) {
  return {Rank{rank}, ProcessId{gone}, ProcessId{newcomer}};
}

TEST(RankAssignment, of_no_deaths_changes_nothing) {
  const Roster before = roster_of({0, 0, 1}, {1});
  const RankAssignment after = assign_ranks(before, {});
  EXPECT_EQ(after.roster, before);
  EXPECT_THAT(after.replacements, IsEmpty());
  EXPECT_TRUE(after.complete());
}

TEST(RankAssignment, prefers_a_spare_of_the_dead_ones_own_node) {
  const RankAssignment after = assign_ranks(roster_of({0, 1, 2}, {0, 0, 1}), dead({1}));
  EXPECT_THAT(after.replacements, ElementsAre(replaced(1, 1, 5)));
  EXPECT_THAT(numbers(after.roster.spares), ElementsAre(3, 4));
}

TEST(RankAssignment, else_takes_one_from_the_node_that_has_most) {
  const RankAssignment after = assign_ranks(roster_of({0, 1, 2}, {0, 1, 1}), dead({2}));
  EXPECT_THAT(after.replacements, ElementsAre(replaced(2, 2, 4)));
}

TEST(RankAssignment, fills_several_ranks_in_rank_order) {
  const RankAssignment after = assign_ranks(roster_of({0, 0, 0, 0}, {0, 0}), dead({3, 1}));
  EXPECT_THAT(after.replacements, ElementsAre(replaced(1, 1, 4), replaced(3, 3, 5)));
  EXPECT_THAT(workers(after.roster), ElementsAre(0, 4, 2, 5));
}

TEST(RankAssignment, drops_dead_spares) {
  const RankAssignment after = assign_ranks(roster_of({0, 0}, {0, 0, 0}), dead({2, 4}));
  EXPECT_THAT(after.replacements, IsEmpty());
  EXPECT_THAT(numbers(after.roster.spares), ElementsAre(3));
}

TEST(RankAssignment, does_not_call_a_dead_spare) {
  const RankAssignment after = assign_ranks(roster_of({0, 0}, {0, 0}), dead({1, 2}));
  EXPECT_THAT(after.replacements, ElementsAre(replaced(1, 1, 3)));
}

TEST(RankAssignment, leaves_the_last_ranks_vacant_when_the_spares_run_out) {
  const RankAssignment after = assign_ranks(roster_of({0, 0, 0, 0}, {0}), dead({0, 2, 3}));
  EXPECT_FALSE(after.complete());
  EXPECT_THAT(after.replacements, ElementsAre(replaced(0, 0, 4)));
  EXPECT_THAT(after.vacant, ElementsAre(Rank{2}, Rank{3}));
}

std::vector<int> origins_of(const Roster& roster) {
  std::vector<int> origins;
  for (const mend::Seat& seat : roster.seats) origins.push_back(seat.origin.value);
  return origins;
}

constexpr mend::Policy shrinking{.shrink = true};

TEST(RankAssignment, gives_up_the_ranks_that_spares_do_not_suffice_for) {
  const RankAssignment after = assign_ranks(roster_of({0, 0, 0, 0}, {0}), dead({0, 2}), shrinking);
  EXPECT_TRUE(after.complete());
  EXPECT_THAT(after.replacements, ElementsAre(replaced(0, 0, 4)));
  EXPECT_THAT(after.given_up, ElementsAre(LostRank{Rank{2}, ProcessId{2}}));
  EXPECT_THAT(workers(after.roster), ElementsAre(4, 1, 3));
  EXPECT_THAT(origins_of(after.roster), ElementsAre(0, 1, 3));
}

TEST(RankAssignment, does_not_call_spares_where_they_are_not_wanted) {
  const RankAssignment after = assign_ranks(roster_of({0, 0, 0}, {0}), dead({1}), {.spare = false, .shrink = true});
  EXPECT_THAT(after.replacements, IsEmpty());
  EXPECT_THAT(workers(after.roster), ElementsAre(0, 2));
  EXPECT_THAT(numbers(after.roster.spares), ElementsAre(3));
}

TEST(RankAssignment, numbers_ranks_as_they_were_just_before_and_remembers_the_start) {
  const RankAssignment once = assign_ranks(roster_of({0, 0, 0, 0}, {}), dead({1}), shrinking);
  const RankAssignment twice = assign_ranks(once.roster, dead({1, 2}), shrinking);
  EXPECT_THAT(twice.given_up, ElementsAre(LostRank{Rank{1}, ProcessId{2}}));
  EXPECT_THAT(origins_of(twice.roster), ElementsAre(0, 3));
  EXPECT_EQ(twice.roster.now(Rank{3}), Rank{1});
  EXPECT_EQ(twice.roster.now(Rank{2}), std::nullopt);
}

TEST(RankAssignment, does_not_give_up_all_ranks) {
  const RankAssignment after = assign_ranks(roster_of({0, 0}, {0}), dead({0, 1}), {.spare = false, .shrink = true});
  EXPECT_FALSE(after.complete());
}

TEST(RankAssignment, counts_who_held_a_rank_before) {
  const RankAssignment once = assign_ranks(roster_of({0, 0}, {0, 0}), dead({1}));
  EXPECT_EQ(once.roster.seat(Rank{1}).predecessors, 1);
  EXPECT_EQ(once.roster.seat(Rank{0}).predecessors, 0);
  const RankAssignment twice = assign_ranks(once.roster, dead({1, 2}));
  EXPECT_EQ(twice.roster.seat(Rank{1}).predecessors, 2);
  EXPECT_EQ(twice.roster.seat(Rank{1}).holder.process, ProcessId{3});
}

TEST(Roster, knows_who_plays_and_who_does_not) {
  const Roster roster = roster_of({0, 0}, {0});
  EXPECT_EQ(roster.rank_of(ProcessId{1}), Rank{1});
  EXPECT_EQ(roster.rank_of(ProcessId{2}), std::nullopt);
}

/// One life of a job: deaths of any number of processes until the spares run out. Checks the invariants of every plan.
class Life {
 public:
  explicit Life(unsigned seed) : random_(seed) {
    const auto size = below(16) + 1;
    processes_ = processes_on(random_nodes(random_, size));
    now_ = mend::first_assignment(processes_, static_cast<int>(below(size) + 1)).roster;
  }

  /// Returns false if the job is over.
  bool lose_some() {
    for (const mend::Placed& process : processes_) {
      if (below(6) == 0) dead_.insert(process.process);
    }
    const RankAssignment next = assign_ranks(now_, dead_);
    check(next);
    now_ = next.roster;
    return next.complete() && !testing::Test::HasFatalFailure() && dead_.size() < processes_.size();
  }

 private:
  std::uint32_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, static_cast<std::uint32_t>(bound) - 1)(random_);
  }

  void check(const RankAssignment& next) {
    ASSERT_EQ(next.roster.size(), now_.size()) << "ranks keep their number";
    std::set<ProcessId> parts;
    std::map<int, Replacement> replaced;
    for (const Replacement& one : next.replacements) ASSERT_TRUE(replaced.emplace(one.rank.value, one).second);
    for (int rank = 0; rank < now_.size(); ++rank) {
      const mend::Seat& before = now_.seat(Rank{rank});
      const mend::Seat& after = next.roster.seat(Rank{rank});
      const bool vacant = std::find(next.vacant.begin(), next.vacant.end(), Rank{rank}) != next.vacant.end();
      ASSERT_TRUE(vacant || !dead_.contains(after.holder.process));
      ASSERT_TRUE(parts.insert(after.holder.process).second) << "nobody plays twice";
      if (dead_.contains(before.holder.process) && !vacant) {
        ASSERT_TRUE(replaced.contains(rank));
        ASSERT_EQ(replaced.at(rank).dead, before.holder.process);
        ASSERT_EQ(replaced.at(rank).newcomer, after.holder.process);
        ASSERT_EQ(after.predecessors, before.predecessors + 1);
        const auto& spares = now_.spares;
        ASSERT_NE(std::find(spares.begin(), spares.end(), after.holder), spares.end()) << "only spares take over";
      } else {
        ASSERT_EQ(after, before) << "who lives keeps its rank";
        ASSERT_FALSE(replaced.contains(rank));
      }
    }
    for (const mend::Placed& spare : next.roster.spares) {
      ASSERT_FALSE(dead_.contains(spare.process));
      ASSERT_TRUE(parts.insert(spare.process).second) << "nobody waits and plays";
    }
    ASSERT_TRUE(next.complete() || next.roster.spares.empty()) << "no rank stays vacant while a spare waits";
    ASSERT_EQ(assign_ranks(now_, dead_).roster, next.roster) << "the same on every process";
  }

  std::mt19937 random_;
  std::vector<mend::Placed> processes_;
  Roster now_;
  ProcessSet dead_;
};

TEST(RankAssignment, keeps_its_promises_through_any_life_of_a_job) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed);
    while (life.lose_some()) {
    }
    if (HasFatalFailure()) return;
  }
}

TEST(RankAssignment, leaves_ranks_vacant_that_processes_may_be_started_for) {
  const Roster before = roster_of({0, 0, 1}, {1});
  const RankAssignment after = assign_ranks(before, dead({0, 1}), {.spare = true, .spawn = true, .shrink = true});
  EXPECT_THAT(after.replacements, ElementsAre(replaced(0, 0, 3)));
  EXPECT_THAT(after.vacant, ElementsAre(Rank{1}));
  EXPECT_THAT(after.given_up, IsEmpty());
  EXPECT_EQ(after.roster.seat(Rank{1}).holder.process, ProcessId{1}) << "who held it last";
}

TEST(RankAssignment, gives_a_vacant_rank_to_the_process_that_was_started_for_it) {
  const Roster before = roster_of({0, 0, 1}, {});
  Roster vacant = assign_ranks(before, dead({1}), {.spawn = true}).roster;
  vacant.spares.push_back(placed(3, 0));
  const std::vector<ProcessId> living{{0}, {2}, {3}};
  const RankAssignment after = assign_ranks(vacant, vacant.absent(living), {.spare = false, .spawn = true});
  EXPECT_TRUE(after.complete());
  EXPECT_THAT(after.replacements, ElementsAre(replaced(1, 1, 3)));
}

TEST(RankAssignment, gives_up_vacant_ranks_when_nobody_could_be_started) {
  const Roster vacant = assign_ranks(roster_of({0, 0, 1}, {}), dead({1}), {.spawn = true, .shrink = true}).roster;
  const RankAssignment after = assign_ranks(vacant, vacant.absent({{0}, {2}}), {.spawn = false, .shrink = true});
  EXPECT_EQ(after.roster.size(), 2);
  EXPECT_EQ(after.roster.seat(Rank{1}).origin, Rank{2});
}

TEST(Changes, tell_who_took_whose_rank_over_several_plans) {
  const Roster before = roster_of({0, 0, 1}, {});
  Roster after = before;
  after.seats[0].holder = placed(7, 0);  // after process 3 had it, and died too
  after.seats.erase(after.seats.begin() + 1);
  EXPECT_THAT(replacements(before, after), ElementsAre(replaced(0, 0, 7)));
}

}  // namespace
