// Composes the sentence for the user that says which ranks wait for which. Pure.

#pragma once

#include "base/process_set.hpp"
#include "detector/stall/stall_message.hpp"

#include <map>
#include <optional>
#include <string>

namespace mend::detector {

/// The answers of the processes of a job; nothing for a process that has not answered.
using Answers = std::map<ProcessId, std::optional<Whereabouts>>;

/// The rank that waits longest.
struct LongestWait {
  ProcessId process;
  Whereabouts where;
};

/// Returns true if a rank is there, in a call of mend, or has met a failure and should be in one.
bool waits_as_rank(const Whereabouts& where);

/// Returns the answer with the longest wait, if any rank waits.
std::optional<LongestWait> find_longest_wait(const Answers& answers);

/// Returns which ranks wait where and for how long, and which have not come: "rank 1 has waited in commit() for 10 s;
/// ranks 0, 2, 3 have not come". If ranks wait in different calls, names the ranks of each. If ranks have met a failure
/// and none has come to the recovery, says that; `dead`: the processes that have died. Empty if all ranks have come to
/// the same call.
std::string describe_stall(const Answers& answers, const ProcessSet& dead = {});

/// Returns for how long no rank has moved (base/telemetry/activity.hpp), if all are in the body. Returns nothing if a
/// rank is elsewhere, or a process has not answered.
std::optional<std::chrono::milliseconds> find_quiet(const Answers& answers);

/// Returns true if every rank is in a blocking MPI call.
bool are_all_in_mpi(const Answers& answers);

/// Returns "mend has seen no progress in any rank for 60 s: ranks 0, 2 are in MPI_Recv, rank 1 computes". To be called
/// if find_quiet returns a time.
std::string describe_quiet(const Answers& answers, std::chrono::milliseconds quiet);

}  // namespace mend::detector
