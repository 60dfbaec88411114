#include "fenix/process/slots.hpp"

#include "fenix/process/job.hpp"

#include <algorithm>

namespace mend::fenix {
namespace {

/// Owns a group of MPI.
class OwnedGroup {
 public:
  explicit OwnedGroup(MPI_Group group) : group_(group) {}
  explicit OwnedGroup(MPI_Comm comm) { MPI_Comm_group(comm, &group_); }
  ~OwnedGroup() {
    if (group_ != MPI_GROUP_EMPTY && group_ != MPI_GROUP_NULL) MPI_Group_free(&group_);
  }
  OwnedGroup(const OwnedGroup&) = delete;
  OwnedGroup& operator=(const OwnedGroup&) = delete;

  MPI_Group get() const { return group_; }
  MPI_Group release() { return std::exchange(group_, MPI_GROUP_NULL); }
  int size() const {
    int size = 0;
    MPI_Group_size(group_, &size);
    return size;
  }
  /// Returns the rank here of `rank` of `other`; MPI_UNDEFINED if it is not in this group.
  int rank_of(MPI_Group other, int rank) const {
    int found = MPI_UNDEFINED;
    MPI_Group_translate_ranks(other, 1, &rank, group_, &found);
    return found;
  }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

const Roster& roster() { return state().engine().epoch_state().roster; }
int slot_of(Rank rank) { return roster().seat(rank).origin.value; }

/// Returns the rank that now has the slot of member `index` of `group`; nothing if there is none.
std::optional<int> rank_now(MPI_Group group, int index, const OwnedGroup& ranks, const OwnedGroup& launched) {
  const int alive = ranks.rank_of(group, index);
  if (alive != MPI_UNDEFINED) return alive;
  const int process = launched.rank_of(group, index);
  if (process == MPI_UNDEFINED) return std::nullopt;
  const ProcessId was{static_cast<std::uint32_t>(process)};
  const auto successor = successor_of(was, state().engine().recoveries());
  auto rank = successor ? roster().rank_of(*successor) : std::nullopt;
  const bool died_before = successor == was && !rank;
  if (died_before && state().processes_have_slots) rank = roster().now(Rank{process});
  return rank ? std::optional(rank->value) : std::nullopt;
}

}  // namespace

std::optional<ProcessId> successor_of(ProcessId process, std::span<const RecoveryReport> recoveries) {
  for (const RecoveryReport& recovery : recoveries) {
    const auto replaced = std::ranges::find(recovery.replacements, process, &Replacement::dead);
    if (replaced != recovery.replacements.end()) process = replaced->newcomer;
    if (std::ranges::find(recovery.given_up, process, &LostRank::dead) != recovery.given_up.end()) return std::nullopt;
  }
  return process;
}

std::optional<int> resilient_rank(MPI_Comm comm, int rank) {
  const ErrorsReturned quiet;
  if (comm == MPI_COMM_NULL) return std::nullopt;
  const OwnedGroup part(comm);
  if (part.get() == MPI_GROUP_NULL || rank < 0 || rank >= part.size()) return std::nullopt;
  const int found = OwnedGroup(resilient()).rank_of(part.get(), rank);
  return found == MPI_UNDEFINED ? std::nullopt : std::optional(found);
}

}  // namespace mend::fenix

using namespace mend::fenix;

int Fenix_get_slot() {
  if (!is_active("Fenix_get_slot")) return FENIX_ERROR_UNINITIALIZED;
  return slot_of(state().engine().rank());
}

int Fenix_rank_to_slot(MPI_Comm comm, int rank, int* slot) {
  if (!is_active("Fenix_rank_to_slot")) return FENIX_ERROR_UNINITIALIZED;
  const auto found = resilient_rank(comm, rank);
  *slot = found ? slot_of(mend::Rank{*found}) : MPI_UNDEFINED;
  return FENIX_SUCCESS;
}

int Fenix_slot_to_rank(MPI_Comm comm, int slot, int* rank) {
  if (!is_active("Fenix_slot_to_rank")) return FENIX_ERROR_UNINITIALIZED;
  *rank = MPI_UNDEFINED;
  const auto found = roster().now(mend::Rank{slot});
  if (!found || comm == MPI_COMM_NULL) return FENIX_SUCCESS;
  const mend::ErrorsReturned quiet;
  *rank = OwnedGroup(comm).rank_of(OwnedGroup(resilient()).get(), found->value);
  return FENIX_SUCCESS;
}

int Fenix_repair_group(MPI_Group old_group, MPI_Group* new_group) {
  if (!is_active("Fenix_repair_group")) return FENIX_ERROR_UNINITIALIZED;
  const mend::ErrorsReturned quiet;
  const OwnedGroup ranks(resilient());
  const OwnedGroup launched(MPI_COMM_WORLD);
  int size = 0;
  MPI_Group_size(old_group, &size);
  std::vector<int> members;
  for (int index = 0; index < size; ++index) {
    const auto rank = rank_now(old_group, index, ranks, launched);
    if (rank && std::ranges::find(members, *rank) == members.end()) members.push_back(*rank);
  }
  MPI_Group_incl(ranks.get(), static_cast<int>(members.size()), members.data(), new_group);
  return FENIX_SUCCESS;
}

int Fenix_comm_revoke(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return MPI_ERR_COMM;
  const mend::ErrorsReturned quiet;
  return MPIX_Comm_revoke(comm);
}
