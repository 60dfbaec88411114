#include "tests/faults/cases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faults {
namespace {

using Places = std::vector<std::string>;

Places joined(std::initializer_list<Places> lists) {
  Places all;
  for (const Places& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::string as_name(std::string place) {
  std::replace(place.begin(), place.end(), '.', '_');
  return place;
}

std::string rank_kill(int rank, int step, const std::string& place) {
  return fmt::format("{}@{}:{}", rank, step, place);
}
std::string process_kill(int process, const std::string& place) { return fmt::format("p{}@0:{}", process, place); }

int opposite(int rank) { return (rank + 2) % 4; }

}  // namespace

Places places_of_work(const Places& own) {
  return joined({{"step"},
                 own,
                 {"commit.pack", "commit.exchange", "commit.vote", "commit.publish", "finish.before", "ballot.before",
                  "decision.before", "finish.after", "finalize.before"}});
}

Places places_of_recovery() {
  return {"decision.before", "recovery.begin",       "recovery.shrink",  "recovery.shrunk", "recovery.plan",
          "recovery.split",  "recovery.split_store", "recovery.confirm", "recovery.done"};
}

Places places_around_recovery() { return {"recovery.interrupt", "ballot.before"}; }

Places places_of_restore() {
  return {"restore.inventory", "restore.transfer", "restore.exchange", "restore.protect",
          "restore.unpack",    "restore.vote",     "restore.done"};
}

std::vector<Case> one_dies(const Places& own_places) {
  std::vector<Case> cases;
  for (int rank : {0, 1, 3}) {
    for (const std::string& place : places_of_work(own_places)) {
      cases.push_back({fmt::format("rank_{}_at_{}", rank, as_name(place)), {rank_kill(rank, 5, place)}});
    }
    cases.push_back({fmt::format("rank_{}_before_the_first_commit", rank), {rank_kill(rank, 1, "step")}});
    cases.push_back({fmt::format("rank_{}_as_soon_as_MPI_runs", rank), {process_kill(rank, "init.after")}});
    cases.push_back({fmt::format("rank_{}_at_its_introduction", rank), {process_kill(rank, "start.introduce")}});
    cases.push_back({fmt::format("rank_{}_after_its_introduction", rank), {process_kill(rank, "start.introduced")}});
  }
  return cases;
}

std::vector<Case> two_die_together(const Places& own_places) {
  std::vector<Case> cases;
  for (const std::string& place : places_of_work(own_places)) {
    cases.push_back({fmt::format("at_{}", as_name(place)), {rank_kill(0, 5, place), rank_kill(2, 5, place)}});
  }
  cases.push_back({"at_init_after", {process_kill(0, "init.after"), process_kill(2, "init.after")}});
  return cases;
}

std::vector<Case> a_survivor_dies_in_recovery() {
  std::vector<Case> cases;
  for (int first : {0, 1, 2, 3}) {
    for (const std::string& place : joined({places_around_recovery(), places_of_recovery(), places_of_restore()})) {
      const int second = opposite(first);
      cases.push_back({fmt::format("rank_{}_at_{}_after_rank_{}", second, as_name(place), first),
                       {rank_kill(first, 5, "step"), rank_kill(second, 0, place)}});
    }
  }
  return cases;
}

std::vector<Case> the_newcomer_dies(const Places& own_places) {
  std::vector<Case> cases;
  const Places places =
      joined({{"spare.woken"}, places_of_recovery(), places_of_restore(), places_of_work(own_places)});
  for (const std::string& place : places) {
    // Spares take part in the job decision too, so that place is listed twice.
    const bool known =
        std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.name == "at_" + as_name(place); });
    if (!known) cases.push_back({"at_" + as_name(place), {rank_kill(2, 5, "step"), process_kill(4, place)}});
  }
  return cases;
}

std::vector<Case> a_spare_dies() {
  std::vector<Case> cases;
  cases.push_back({"waiting_and_nobody_else", {process_kill(4, "spare.parked")}});
  cases.push_back(
      {"waiting_and_nobody_else_is_left", {process_kill(4, "spare.parked"), process_kill(5, "spare.parked")}});
  cases.push_back({"waiting_and_then_a_rank", {process_kill(4, "spare.parked"), rank_kill(2, 5, "step")}});
  cases.push_back({"as_soon_as_MPI_runs", {process_kill(5, "init.after")}});
  cases.push_back({"woken_at_the_end", {process_kill(4, "spare.woken")}});
  cases.push_back({"finalizing", {process_kill(4, "finalize.before")}});
  for (const std::string& place : joined({{"spare.woken"}, places_of_recovery()})) {
    cases.push_back(
        {fmt::format("at_{}_not_chosen", as_name(place)), {rank_kill(2, 5, "step"), process_kill(5, place)}});
  }
  return cases;
}

std::vector<Case> one_after_another() {
  return {
      {"two_ranks", {rank_kill(2, 3, "step"), rank_kill(0, 7, "step")}},
      {"neighbours_with_a_recovery_between", {rank_kill(2, 3, "step"), rank_kill(3, 7, "step")}},
      {"a_rank_and_its_successor", {rank_kill(2, 3, "step"), rank_kill(2, 7, "step")}},
      {"a_neighbour_as_soon_as_all_is_restored", {rank_kill(2, 5, "step"), rank_kill(3, 0, "restore.done")}},
      {"the_first_in_a_commit_the_second_in_the_next",
       {rank_kill(1, 3, "commit.vote"), rank_kill(3, 4, "commit.publish")}},
  };
}

