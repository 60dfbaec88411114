// Distributes the nodes to the ranks by recursive bisection, as miniFE does.
//
// The box is cut across its longest side into two, in proportion to the ranks on either side, until every piece has one
// rank. The arithmetic is the same on all ranks, so every rank knows the boxes of all others.

#pragma once

#include "apps/minife/mesh/box.hpp"

#include <vector>

namespace apps::minife {

/// Cuts `whole` into `parts` boxes of nearly equal volume, none empty; part r belongs to rank r. Local, the same on
/// every rank. Throws mend::UsageError if there are too many parts to be cut, or fewer than one.
std::vector<Box> bisect(const Box& whole, int parts);

}  // namespace apps::minife
