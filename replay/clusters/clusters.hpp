// Clusters: sets of ranks that roll back together (--mend-clusters). Messages within a cluster are never needed again
// by a rank that goes back, because their sender goes back too. So they are not logged.
//
//   --mend-clusters 2        blocks of consecutive ranks       0 1 | 2 3
//   --mend-clusters node     the ranks of one machine          0 2 | 1 3
//   --mend-clusters FILE     one line a cluster                "0-1", "2,3"
//   --mend-clusters auto     by the traffic that was measured  clusters_by_traffic()
//
// A cluster goes back when one of its ranks has lost its state. ranks_that_go_back() finds out which: each rank tells
// with which recovery its present life in the body began. A process that has only just entered the body has no life
// yet.
//
//   lives of a cluster       who goes back
//   3 3 3                    nobody
//   3 - 3                    the first and the third; the second has just begun
//   - - -                    nobody: all begin together, and have the same life from then on
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

/// One rank in each cluster.
Clusters single_ranks(int ranks);
/// `count` blocks of consecutive ranks, of sizes that differ by one at most. Throws UsageError if `count` is not in
/// 1..`ranks`.
Clusters blocks_of_ranks(int ranks, int count);
/// The ranks of each node.
Clusters ranks_of_nodes(std::span<const NodeId> nodes);

/// The lines of a file: the ranks of a cluster in each, as "0-3, 8"; # begins a comment.
using ClusterLines = std::vector<std::vector<int>>;
/// `name`: of the file, for errors. Throws UsageError for a line that is no list of ranks, and for a rank that is
/// there twice.
ClusterLines read_cluster_lines(std::string_view text, std::string_view name);
/// Throws UsageError unless the lines name each of the ranks.
Clusters clusters_from(const ClusterLines& lines, int ranks, std::string_view name);

int count_of(const Clusters& clusters);
/// The ranks of cluster `one`, ascending.
std::vector<int> ranks_in(const Clusters& clusters, int one);
/// "0-3 | 4,6 | 5,7"
std::string to_string(const Clusters& clusters);

/// So many bytes has rank `from` sent to rank `to`: [from * ranks + to].
using TrafficMatrix = std::vector<std::uint64_t>;

/// The cost of clusters.
struct ClusterPrice {
  double logged = 0;  ///< the share of the bytes that is sent between clusters
  double back = 0;    ///< the share of the ranks that goes back when one rank dies, each with the same probability
  double sum() const { return logged + back; }
};
/// The price of `clusters`; nothing is logged where nothing is sent.
ClusterPrice price_of(const Clusters& clusters, const TrafficMatrix& traffic);

/// Groups ranks that send each other much (locality), so that little is sent between clusters (isolation; section V-E.3
/// of the paper), in clusters of up to `most` ranks. Clusters grow by merging those that send each other most, in
/// rounds of disjoint pairs. Of the bounds 1, 2, 4, ... and `most`, the one with the lowest price is taken; of equal
/// ones the smallest. Ranks stay single if that is not a tenth cheaper. The same on all ranks that have the same
/// matrix.
Clusters clusters_by_traffic(const TrafficMatrix& traffic, int ranks, int most);

/// The recovery with which all ranks of a cluster have entered the body together; nothing for a rank that has not gone
/// on since it entered it.
using Life = std::optional<std::uint64_t>;
/// Returns by rank whether it goes back because another rank of its cluster does not have the same life.
std::vector<bool> ranks_that_go_back(std::span<const Life> lives, const Clusters& clusters);

}  // namespace mend::replay
