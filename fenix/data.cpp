// Fenix's functions on data. Those that may recover from a failure hold nothing that needs a destructor, once `guarded`
// has returned: they may be left by longjmp.

#include "base/error.hpp"
#include "fenix/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace {

using namespace mend::fenix;

bool spans_all_ranks(MPI_Comm comm) {
  int result = MPI_UNEQUAL;
  if (comm == MPI_COMM_NULL) return false;
  mend::check_mpi(MPI_Comm_compare(comm, state().engine().world().application.get(), &result), "MPI_Comm_compare");
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

/// Copies what Fenix_Data_group_create takes as policy value.
std::vector<int> policy_value_of(const void* policy_value) {
  const auto* values = static_cast<const int*>(policy_value);
  if (values == nullptr) return {1, 1};
  std::vector<int> copy(values, values + 2);
  if (values[0] == 5) copy.push_back(values[2]);
  return copy;
}

std::unique_ptr<Group> make_group(const GroupSettings& settings) {
  try {
    return std::make_unique<Group>(settings, state().engine());
  } catch (const mend::UsageError& mistake) {
    throw Refused(FENIX_ERROR_GROUP_CREATE, mistake.what());
  }
}

int store(int group_id, int member_id, const Fenix_Data_subset& subset) {
  Group& group = group_of(group_id);
  group.catch_up();
  if (member_id != FENIX_DATA_MEMBER_ALL) {
    const Definition& definition = member_of(group, member_id);
    group.stage(definition, regions_of(subset, definition));
    return FENIX_SUCCESS;
  }
  for (const Definition& definition : group.definitions()) group.stage(definition, regions_of(subset, definition));
  return FENIX_SUCCESS;
}

int commit(int group_id, int* time_stamp) {
  const int committed = group_of(group_id).commit();
  state().engine().note_progress();
  if (time_stamp != nullptr) *time_stamp = committed;
  return FENIX_SUCCESS;
}

/// The member in that snapshot; null if it was never stored before that.
const Elements* elements_of(const Group& group, int member_id, int time_stamp) {
  const FenixSnapshot* snapshot = group.snapshot_or_newest(time_stamp);
  if (snapshot == nullptr) return nullptr;
  const auto found = snapshot->members.find(member_id);
  return found == snapshot->members.end() ? nullptr : found->second.get();
}

/// Hands out what was found, and says whether it is all that was asked for.
int hand_out(Definition& definition, const Elements* elements, void* target, int max_count,
             Fenix_Data_subset* found_data) {
  if (target == nullptr) target = definition.buffer;
  if (target == nullptr) throw Refused(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "there is no buffer to restore to");
  if (definition.buffer == nullptr) definition.buffer = target;
  if (elements == nullptr || elements->known.empty()) return FENIX_ERROR_NODATA_FOUND;
  const std::size_t has = definition.count != FENIX_RESIZEABLE ? definition.count : elements->known.end();
  const std::size_t wanted = max_count > 0 ? std::min(has, static_cast<std::size_t>(max_count)) : has;
  Regions found = copy_elements(*elements, definition.element_bytes, wanted, static_cast<std::byte*>(target));
  const bool complete = found == Regions::first(wanted);
  if (found_data != nullptr) found_data->impl = new Regions(std::move(found));
  return complete ? FENIX_SUCCESS : FENIX_WARNING_PARTIAL_RESTORE;
}

int restore(int group_id, int member_id, void* target, int max_count, int time_stamp, Fenix_Data_subset* found_data) {
  Group& group = group_of(group_id);
  return hand_out(member_of(group, member_id), elements_of(group, member_id, time_stamp), target, max_count,
                  found_data);
}

int restore_from_rank(int group_id, int member_id, void* target, int max_count, int time_stamp,
                      Fenix_Data_subset* found_data, int source_rank) {
  Group& group = group_of(group_id);
  group.catch_up();
  const int ranks = state().engine().world().roster.size();
  const bool exists = source_rank >= 0 && source_rank < ranks;
  // The other ranks wait for this one, whatever is wrong with what it wants.
  const FenixSnapshot* snapshot = group.snapshot_or_newest(time_stamp);
  const bool has = snapshot != nullptr && snapshot->members.contains(member_id);
  const Elements theirs = group.fetch(has ? *snapshot->members.at(member_id) : Elements{}, exists ? source_rank : 0);
  if (!exists) throw Refused(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, fmt::format("there is no rank {}", source_rank));
  Definition as_theirs = member_of(group, member_id);
  as_theirs.count = FENIX_RESIZEABLE;  // it may have another number of elements than here
  return hand_out(as_theirs, &theirs, target, max_count, found_data);
}

Fenix_Request no_request() { return {MPI_REQUEST_NULL, MPI_REQUEST_NULL}; }

}  // namespace

// --- groups and members ----------------------------------------------------------------------------------------

