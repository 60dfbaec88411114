// Clusters: sets of ranks that roll back together (--mend-clusters). Messages within a cluster are never needed again
// by a rank that rolls back, because their sender rolls back too. So they are not logged.
//
//   --mend-clusters 2        blocks of consecutive ranks       0 1 | 2 3
//   --mend-clusters node     the ranks of one machine          0 2 | 1 3
//   --mend-clusters FILE     one line a cluster                "0-1", "2,3"
//   --mend-clusters auto     by the traffic that was measured  clusters_by_traffic()
//
// A cluster rolls back when one of its ranks has lost its state. survivors_that_roll_back() finds the ranks that roll
// back: each rank reports the recovery with which its present life in the body began. A process that has just entered
// the body has no life yet.
//
//   lives of a cluster       which ranks roll back
//   3 3 3                    none
//   3 - 3                    the first and the third; the second has just begun
//   - - -                    none: all begin together, and have the same life from then on
//
// Pure: no MPI, no clock.

#pragma once

#include "base/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend::replay {

/// By rank: the number of its cluster. Clusters are numbered from 0 on, in the order of their lowest ranks.
using Clusters = std::vector<int>;

/// Returns clusters of one rank each.
Clusters single_ranks(int ranks);
/// Returns `count` blocks of consecutive ranks, of sizes that differ by one at most. Throws UsageError if `count` is
/// not in 1..`ranks`.
Clusters blocks_of_ranks(int ranks, int count);
/// Returns one cluster for each node.
Clusters ranks_of_nodes(std::span<const NodeId> nodes);

/// The lines of a file: the ranks of a cluster in each, as "0-3, 8"; # begins a comment.
using ClusterLines = std::vector<std::vector<int>>;
/// Reads the text of a file. `name`: the name of the file in error messages. Throws UsageError for a line that is not a
/// list of ranks, and for a rank that appears twice.
ClusterLines read_cluster_lines(std::string_view text, std::string_view name);
/// Returns the clusters of these lines. Throws UsageError unless the lines name each of the ranks.
Clusters clusters_from(const ClusterLines& lines, int ranks, std::string_view name);

int count_of(const Clusters& clusters);
/// Returns the ranks of cluster `one`, ascending.
std::vector<int> ranks_in(const Clusters& clusters, int one);
/// Returns text such as "0-3 | 4,6 | 5,7".
std::string to_string(const Clusters& clusters);

/// The number of bytes that rank `from` has sent to rank `to` is at [from * ranks + to].
using TrafficMatrix = std::vector<std::uint64_t>;

/// The cost of clusters.
struct ClusterPrice {
  double logged = 0;  ///< the share of the bytes that is sent between clusters
  double back = 0;    ///< the share of the ranks that roll back when one rank dies, each with the same probability
  double sum() const { return logged + back; }
};
/// Returns the price of `clusters`. If no bytes were sent, `logged` is 0.
ClusterPrice price_of(const Clusters& clusters, const TrafficMatrix& traffic);

/// Groups ranks that send each other much (locality), so that little is sent between clusters (isolation; section V-E.3
/// of the paper), in clusters of up to `most` ranks. Clusters grow by merging those that send each other most, in
/// rounds of disjoint pairs. Of the bounds 1, 2, 4, ... and `most`, the one with the lowest price is taken; of equal
/// ones the smallest. Ranks stay single if clusters are not a tenth cheaper. Returns the same on all ranks that have
/// the same matrix.
Clusters clusters_by_traffic(const TrafficMatrix& traffic, int ranks, int most);

/// The recovery with which all ranks of a cluster have entered the body together; nothing for a rank that has not
/// continued since it entered the body.
using Life = std::optional<std::uint64_t>;
/// Returns, by rank, whether it rolls back because another rank of its cluster does not have the same life.
std::vector<bool> survivors_that_roll_back(std::span<const Life> lives, const Clusters& clusters);

}  // namespace mend::replay
