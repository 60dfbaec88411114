// Which members of a group something is true of, found out by its agreements: for what is rare, as the naming of those
// who have made a mistake.

#pragma once

#include "agreement/agreement.hpp"

#include <optional>
#include <vector>

namespace mend::agreement {

/// The members on which `has` is true, ascending; nothing if one was found dead meanwhile. `self`: this member, among
/// `members`, from 0. One agreement for each 31 members. Collective; the same for all.
std::optional<std::vector<int>> members_with(Agreement& agreement, int self, int members, bool has);

}  // namespace mend::agreement