int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag) {
  const Outcome outcome = checked("Fenix_Data_group_create", [&] {
    if (flag != nullptr) *flag = FENIX_SUCCESS;
    if (group_id < 0) throw Refused(FENIX_ERROR_INVALID_GROUPID, "a data group has a number from 0 up");
    auto& groups = state().groups;
    if (!groups.contains(group_id)) {
      if (depth < 0)
        throw Refused(FENIX_ERROR_INVALID_DEPTH, "the depth is the number of older snapshots to keep, from 0 up");
      if (policy_name != FENIX_DATA_POLICY_IN_MEMORY_RAID) {
        throw Refused(FENIX_ERROR_INVALID_POLICY_NAME, "the only policy is FENIX_DATA_POLICY_IN_MEMORY_RAID");
      }
      if (!spans_all_ranks(comm)) {
        throw Refused(FENIX_ERROR_GROUP_CREATE, "a data group is of all ranks: give it the resilient communicator");
      }
      groups[group_id] = make_group({start_time_stamp, depth, policy_name, policy_value_of(policy_value)});
    }
    groups.at(group_id)->catch_up();
    return FENIX_SUCCESS;
  });
  return settle(outcome);
}

int Fenix_Data_group_created(int group_id) { return state().groups.contains(group_id) ? 1 : 0; }

int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return local("Fenix_Data_member_create", [&] {
    Group& group = group_of(group_id);
    if (member_id < 0) throw Refused(FENIX_ERROR_INVALID_MEMBERID, "a member has a number from 0 up");
    if (count < 0) throw Refused(FENIX_ERROR_MEMBER_CREATE, fmt::format("a member cannot have {} elements", count));
    const Definition wanted{member_id, buffer, static_cast<std::size_t>(count), element_size(datatype), datatype};
    const Definition* known = group.find(member_id);
    if (known != nullptr && known->element_bytes != wanted.element_bytes) {
      throw Refused(FENIX_ERROR_MEMBER_CREATE,
                    fmt::format("member {} is there already, with elements of another size", member_id));
    }
    group.define(wanted);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_created(int group_id, int member_id) {
  const auto found = state().groups.find(group_id);
  return found != state().groups.end() && found->second->find(member_id) != nullptr ? 1 : 0;
}

int Fenix_Data_group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag) {
  return local("Fenix_Data_group_get_redundancy_policy", [&] {
    const GroupSettings& settings = group_of(group_id).settings();
    if (policy_name != nullptr) *policy_name = settings.policy_name;
    if (policy_value != nullptr) std::ranges::copy(settings.policy_value, static_cast<int*>(policy_value));
    if (flag != nullptr) *flag = policy_value != nullptr ? 1 : 0;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_delete(int group_id) {
  return local("Fenix_Data_group_delete", [&] {
    group_of(group_id);
    state().groups.erase(group_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_delete(int group_id, int member_id) {
  return local("Fenix_Data_member_delete", [&] {
    Group& group = group_of(group_id);
    member_of(group, member_id);
    group.remove(member_id);
    return FENIX_SUCCESS;
  });
}

// --- store and commit ------------------------------------------------------------------------------------------

int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  const Outcome outcome =
      checked("Fenix_Data_member_store", [&] { return store(group_id, member_id, subset_specifier); });
  return settle(outcome);
}

int Fenix_Data_member_storev(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return Fenix_Data_member_store(group_id, member_id, subset_specifier);
}

int Fenix_Data_member_istore(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                             Fenix_Request* request) {
  *request = no_request();
  return Fenix_Data_member_store(group_id, member_id, subset_specifier);
}

int Fenix_Data_member_istorev(int group_id, int member_id, const Fenix_Data_subset subset_specifier,
                              Fenix_Request* request) {
  return Fenix_Data_member_istore(group_id, member_id, subset_specifier, request);
}

int Fenix_Data_member_stage(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  return Fenix_Data_member_store(group_id, member_id, subset_specifier);
}

int Fenix_Data_wait(Fenix_Request /*request*/) { return FENIX_SUCCESS; }

int Fenix_Data_test(Fenix_Request /*request*/, int* flag) {
  *flag = 1;
  return FENIX_SUCCESS;
}

int Fenix_Data_commit(int group_id, int* time_stamp) {
  const Outcome outcome = checked("Fenix_Data_commit", [&] { return commit(group_id, time_stamp); });
  return settle(outcome);
}

int Fenix_Data_commit_barrier(int group_id, int* time_stamp) {
  const Outcome outcome = checked("Fenix_Data_commit_barrier", [&] { return commit(group_id, time_stamp); });
  return settle(outcome);
}

int Fenix_Data_barrier(int group_id) {
  const Outcome outcome = checked("Fenix_Data_barrier", [&] {
    group_of(group_id).catch_up();
    state().engine().ballot().vote(mend::agreement::Motion::flag, true);
    return FENIX_SUCCESS;
  });
  return settle(outcome);
}

// --- restore ---------------------------------------------------------------------------------------------------

int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data) {
  const Outcome outcome = checked("Fenix_Data_member_restore", [&] {
    group_of(group_id).catch_up();
    return restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data);
  });
  return settle(outcome);
}

int Fenix_Data_member_lrestore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                               Fenix_Data_subset* found_data) {
  return local("Fenix_Data_member_lrestore",
               [&] { return restore(group_id, member_id, target_buffer, max_count, time_stamp, found_data); });
}

int Fenix_Data_member_restore_from_rank(int member_id, void* target_buffer, int max_count, int time_stamp, int group_id,
                                        int source_rank) {
  const Outcome outcome = checked("Fenix_Data_member_restore_from_rank", [&] {
    return restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, nullptr, source_rank);
  });
  return settle(outcome);
}

int Fenix_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        Fenix_Data_subset* found_data, int source_rank) {
  const Outcome outcome = checked("Fenix_Data_member_restore_from_rank", [&] {
    return restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, found_data, source_rank);
  });
  return settle(outcome);
}
