// How the processes of a job agree: with mend's own protocols, or with the MPI library's agreement.
//
// The library's agreement answers late requests from inside any MPI call. Ours answers only inside mend's calls
// (agreement/service.hpp), so before all go into a call of the library in which each waits for all others, they
// settle: each makes sure that everyone has returned from the agreements so far, and answers until that is so.

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
  /// Agrees with the MPI library's agreement until found() has been called. `protocol`: one of mend's, used from then
  /// on; none: the library's throughout.
  explicit AgreementProvider(std::optional<agreement::Protocol> protocol) : protocol_(protocol) {}

  /// Sets up mend's own protocols, if those are wanted, among the living members of `base`, and forgets those that
  /// were: nobody must wait for an answer of theirs any more. Collective over them.
  void found(MPI_Comm base, const std::vector<ProcessId>& members);

  /// Numbers a group. Every process must number all groups of the job, whether it will be in them or not.
  agreement::GroupId number_group() { return last_group_ = last_group_.next(); }

  agreement::GroupId last_group() const { return last_group_; }
  /// For a process that joins when the others have numbered so many. Local.
  void number_groups_after(agreement::GroupId last) { last_group_ = last; }

  /// Agreement among `members`, who are those of `comm` by rank.
  std::unique_ptr<agreement::Agreement> over(agreement::GroupId id, MPI_Comm comm, std::vector<ProcessId> members);

  /// Returns when every living member of `base` has come here, and thus has returned from all agreements before.
  void settle(MPI_Comm base);

  /// All groups with smaller numbers are over: everyone living has returned from an agreement of group `id`.
  void forget_groups_before(agreement::GroupId id);

  /// Deals with what others have asked in the meantime.
  void answer();

  /// Whom to tell of deaths that an agreement meets while it waits.
  using DeathListener = std::function<void(ProcessId)>;
  void on_death(DeathListener listener);

 private:
  std::optional<agreement::Protocol> protocol_;  // none: the library's
  std::unique_ptr<agreement::Service> service_;
  agreement::GroupId last_group_;
  DeathListener listener_;
};

}  // namespace mend
