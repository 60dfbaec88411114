#pragma once

#include "base/ids.hpp"

#include <optional>
#include <span>
#include <vector>

namespace mend {

/// For each rank, the rank that holds the copy of its snapshots: one on another node whenever there is one, each
/// rank holding as few copies as that allows (exactly one when the nodes hold equally many ranks). nullopt for the
/// only rank of a job, which has nobody. `nodes[r]`: where rank r runs. Pure: the same on every rank.
std::vector<std::optional<Rank>> choose_holders(std::span<const NodeId> nodes);

}  // namespace mend
