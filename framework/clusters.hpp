#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// Which ranks go back together when a process dies, under local rollback (--mend-clusters). Messages between them are
/// not logged.
struct ClusterChoice {
  enum class Kind : std::uint8_t {
    rank,    ///< each rank alone
    blocks,  ///< blocks of consecutive ranks
    node,    ///< the ranks of a machine
    file,    ///< those of each line of a file
    traffic  ///< those that send each other most until the first commit; until then each rank alone
  };
  Kind kind = Kind::rank;  ///< which of these
  int count = 0;           ///< how many blocks; by traffic: how many ranks a cluster has at most, 0 for half of all
  std::string file;        ///< its name
  std::vector<std::vector<int>> lines;  ///< the ranks in each line of the file

  /// "rank", "node", "auto", "auto:M" with at most M ranks in a cluster, a number of blocks, or the name of a file,
  /// which is read. Throws UsageError for anything else, and for a file that names no clusters. Local.
  static ClusterChoice parse(std::string_view text);
};

/// Returns the text that ClusterChoice::parse accepts. Local.
std::string to_string(const ClusterChoice& choice);

}  // namespace mend
