#pragma once

#include "base/ids.hpp"
#include "framework/clusters.hpp"
#include "replay/clusters/clusters.hpp"

#include <span>

namespace mend {

/// Returns the clusters with which a job begins. `nodes`: the node of each rank, by rank. Throws UsageError if the
/// choice does not fit the number of ranks. Local.
replay::Clusters clusters_at_start(const ClusterChoice& choice, std::span<const NodeId> nodes);

}  // namespace mend
