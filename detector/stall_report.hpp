// Who waits for whom: the sentence for the user. Pure.

#pragma once

#include "detector/stall_message.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mend::detector {

/// What the processes of a job have said; nothing of one that has not answered.
using Answers = std::map<ProcessId, std::optional<Whereabouts>>;

/// A rank that waits longer than the others.
struct LongestWait {
  ProcessId process;
  Whereabouts where;
};

/// Whether a rank is there, in a call of mend's.
bool waits_as_rank(const Whereabouts& where);

/// The one that waits in a call of mend's for longest, if a rank does.
std::optional<LongestWait> find_longest_wait(const Answers& answers);

/// Says who waits where for how long and who has not come: "rank 1 waits in commit() since 10 s; ranks 0, 2, 3 have not
/// come". If ranks wait in different calls, says which are where. Empty when all ranks have come to the same.
std::string describe_stall(const Answers& answers);

/// "rank 3", "ranks 0, 2-5". `ranks`: ascending, not empty.
std::string name_ranks(const std::vector<Rank>& ranks);

}  // namespace mend::detector
