// Provides the agreements of a job: by mend's own protocols, or by the MPI library's agreement.
//
// The library's agreement answers late requests from inside any MPI call. mend's protocols answer only inside mend's
// calls (agreement/service.hpp). So before the processes enter a call of the library in which each waits for all
// others, they settle: each process answers until all have returned from the earlier agreements.

#pragma once

#include "agreement/service.hpp"
#include "transport/mpi.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace mend {

class AgreementProvider {
 public:
  /// Uses the MPI library's agreement until found() is called, and then `protocol`, one of mend's. Without a protocol,
  /// always uses the library's.
  explicit AgreementProvider(std::optional<agreement::Protocol> protocol) : protocol_(protocol) {}

  /// Sets up mend's protocol, if there is one, among the living members of `base`, and ends the earlier one. No process
  /// may wait for its answers any more. Collective over these members.
  void found(MPI_Comm base, const std::vector<ProcessId>& members);

  /// Numbers a group. Every process must number all groups of the job, even those that it will not be in.
  agreement::GroupId number_group() { return last_group_ = last_group_.next(); }

  agreement::GroupId last_group() const { return last_group_; }
  /// Continues the numbering in a process that joins later: the others have numbered the groups up to `last`. Local.
  void number_groups_after(agreement::GroupId last) { last_group_ = last; }

  /// Returns the agreement among `members`, which are the processes of `comm` by rank.
  std::unique_ptr<agreement::Agreement> over(agreement::GroupId id, MPI_Comm comm, std::vector<ProcessId> members);

  /// Returns when every living member of `base` has called it, and thus has returned from all earlier agreements.
  void settle(MPI_Comm base);

  /// Forgets groups with smaller numbers: all living processes have returned from an agreement of group `id`.
  void forget_groups_before(agreement::GroupId id);

  /// Answers the requests that have arrived.
  void answer();

  /// Called for each death that an agreement notices while it waits.
  using DeathListener = std::function<void(ProcessId)>;
  void on_death(DeathListener listener);

 private:
  std::optional<agreement::Protocol> protocol_;  // if empty, the library's
  std::unique_ptr<agreement::Service> service_;
  agreement::GroupId last_group_;
  DeathListener listener_;
};

}  // namespace mend
