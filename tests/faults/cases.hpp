// The fault matrix: which processes die, where, and together with which others.
//
// Ranks 0, 1, 2, 3 are processes 0 to 3; processes 4 and 5 are spares, and 4 is called first. Rank r+1 has the copy of
// rank r's data, so a rank and its neighbour must not die within one recovery. Ranks opposite each other (0 and 2, 1
// and 3) may.

#pragma once

#include <string>
#include <vector>

namespace faults {

/// Places where a rank can die without another failure. `own`: places of the application.
std::vector<std::string> places_of_work(const std::vector<std::string>& own);
/// Places that all processes, also spares, pass in a recovery.
std::vector<std::string> places_of_recovery();
/// Places that processes with a rank pass in addition, before and after the recovery proper.
std::vector<std::string> places_around_recovery();
/// Places that every rank passes during a restore.
std::vector<std::string> places_of_restore();

struct Case {
  std::string name;
  std::vector<std::string> kills;
};

/// The first, the middle or the last rank dies.
std::vector<Case> one_dies(const std::vector<std::string>& own_places);
/// Ranks 0 and 2 die at the same place of the same step.
std::vector<Case> two_die_together(const std::vector<std::string>& own_places);
/// A rank dies, and during the recovery the opposite one.
std::vector<Case> a_survivor_dies_in_recovery();
/// A rank dies, and then the spare that takes it over.
std::vector<Case> the_newcomer_dies(const std::vector<std::string>& own_places);
/// A spare dies: while it waits, or in a recovery in which it is not chosen.
std::vector<Case> a_spare_dies();
/// Successive failures, each followed by a recovery.
std::vector<Case> one_after_another();
/// A rank, two ranks, a spare or the newcomer hangs, during the work or in the recovery from another's death.
std::vector<Case> some_hang(const std::vector<std::string>& own_places);
/// Every rank at step 5, with every other process at every place of the recovery. Partners are included, so data may be
/// lost.
std::vector<Case> all_pairs();

// Cases without spares, in which processes are started for the dead. Their numbers follow those of the ranks.
std::vector<Case> replacements_are_started();
std::vector<Case> a_survivor_dies_while_one_is_started();
std::vector<Case> the_one_started_dies();

}  // namespace faults
