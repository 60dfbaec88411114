// Finds the members of a group for which a condition holds, by agreements of the group. Intended for rare cases, for
// instance to name the ranks that have made a mistake.

#pragma once

#include "agreement/agreement.hpp"

#include <optional>
#include <vector>

namespace mend::agreement {

/// Returns the members for which `has` is true, ascending; nothing if a member was found dead meanwhile. `self`: the
/// number of this member, from 0, among `members`. Takes one agreement for each 31 members. Collective; the result is
/// the same on all.
std::optional<std::vector<int>> find_members(Agreement& agreement, int self, int members, bool has);

}  // namespace mend::agreement
