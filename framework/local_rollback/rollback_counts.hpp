// Counts of what local rollback has done in a job, for the summary at its end. Each rank counts what it sees. All ranks
// exchange their counts after each recovery and at the end, and take the maximum of each, because counts only grow.

#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mend {

class RollbackCounts {
 public:
  /// Begins a job of this many ranks. Earlier counts stay.
  void begin(int ranks);
  /// Records that these ranks roll back, and that the others together keep this many steps since the commit.
  void go_back(std::span<const Rank> ranks, std::uint64_t steps_kept);
  /// Records that `rank` has computed this many steps twice before it had caught up with what the others knew of it.
  void computed_twice(Rank rank, std::uint64_t steps);
  /// Records that a rank's log has had this size.
  void has_logged(std::uint64_t bytes);

  /// Returns all counts, to be exchanged. The largest value of each is right.
  std::span<std::uint64_t> words() { return words_; }

  /// Returns "rank 1 went back 2 times, rank 3 went back once; 5 steps were computed twice, and 31 were kept; a rank
  /// has logged 1.2 MiB at most"; empty if no rank rolled back. Pure.
  std::string to_string() const;

 private:
  std::vector<std::uint64_t> words_;  // rollbacks of each rank; steps that each computed twice; kept; logged
};

}  // namespace mend
