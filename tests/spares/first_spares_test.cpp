#include "tests/spares/machines.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

namespace {

using namespace machines;
using mend::first_assignment;
using mend::NodeId;
using mend::Rank;
using mend::RankAssignment;
using mend::SparePlacement;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(FirstAssignment, on_one_node_has_the_last_processes_wait) {
  const RankAssignment plan = first_assignment(processes_on({0, 0, 0, 0, 0, 0}), 4);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(4, 5));
  EXPECT_TRUE(plan.complete());
  EXPECT_THAT(plan.replacements, IsEmpty());
}

TEST(FirstAssignment, spreads_the_spares_over_the_nodes) {
  const RankAssignment plan = first_assignment(processes_on({0, 0, 0, 1, 1, 1}), 4);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(2, 5));
}

TEST(FirstAssignment, spreads_the_spares_when_processes_alternate_between_nodes) {
  const RankAssignment plan = first_assignment(processes_on({0, 1, 0, 1, 0, 1}), 4);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(4, 5));
}

TEST(FirstAssignment, has_the_last_of_all_processes_wait_if_asked) {
  const RankAssignment plan = first_assignment(processes_on({0, 0, 0, 1, 1, 1}), 4, 0, SparePlacement::last);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(4, 5));
  const RankAssignment alternating = first_assignment(processes_on({1, 0, 2, 1, 0, 2}), 3, 0, SparePlacement::last);
  EXPECT_THAT(workers(alternating.roster), ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers(alternating.roster.spares), ElementsAre(3, 4, 5));
  EXPECT_EQ(first_assignment(processes_on({0, 1}), 3, 0, SparePlacement::last).vacant.size(), 1U);
}

std::vector<int> origins(const mend::Roster& roster) {
  std::vector<int> list;
  for (const mend::Seat& seat : roster.seats) list.push_back(seat.origin.value);
  return list;
}

TEST(FirstAssignment, leaves_each_rank_the_number_of_its_process_when_others_died_before_it) {
  const std::vector<mend::Placed> living{placed(0, 0), placed(2, 1), placed(4, 1), placed(5, 0), placed(6, 1)};
  const RankAssignment plan = first_assignment(living, 4, 0, SparePlacement::last);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 4, 2, 5));
  EXPECT_THAT(origins(plan.roster), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(6));
  EXPECT_TRUE(plan.complete());
}

TEST(FirstAssignment, leaves_the_last_ranks_of_the_missing_vacant_when_there_are_too_few_spares) {
  const std::vector<mend::Placed> living{placed(1, 0), placed(3, 0), placed(4, 0)};
  const RankAssignment plan = first_assignment(living, 4, 0, SparePlacement::last);
  EXPECT_THAT(workers(plan.roster), ElementsAre(4, 1, 3));
  EXPECT_THAT(origins(plan.roster), ElementsAre(0, 1, 3));
  EXPECT_THAT(plan.vacant, ElementsAre(Rank{2}));
}

TEST(FirstAssignment, takes_whole_nodes_for_spares_wherever_the_others_are) {
  const auto on_two_nodes = processes_on({1, 1, 0, 0});
  EXPECT_THAT(numbers(first_assignment(on_two_nodes, 2, 1, SparePlacement::last).roster.spares), ElementsAre(0, 1));
}

TEST(FirstAssignment, takes_whole_nodes_for_spares_if_asked) {
  const RankAssignment plan = first_assignment(processes_on({0, 0, 1, 1, 2, 2}), 4, 1);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(4, 5));
}

TEST(FirstAssignment, spreads_the_spares_that_whole_nodes_do_not_hold) {
  const RankAssignment plan = first_assignment(processes_on({0, 0, 1, 1, 2}), 3, 1);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(3, 4));
}

TEST(FirstAssignment, leaves_work_to_a_spare_node_when_there_are_too_few_spares_to_fill_it) {
  const RankAssignment plan = first_assignment(processes_on({0, 0, 1, 1}), 3, 1);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(3));
}

TEST(FirstAssignment, takes_a_spare_first_from_the_node_that_has_most_processes) {
  const RankAssignment plan = first_assignment(processes_on({0, 1, 1, 1}), 3);
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(3));
}

TEST(FirstAssignment, without_spares_has_everyone_work) {
  const RankAssignment plan = first_assignment(processes_on({0, 1, 2}), 3);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1, 2));
  EXPECT_THAT(plan.roster.spares, IsEmpty());
}

TEST(FirstAssignment, with_too_few_processes_leaves_the_last_ranks_vacant) {
  const RankAssignment plan = first_assignment(processes_on({0, 0}), 4);
  EXPECT_FALSE(plan.complete());
  EXPECT_THAT(plan.vacant, ElementsAre(Rank{2}, Rank{3}));
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 1));
}

TEST(FirstAssignment, keeps_identities_when_some_died_before_it) {
  const std::vector<mend::Placed> living{placed(0, 0), placed(2, 0), placed(5, 0)};
  const RankAssignment plan = first_assignment(living, 2);
  EXPECT_THAT(workers(plan.roster), ElementsAre(0, 2));
  EXPECT_THAT(numbers(plan.roster.spares), ElementsAre(5));
}

TEST(FirstAssignment, on_any_machine_gives_every_process_one_part_and_spreads_the_spares) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    const auto size = std::uniform_int_distribution<std::size_t>(1, 14)(random);
    const auto ranks = std::uniform_int_distribution<int>(1, static_cast<int>(size))(random);
    const auto processes = processes_on(random_nodes(random, size));
    const RankAssignment plan = first_assignment(processes, ranks);

    ASSERT_TRUE(plan.complete());
    ASSERT_EQ(plan.roster.size(), ranks);
    std::set<std::uint32_t> parts;
    for (std::uint32_t process : workers(plan.roster)) ASSERT_TRUE(parts.insert(process).second);
    for (std::uint32_t process : numbers(plan.roster.spares)) ASSERT_TRUE(parts.insert(process).second);
    ASSERT_EQ(parts.size(), size);

    const auto in_order = workers(plan.roster);
    ASSERT_TRUE(std::is_sorted(in_order.begin(), in_order.end()));
    const auto waiting = numbers(plan.roster.spares);
    ASSERT_TRUE(std::is_sorted(waiting.begin(), waiting.end()));

    // No node has two spares more than another node that still has a worker to give.
    std::map<NodeId, int> node_workers;
    std::map<NodeId, int> node_spares;
    for (const mend::Placed& process : processes) node_spares[process.node] += 0;
    for (const mend::Seat& seat : plan.roster.seats) ++node_workers[seat.holder.node];
    for (const mend::Placed& spare : plan.roster.spares) ++node_spares[spare.node];
    for (const auto& [rich, most] : node_spares) {
      for (const auto& [poor, fewest] : node_spares) {
        ASSERT_TRUE(most <= fewest + 1 || node_workers[poor] == 0)
            << rich.value << " has " << most << ", " << poor.value << " " << fewest;
      }
    }
  }
}

}  // namespace
