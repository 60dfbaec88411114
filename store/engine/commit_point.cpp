#include "store/engine/commit_point.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/user_text.hpp"
#include "transport/collectives.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace mend {

void vote_on_commit(const CommitUnderWay& commit, const EpochRanks& ranks) {
  for (MemberGroup* group : commit.groups) group->finish_commit(commit.version);
  reach("commit.vote");
  if (!ranks.ballot->vote(agreement::Proposal::commit, commit.problem == nullptr)) refuse_commit(ranks, commit.problem);
}

void publish_commit(const CommitUnderWay& commit, const EpochRanks& ranks, MemberGroups& groups,
                    KnownVersions& versions) {
  reach("commit.publish");
  for (MemberGroup* group : commit.groups) group->publish_commit(commit.version);
  groups.forget_old(commit.version);
  if (versions.committed_by() != ranks.count()) groups.forget_older(commit.version);
  versions.committed(commit.version, ranks.count());
}

void refuse_commit(const EpochRanks& ranks, std::exception_ptr problem) {
  const std::optional<int> first = lowest_rank_with(ranks.comm, problem != nullptr);
  std::string text;
  int is_mistake = 0;
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const UsageError& error) {
    text = text_of(error);
    is_mistake = 1;
  } catch (const std::exception& error) {
    text = text_of(error);
  } catch (...) {
    text = "it threw an object that is not a std::exception";
  }
  call_mpi([&] { return MPI_Bcast(&is_mistake, 1, MPI_INT, first.value(), ranks.comm); }, "MPI_Bcast");
  broadcast_bytes(ranks.comm, first.value(), text);
  if (problem) throw AgreedProblem{problem};
  if (is_mistake != 0) throw UsageErrorOfRank(first.value(), text);
  throw RefusedCommit(
      fmt::format("nothing was committed, because rank {} could not pack its members: {}", first.value(), text));
}

}  // namespace mend
