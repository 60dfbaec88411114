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
  /// The job has so many ranks. What was counted before stays.
  void begin(int ranks);
  /// These ranks go back, and the others together keep so many steps since the commit.
  void go_back(std::span<const Rank> ranks, std::uint64_t steps_kept);
  /// `rank` has computed so many steps twice before it was where the others knew it.
  void computed_twice(Rank rank, std::uint64_t steps);
  /// A rank's log has had this size.
  void has_logged(std::uint64_t bytes);

  /// All of it, to be exchanged: the largest of each is right.
  std::span<std::uint64_t> words() { return words_; }

  /// "rank 1 went back 2 times, rank 3 went back once; 5 steps were computed twice, and 31 were kept; a rank has logged
  /// 1.2 MiB at most"; empty if none went back. Pure.
  std::string to_string() const;

 private:
  std::vector<std::uint64_t> words_;  // how often each went back; steps each computed twice; kept; logged
};

}  // namespace mend