std::vector<Case> some_hang(const Places& own_places) {
  const auto hang = [](const std::string& order) { return "hang " + order; };
  // At the very end, after all have agreed on it, processes are not watched any more.
  const auto is_watched = [](const std::string& place) {
    return place != "finish.after" && place != "finalize.before";
  };
  std::vector<Case> cases;
  for (const std::string& place : places_of_work(own_places)) {
    if (!is_watched(place)) continue;
    cases.push_back({fmt::format("rank_0_at_{}", as_name(place)), {hang(rank_kill(0, 5, place))}});
    cases.push_back({fmt::format("rank_1_at_{}", as_name(place)), {hang(rank_kill(1, 5, place))}});
  }
  cases.push_back({"rank_1_after_its_introduction", {hang(process_kill(1, "start.introduced"))}});
  cases.push_back({"two_together", {hang(rank_kill(0, 5, "step")), hang(rank_kill(2, 5, "step"))}});
  cases.push_back({"one_dies_and_one_hangs", {rank_kill(0, 5, "step"), hang(rank_kill(2, 5, "step"))}});
  for (const std::string& place : joined({places_around_recovery(), places_of_recovery(), places_of_restore()})) {
    cases.push_back({fmt::format("rank_2_at_{}_after_rank_0_died", as_name(place)),
                     {rank_kill(0, 5, "step"), hang(rank_kill(2, 0, place))}});
  }
  for (const std::string& place : places_of_recovery()) {
    cases.push_back(
        {fmt::format("the_newcomer_at_{}", as_name(place)), {rank_kill(1, 5, "step"), hang(process_kill(4, place))}});
  }
  cases.push_back({"a_parked_spare", {hang(process_kill(5, "spare.parked"))}});
  cases.push_back(
      {"the_first_spare_when_it_is_wanted", {rank_kill(1, 5, "step"), hang(process_kill(4, "spare.woken"))}});
  return cases;
}

namespace {
const Places places_of_the_job_in_spawning{"spawn.wait",  "spawn.meet",    "spawn.connect", "spawn.create",
                                           "spawn.merge", "spawn.confirm", "spawn.admit",   "spawn.done"};
}

std::vector<Case> replacements_are_started() {
  return {
      {"for_rank_2", {rank_kill(2, 5, "step")}},
      {"for_rank_0", {rank_kill(0, 5, "step")}},
      {"for_two_at_once", {rank_kill(0, 5, "step"), rank_kill(2, 5, "step")}},
      {"for_a_rank_and_its_successor", {rank_kill(1, 3, "step"), rank_kill(1, 7, "step")}},
      {"for_all_one_after_another",
       {rank_kill(0, 2, "step"), rank_kill(1, 4, "step"), rank_kill(2, 6, "step"), rank_kill(3, 8, "step")}},
      {"for_the_first_commit", {rank_kill(3, 1, "step")}},
      {"at_the_very_end", {rank_kill(1, 5, "finish.before")}},
      {"for_one_that_hangs", {"hang " + rank_kill(1, 5, "step")}},
  };
}

std::vector<Case> a_survivor_dies_while_one_is_started() {
  std::vector<Case> cases;
  for (int first : {1, 2}) {
    for (const std::string& place : joined({places_of_the_job_in_spawning, places_of_recovery()})) {
      const int second = opposite(first);  // process 0 is the host, 3 is not
      const bool only_the_host_comes_here = place == "spawn.connect" && first == 1;
      if (only_the_host_comes_here) continue;
      const int dies = first == 2 ? 0 : second;
      cases.push_back({fmt::format("rank_{}_at_{}_after_rank_{}", dies, as_name(place), first),
                       {rank_kill(first, 5, "step"), rank_kill(dies, 0, place)}});
    }
  }
  cases.push_back({"rank_0_hangs_at_spawn_merge", {rank_kill(2, 5, "step"), "hang " + rank_kill(0, 0, "spawn.merge")}});
  cases.push_back(
      {"rank_3_hangs_at_spawn_create", {rank_kill(1, 5, "step"), "hang " + rank_kill(3, 0, "spawn.create")}});
  return cases;
}

std::vector<Case> the_one_started_dies() {
  std::vector<Case> cases;
  const Places own{"newcomer.call",  "newcomer.introduce", "newcomer.connect", "newcomer.create",
                   "newcomer.greet", "newcomer.merge",     "newcomer.merged",  "newcomer.admitted"};
  for (const std::string& place : joined({own, places_of_recovery(), places_of_restore()})) {
    // It reaches these when the others are past them.
    if (place == "decision.before" || place == "recovery.begin") continue;
    cases.push_back({"at_" + as_name(place), {rank_kill(2, 5, "step"), process_kill(4, place)}});
  }
  for (const char* place :
       {"newcomer.call", "newcomer.introduce", "newcomer.connect", "newcomer.merge", "recovery.shrink"}) {
    cases.push_back(
        {fmt::format("hanging_at_{}", as_name(place)), {rank_kill(2, 5, "step"), "hang " + process_kill(4, place)}});
  }
  return cases;
}

std::vector<Case> all_pairs() {
  std::vector<Case> cases;
  for (int first : {0, 1, 2, 3}) {
    for (int second : {0, 1, 2, 3, 4, 5}) {
      if (second == first) continue;
      const Places places = second < 4 ? joined({places_around_recovery(), places_of_recovery(), places_of_restore()})
                            : second == 4 ? joined({places_of_recovery(), places_of_restore()})
                                          : places_of_recovery();
      for (const std::string& place : places) {
        cases.push_back({fmt::format("process_{}_at_{}_after_rank_{}", second, as_name(place), first),
                         {rank_kill(first, 5, "step"), process_kill(second, place)}});
      }
    }
  }
  return cases;
}

}  // namespace faults
