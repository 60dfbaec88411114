// The fault matrix: who dies, where, and with whom.
//
// Ranks 0, 1, 2, 3 are processes 0 to 3; processes 4 and 5 are spares, and 4 is the first to be called. The copy of
// rank r's data is with rank r+1, so a rank and its neighbour must not die within one recovery, and ranks opposite
// each other (0 and 2, 1 and 3) may.

#pragma once

#include <string>
#include <vector>

namespace faults {

/// Where a rank can die while nothing else has failed. `own`: places of the application's.
std::vector<std::string> places_of_work(const std::vector<std::string>& own);
/// Where everyone passes in a recovery, spares too.
std::vector<std::string> places_of_recovery();
/// Where those who hold a rank pass as well, before and after the recovery proper.
std::vector<std::string> places_around_recovery();
/// Where every rank passes while the data comes back.
std::vector<std::string> places_of_restore();

struct Case {
  std::string name;
  std::vector<std::string> kills;
};

/// One of the first, the middle and the last rank dies.
std::vector<Case> one_dies(const std::vector<std::string>& own_places);
/// Ranks 0 and 2 die at the same place of the same step.
std::vector<Case> two_die_together(const std::vector<std::string>& own_places);
/// A rank dies, and during the recovery the one opposite.
std::vector<Case> a_survivor_dies_in_recovery();
/// A rank dies, and then the spare that takes over.
std::vector<Case> the_newcomer_dies(const std::vector<std::string>& own_places);
/// A spare dies: while it waits, or in a recovery in which it is not the one chosen.
std::vector<Case> a_spare_dies();
/// Failures one after another, each recovered from.
std::vector<Case> one_after_another();
/// A rank, two together, a spare, or the newcomer stops and does nothing any more, in the work and in the recovery from
/// another's death.
std::vector<Case> some_hang(const std::vector<std::string>& own_places);
/// Every rank at step 5, and every other process at every place of the recovery: partners too, so data may be lost.
std::vector<Case> all_pairs();

// Where no spare is, and processes are started for the dead: they are numbered on from the ranks.
std::vector<Case> replacements_are_started();
std::vector<Case> a_survivor_dies_while_one_is_started();
std::vector<Case> the_one_started_dies();

}  // namespace faults
