// Who owns which nodes: recursive bisection, as miniFE does it.
//
// The box is cut across its longest side into two, in proportion to the ranks on either side, until every piece has
// one rank. It is the same arithmetic everywhere, so every rank knows every other's box.

#pragma once

#include "apps/minife/mesh/box.hpp"

#include <vector>

namespace apps::minife {

/// Cuts `whole` into `parts` boxes of nearly equal volume, none empty: part r is rank r's. Local, the same on every
/// rank. Throws mend::UsageError when there are too many parts to be cut, or fewer than one.
std::vector<Box> bisect(const Box& whole, int parts);

}  // namespace apps::minife
