// Who waits for whom: the sentence for the user. Pure.

#pragma once

#include "base/process_set.hpp"
#include "detector/stall/stall_message.hpp"

#include <map>
#include <optional>
#include <string>

namespace mend::detector {

/// What the processes of a job have said; nothing of one that has not answered.
using Answers = std::map<ProcessId, std::optional<Whereabouts>>;

/// A rank that waits longer than the others.
struct LongestWait {
  ProcessId process;
  Whereabouts where;
};

/// Whether a rank is there, in a call of mend's; or it has met a failure, and should be in one.
bool waits_as_rank(const Whereabouts& where);

/// The one of these that is there for longest, if there is one.
std::optional<LongestWait> find_longest_wait(const Answers& answers);

/// Says who waits where for how long and who has not come: "rank 1 waits in commit() since 10 s; ranks 0, 2, 3 have not
/// come". If ranks wait in different calls, says which are where. If ranks have met a failure and none has come to the
/// recovery, says that; `dead`: those who have died. Empty when all ranks have come to the same.
std::string describe_stall(const Answers& answers, const ProcessSet& dead = {});

/// For how long nothing has moved: all ranks are in the body, and none has called mend, or begun or ended an MPI call.
/// Nothing when a rank is elsewhere, or a process has not answered.
std::optional<std::chrono::milliseconds> find_quiet(const Answers& answers);

/// Whether every rank is in a blocking MPI call.
bool are_all_in_mpi(const Answers& answers);

/// "no rank has called mend or ended an MPI call for 60 s: ranks 0, 2 are in MPI_Recv, rank 1 computes". Of ranks of
/// which find_quiet says so.
std::string describe_quiet(const Answers& answers, std::chrono::milliseconds quiet);

}  // namespace mend::detector
