// What commits cost a program whose ranks wait for each other's messages, step by step.
//
// A commit stops a rank for a while. A rank that waits for a message of this rank stops too, so a commit is a delay
// that travels from rank to rank, one message a step. If two delays arrive in a rank in the same step, it waits for the
// longer one only. If they arrive one after the other, they add up.
//
//   together      All clusters commit in the same step. The delays overlap.
//   in order      Cluster k of K commits k/K of an interval later. Fewer ranks share the network. A delay that has
//                 travelled to another cluster adds to the delay of that cluster's own commit.
//   interleaved   The same, but a cluster commits long before or after its neighbours: 0, 8, 4, 12, 2, 10, ... of 16.
//                 So a delay meets fewer commits on its way.
//
// A step without a commit takes the same time on all ranks. So its length does not matter, and only delays are
// computed. The delay of the last rank is that of the costliest path through ranks and steps.
//
// Invariant: an interval loses at least one commit, and at most one for each step of it in which a cluster commits.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace mend::bench {

/// The ranks whose messages a rank needs: none; two in a ring; up to four in a grid, which is as near to a square as
/// possible, is filled row by row, and does not close to a torus; all ranks, as in a reduction.
enum class Exchange : std::uint8_t { none, ring, grid, all };

enum class CommitOrder : std::uint8_t { together, in_order, interleaved };

struct CommittingJob {
  std::uint32_t ranks = 1;     ///< 1 or more
  std::uint32_t clusters = 1;  ///< 1 to `ranks`; blocks of consecutive ranks, of sizes that differ by one at most
  std::uint32_t steps = 1;     ///< from a commit of a rank to its next one; 1 or more
  CommitOrder order = CommitOrder::together;
  Exchange exchange = Exchange::none;
  std::uint32_t exchange_every = 1;  ///< steps; 1 or more
  /// The share of the ranks that can send at full speed at once, above 0. If more ranks commit in the same step, their
  /// commits take longer in proportion. Commits in different steps do not slow each other down.
  double network_share = 1;
};

class CommitWaves {
 public:
  explicit CommitWaves(const CommittingJob& job);

  /// Computes the next `steps` steps.
  void run_interval();
  /// Returns by how much the last rank is late, in commits of a rank alone.
  double delay() const;

 private:
  void wait_for_partners();

  CommittingJob job_;
  std::uint64_t step_ = 0;
  std::vector<std::uint32_t> commits_in_;               // for each rank, a step of the interval
  std::vector<double> commit_times_;                    // for each step of the interval; 0 if no rank commits
  std::vector<std::array<std::uint32_t, 4>> partners_;  // if a rank has fewer than 4, it is its own partner
  std::vector<double> delays_;
  std::vector<double> earlier_delays_;  // at the end of the previous step
};

/// Returns the time that commits add to an interval, in commits of a rank alone: the mean of so many intervals, after
/// as many that are not counted.
double lost_to_commits(const CommittingJob& job, int intervals = 24);

}  // namespace mend::bench
