#include "framework/epoch/epoch_communicators.hpp"

#include "base/fault_point.hpp"
#include "framework/process/hooks/communicator_hooks.hpp"
#include "framework/process/process_context.hpp"
#include "transport/mpi.hpp"

#include <algorithm>
#include <utility>

namespace mend {
namespace {

using Comms = std::vector<MPI_Comm>;

/// An attribute of derived communicators. Its value is the list that they are on. A communicator leaves the list when
/// it is freed, by mend or by the application, or when the attribute is deleted.
int list_attribute() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    const auto leave = [](MPI_Comm comm, int, void* list, void*) {
      std::erase(*static_cast<Comms*>(list), comm);
      return MPI_SUCCESS;
    };
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave, &made, nullptr);
    return made;
  }();
  return keyval;
}

bool has(const Comms& list, MPI_Comm comm) { return std::ranges::find(list, comm) != list.end(); }

void enlist(MPI_Comm comm, Comms& list) {
  MPI_Comm_set_attr(comm, list_attribute(), &list);  // it leaves the list that it was on, which may be this one
  list.push_back(comm);
}

void move_all(Comms& from, Comms& to) {
  for (MPI_Comm comm : Comms(from)) enlist(comm, to);  // leaves the list `from`
}

void free_all(Comms& list) {
  const ErrorsReturned quiet;
  for (MPI_Comm comm : std::exchange(list, {})) MPI_Comm_free(&comm);
}

void release_all(const Comms& list) {
  const ErrorsReturned quiet;
  for (const MPI_Comm comm : Comms(list)) MPI_Comm_delete_attr(comm, list_attribute());
}

}  // namespace

EpochCommunicators::~EpochCommunicators() {
  free_all(derived_);
  free_all(retired_);
  release_all(followed_);
}

void EpochCommunicators::end_epoch() {
  for (MPI_Comm comm : derived_) take_for_outdated(comm);
  for (MPI_Comm comm : followed_) take_for_outdated(comm);
  forget_coming_communicators();
  process_context().persistent_requests.end_epoch();
  free_all(retired_);
  move_all(derived_, retired_);
  release_all(followed_);
  own_ = MPI_COMM_NULL;
  if (epoch_state_.application) take_for_outdated(epoch_state_.application.get());
}

MPI_Comm EpochCommunicators::derive(const std::function<MPI_Comm(MPI_Comm)>& factory) {
  const MPI_Comm made = factory(epoch_state_.application.get());
  if (made != MPI_COMM_NULL && made != epoch_state_.application.get()) {
    throw_errors_of(made);
    enlist(made, derived_);
    if (interrupted_) revoke(made);  // the failure happened while it was made
  }
  return made;
}

void EpochCommunicators::follow(MPI_Comm parent, MPI_Comm made) {
  if (parent == MPI_COMM_NULL || made == MPI_COMM_NULL) return;
  take_for_new(made);
  const bool descends = parent == epoch_state_.application.get() || has(derived_, parent) || has(followed_, parent);
  if (!descends) return;
  enlist(made, followed_);
  if (interrupted_) revoke(made);  // the failure happened while it was made
}

bool EpochCommunicators::keep_freed(MPI_Comm comm) {
  if (!interrupted_) return false;
  if (has(followed_, comm)) enlist(comm, derived_);
  return has(derived_, comm);
}

void EpochCommunicators::take_own(MPI_Comm comm) {
  own_ = comm;
  if (interrupted_) revoke(comm);  // the failure happened while it was made
}

void EpochCommunicators::interrupt() {
  interrupted_ = true;
  reach("recovery.interrupt");
  for (MPI_Comm comm : derived_) revoke(comm);
  for (MPI_Comm comm : followed_) revoke(comm);
  if (own_ != MPI_COMM_NULL) revoke(own_);
  if (epoch_state_.store) revoke(epoch_state_.store.get());
  if (epoch_state_.application) revoke(epoch_state_.application.get());
}

}  // namespace mend
