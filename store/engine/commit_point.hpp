// The commit point: the moment at which a commit takes effect on all ranks, or on none.
//
// Before it, the snapshots and parities of the new version are in their slots but have no effect; after a failure,
// restores use the previous version. Then all ranks vote:
//
//   exchange --> vote --accepted--> publish_commit(): restores see the new version
//                     \-rejected--> refuse_commit(): the previous version stays the newest, on all ranks
//
// A rank that dies between the vote and its publication does no harm: the others know the same result, and report
// the version to a newcomer when the newcomer is restored.

#pragma once

#include "base/ids.hpp"
#include "store/engine/epoch_ranks.hpp"
#include "store/placement/member_groups.hpp"
#include "store/versions/known_versions.hpp"

#include <cstdint>
#include <exception>
#include <vector>

namespace mend {

/// A commit between its beginning and the commit point.
struct CommitUnderWay {
  Version version;
  std::vector<MemberGroup*> groups;  ///< those that were in use when the commit began
  std::exception_ptr problem;        ///< the reason why this rank could not pack its members
  bool is_requested = false;         ///< from outside: it goes to disk, if there is one, and is waited for
  std::uint64_t layout = 0;          ///< of the members: changes when one is added or changes its shape
};

/// Completes the exchange of a commit, and votes on it. Returns if the commit is accepted. Collective. Throws
/// as refuse_commit if it is rejected, and ProcessFailure.
void vote_on_commit(const CommitUnderWay& commit, const EpochRanks& ranks);

/// Publishes the version of a commit that was accepted: from now on restores use it. Frees the versions that it
/// supersedes. Local; on all ranks.
void publish_commit(const CommitUnderWay& commit, const EpochRanks& ranks, MemberGroups& groups,
                    KnownVersions& versions);

/// Ends a commit that was refused. Throws AgreedProblem on a rank that has a `problem`. On the others: UsageErrorOfRank
/// if the problem of the first rank that has one is a UsageError, otherwise RefusedCommit; both with that rank
/// and its text. At least one rank must have a problem. Collective.
[[noreturn]] void refuse_commit(const EpochRanks& ranks, std::exception_ptr problem);

}  // namespace mend
