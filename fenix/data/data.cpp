// Fenix's functions on data. A function that may recover from a failure holds no object with a destructor after
// `guarded` has returned, because longjmp may leave it.

#include "base/error.hpp"
#include "fenix/data/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace {

using namespace mend::fenix;

/// Copies the policy value that Fenix_Data_group_create takes.
std::vector<int> policy_value_of(int policy_name, const void* policy_value) {
  if (policy_name == FENIX_DATA_POLICY_LOCAL) return {};
  const auto* values = static_cast<const int*>(policy_value);
  if (values == nullptr) return {1, state().engine().epoch_state().roster.size() / 2};
  std::vector<int> copy(values, values + 2);
  if (values[0] == 5) copy.push_back(values[2]);
  return copy;
}

std::unique_ptr<Group> make_group(int id, const GroupSettings& settings) {
  try {
    return std::make_unique<Group>(id, settings, state().engine());
  } catch (const mend::UsageError& mistake) {
    throw Refused(FENIX_ERROR_INVALID_POLICY_VALUE, mistake.what());
  }
}

int commit(int group_id, int* time_stamp) {
  const int committed = group_of(group_id).commit();
  state().engine().note_progress();
  if (time_stamp != nullptr) *time_stamp = committed;
  return FENIX_SUCCESS;
}

Fenix_Request no_request() { return {MPI_REQUEST_NULL, MPI_REQUEST_NULL}; }

}  // namespace

// --- groups and members ----------------------------------------------------------------------------------------

int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag) {
  const Outcome outcome = checked("Fenix_Data_group_create", [&]() -> int {
    if (group_id < 0) throw Refused(FENIX_ERROR_INVALID_GROUPID, "a data group has a number from 0 up");
    auto& groups = state().groups;
    std::optional<std::vector<int>> part;
    if (comm != MPI_COMM_SELF || policy_name == FENIX_DATA_POLICY_LOCAL) part = ranks_in(comm);
    if (!part && !groups.contains(group_id)) {
      throw Refused(FENIX_ERROR_GROUP_CREATE,
                    "a data group must be created on the resilient communicator, or on one made from it");
    }
    if (!groups.contains(group_id)) {
      if (start_time_stamp < 0)
        throw Refused(FENIX_ERROR_INVALID_TIMESTART, "the time stamp of the first snapshot is a number from 0 up");
      if (depth < 0)
        throw Refused(FENIX_ERROR_INVALID_DEPTH, "the depth is the number of older snapshots to keep, from 0 up");
      if (policy_name != FENIX_DATA_POLICY_IN_MEMORY_RAID && policy_name != FENIX_DATA_POLICY_LOCAL) {
        throw Refused(FENIX_ERROR_INVALID_POLICY_NAME,
                      "the policies are FENIX_DATA_POLICY_IN_MEMORY_RAID and FENIX_DATA_POLICY_LOCAL");
      }
      groups[group_id] =
          make_group(group_id, {start_time_stamp, depth, policy_name, policy_value_of(policy_name, policy_value)});
    }
    if (part) groups.at(group_id)->span(std::move(*part));
    groups.at(group_id)->catch_up();
    return FENIX_SUCCESS;
  });
  if (flag != nullptr) *flag = outcome.code;
  return settle(outcome);
}

int Fenix_Data_group_created(int group_id) { return state().groups.contains(group_id) ? 1 : 0; }

int Fenix_Data_group_get_cohort(int group_id, MPI_Group* cohort) {
  return local("Fenix_Data_group_get_cohort", [&]() -> int {
    const Group& group = group_of(group_id);
    const bool alone = group.settings().policy_name == FENIX_DATA_POLICY_LOCAL;
    const std::vector<int> ranks = alone ? std::vector{state().engine().rank().value} : group.ranks();
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(state().engine().epoch_state().application.get(), &all);
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), cohort);
    MPI_Group_free(&all);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_created(int group_id, int member_id) {
  const auto found = state().groups.find(group_id);
  return found != state().groups.end() && found->second->find(member_id) != nullptr ? 1 : 0;
}

int Fenix_Data_group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag) {
  const int code = local("Fenix_Data_group_get_redundancy_policy", [&]() -> int {
    const GroupSettings& settings = group_of(group_id).settings();
    if (policy_name != nullptr) *policy_name = settings.policy_name;
    if (policy_value != nullptr) std::ranges::copy(settings.policy_value, static_cast<int*>(policy_value));
    return FENIX_SUCCESS;
  });
  if (flag != nullptr) *flag = code;
  return code;
}

int Fenix_Data_group_delete(int group_id) {
  return local("Fenix_Data_group_delete", [&]() -> int {
    group_of(group_id).finish_copies();
    state().groups.erase(group_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_delete(int group_id, int member_id) {
  return local("Fenix_Data_member_delete", [&]() -> int {
    Group& group = group_of(group_id);
    member_of(group, member_id);
    group.remove(member_id);
    return FENIX_SUCCESS;
  });
}

// --- store and commit ------------------------------------------------------------------------------------------

int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier) {
  const Outcome outcome = checked("Fenix_Data_member_store",
                                  [&]() -> int { return store(group_id, member_id, subset_in(subset_specifier)); });
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

int Fenix_Data_wait(Fenix_Request /*request*/) { return FENIX_SUCCESS; }

int Fenix_Data_test(Fenix_Request /*request*/, int* flag) {
  *flag = 1;
  return FENIX_SUCCESS;
}

int Fenix_Data_commit(int group_id, int* time_stamp) {
  const Outcome outcome = checked("Fenix_Data_commit", [&]() -> int { return commit(group_id, time_stamp); });
  return settle(outcome);
}

int Fenix_Data_commit_barrier(int group_id, int* time_stamp) {
  const Outcome outcome = checked("Fenix_Data_commit_barrier", [&]() -> int { return commit(group_id, time_stamp); });
  return settle(outcome);
}

int Fenix_Data_barrier(int group_id) {
  const Outcome outcome = checked("Fenix_Data_barrier", [&]() -> int {
    group_of(group_id).catch_up();
    state().engine().ballot().vote(mend::agreement::Proposal::flag, true);
    return FENIX_SUCCESS;
  });
  return settle(outcome);
}

int Fenix_Data_checkpoint(int group_id, const Fenix_Data_subset subset_specifier, int /*num_storev*/,
                          int* /*storev_ids*/, int* time_stamp) {
  const Outcome outcome = checked("Fenix_Data_checkpoint", [&]() -> int {
    const int code = store(group_id, FENIX_DATA_MEMBER_ALL, subset_in(subset_specifier));
    return code == FENIX_SUCCESS ? commit(group_id, time_stamp) : code;
  });
  return settle(outcome);
}
