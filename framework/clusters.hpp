#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// The groups of ranks (clusters) that roll back together when a process dies, under local rollback (--mend-clusters).
/// Messages within a cluster are not logged.
struct ClusterChoice {
  enum class Kind : std::uint8_t {
    rank,    ///< each rank alone
    blocks,  ///< blocks of consecutive ranks
    node,    ///< the ranks of a machine
    file,    ///< the ranks on each line of a file
    traffic  ///< the ranks that send each other most until the first commit; until then each rank alone
  };
  Kind kind = Kind::rank;  ///< the kind of clusters
  int count = 0;           ///< the number of blocks; by traffic: the most ranks of a cluster, 0 for half of all
  std::string file;        ///< the name of the file
  std::vector<std::vector<int>> lines;  ///< the ranks in each line of the file

  /// Parses "rank", "node", "auto", "auto:M" with at most M ranks in a cluster, a number of blocks, or the name of a
  /// file, which is read. Throws UsageError for any other text, and for a file that names no clusters. Local.
  static ClusterChoice parse(std::string_view text);
};

/// Returns the text that ClusterChoice::parse accepts. Local.
std::string to_string(const ClusterChoice& choice);

}  // namespace mend
