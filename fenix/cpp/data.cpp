// Fenix's functions on data, in C++.

#include "fenix/cpp/code.hpp"
#include "fenix/data/call.hpp"
#include "fenix/fenix.hpp"

#include <utility>

using mend::fenix::require;

namespace fenix::data {
namespace {

/// Returns the subset in its form for C, for the duration of a call.
Fenix_Data_subset shell_of(const DataSubset& subset) { return {const_cast<DataSubset*>(&subset)}; }

/// Calls a function that may return a subset in `found`.
template <class Call>
int with_found(DataSubset& found, const char* function, const Call& call) {
  Fenix_Data_subset shell{nullptr};
  const int code = require(call(&shell), function);
  if (shell.impl != nullptr) {
    found = *static_cast<const DataSubset*>(shell.impl);
    Fenix_Data_subset_delete(&shell);
  }
  return code;
}

/// Returns null for an empty function of any type: it removes the serializer.
std::shared_ptr<const SerializeFunc> shared(SerializeFunc serializer) {
  const bool holds = std::visit([](const auto& function) { return static_cast<bool>(function); }, serializer);
  return holds ? std::make_shared<const SerializeFunc>(std::move(serializer)) : nullptr;
}

using Defining = int(int group_id, const mend::fenix::Definition& wanted);

int define(const char* function, Defining* defining, int group_id, int member_id, void* buffer, int count,
           MPI_Datatype datatype, SerializeFunc serializer) {
  return require(mend::fenix::local(function,
                                    [&]() -> int {
                                      auto wanted = mend::fenix::definition_of(member_id, buffer, count, datatype);
                                      wanted.serializer = shared(std::move(serializer));
                                      return defining(group_id, wanted);
                                    }),
                 function);
}

}  // namespace

// --- groups ----------------------------------------------------------------------------------------------------

int group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name, void* policy_value,
                 int* flag) {
  return require(Fenix_Data_group_create(group_id, comm, start_time_stamp, depth, policy_name, policy_value, flag),
                 "group_create");
}

int group_create(int group_id, GroupCreateArgs args) {
  const auto& now = mend::fenix::state();
  if (args.comm == MPI_COMM_NULL && now.active) args.comm = now.job->engine().epoch_state().application.get();
  return group_create(group_id, args.comm, args.start_time_stamp, args.depth, args.policy_name, args.policy_value,
                      args.flag);
}

bool group_created(int group_id) { return Fenix_Data_group_created(group_id) != 0; }

std::optional<std::vector<int>> group_members(int group_id) {
  if (!group_created(group_id)) return std::nullopt;
  std::vector<int> members;
  for (const auto& definition : mend::fenix::group_of(group_id).definitions()) members.push_back(definition.id);
  return members;
}

std::optional<std::vector<int>> group_snapshots(int group_id) {
  if (!group_created(group_id)) return std::nullopt;
  std::vector<int> time_stamps;
  for (const auto& snapshot : mend::fenix::group_of(group_id).history()) time_stamps.push_back(snapshot.time_stamp);
  return time_stamps;
}

MPI_Group group_cohort(int group_id) {
  MPI_Group cohort = MPI_GROUP_NULL;
  require(Fenix_Data_group_get_cohort(group_id, &cohort), "group_cohort");
  return cohort;
}

int group_delete(int group_id) { return require(Fenix_Data_group_delete(group_id), "group_delete"); }
int snapshot_delete(int group_id, int time_stamp) {
  return require(Fenix_Data_snapshot_delete(group_id, time_stamp), "snapshot_delete");
}

// --- members ---------------------------------------------------------------------------------------------------

int member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return require(Fenix_Data_member_create(group_id, member_id, buffer, count, datatype), "member_create");
}
int member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                  SerializeFunc serializer) {
  return define("member_create", &mend::fenix::create_member, group_id, member_id, buffer, count, datatype,
                std::move(serializer));
}
int member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return require(Fenix_Data_member_define(group_id, member_id, buffer, count, datatype), "member_define");
}
int member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                  SerializeFunc serializer) {
  return define("member_define", &mend::fenix::define_member, group_id, member_id, buffer, count, datatype,
                std::move(serializer));
}
bool member_created(int group_id, int member_id) { return Fenix_Data_member_created(group_id, member_id) != 0; }
int member_attr_set(int group_id, int member_id, int attribute, void* value, int* flag) {
  return require(Fenix_Data_member_attr_set(group_id, member_id, attribute, value, flag), "member_attr_set");
}
int member_attr_get(int group_id, int member_id, int attribute, void* value, int* flag) {
  return require(mend_fenix_member_attr_get(group_id, member_id, attribute, value, flag), "member_attr_get");
}
int member_delete(int group_id, int member_id) {
  return require(Fenix_Data_member_delete(group_id, member_id), "member_delete");
}

// --- stage, store, commit --------------------------------------------------------------------------------------

int member_stage(int group_id, int member_id, const DataSubset& subset) {
  return require(Fenix_Data_member_stage(group_id, member_id, shell_of(subset)), "member_stage");
}
int member_stage_inplace(int group_id, int member_id, void* buffer, const DataSubset& subset) {
  return require(Fenix_Data_member_stage_inplace(group_id, member_id, buffer, shell_of(subset)),
                 "member_stage_inplace");
}
int member_stage_begin(int group_id, int member_id, FILE** file) {
  return require(Fenix_Data_member_stage_begin(group_id, member_id, file), "member_stage_begin");
}
int member_stage_begin(int group_id, int member_id, std::iostream** stream) {
  const int code = mend::fenix::local("member_stage_begin", [&]() -> int {
    auto& open = mend::fenix::open_to_stage(group_id, member_id);
    open.stream = std::make_unique<mend::fenix::MemoryStream>(mend::fenix::Bytes{});
    *stream = &open.stream->stream();
    return FENIX_SUCCESS;
  });
  return require(code, "member_stage_begin");
}
int member_stage_end(int group_id, int member_id) {
  return require(Fenix_Data_member_stage_end(group_id, member_id), "member_stage_end");
}
int member_store(int group_id, int member_id, const DataSubset& subset) {
  return require(Fenix_Data_member_store(group_id, member_id, shell_of(subset)), "member_store");
}
int member_storev(int group_id, int member_id, const DataSubset& subset) {
  return require(Fenix_Data_member_storev(group_id, member_id, shell_of(subset)), "member_storev");
}
int member_istore(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request) {
  return require(Fenix_Data_member_istore(group_id, member_id, shell_of(subset), request), "member_istore");
}
int member_istorev(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request) {
  return require(Fenix_Data_member_istorev(group_id, member_id, shell_of(subset), request), "member_istorev");
}
int commit(int group_id, int* time_stamp) { return require(Fenix_Data_commit(group_id, time_stamp), "commit"); }
int commit_barrier(int group_id, int* time_stamp) {
  return require(Fenix_Data_commit_barrier(group_id, time_stamp), "commit_barrier");
}
int checkpoint(int group_id, const DataSubset& subset, const std::vector<int>& storev_ids, int* time_stamp) {
  return require(Fenix_Data_checkpoint(group_id, shell_of(subset), static_cast<int>(storev_ids.size()),
                                       const_cast<int*>(storev_ids.data()), time_stamp),
                 "checkpoint");
}
int checkpointv(int group_id, const DataSubset& subset, int* time_stamp) {
  return require(Fenix_Data_checkpoint(group_id, shell_of(subset), FENIX_STOREV_ALL, nullptr, time_stamp),
                 "checkpointv");
}

// --- load, restore ---------------------------------------------------------------------------------------------

int member_repair(int group_id, int member_id) {
  return require(Fenix_Data_member_repair(group_id, member_id), "member_repair");
}
int member_load(int group_id, int member_id, int time_stamp, DataSubset& data_found) {
  return with_found(data_found, "member_load", [&](Fenix_Data_subset* found) {
    return Fenix_Data_member_load(group_id, member_id, time_stamp, found);
  });
}
int member_load(int group_id, int member_id, void* target, int target_count, int time_stamp, DataSubset& data_found) {
  return with_found(data_found, "member_load", [&](Fenix_Data_subset* found) {
    return Fenix_Data_member_load_to(group_id, member_id, target, target_count, time_stamp, found);
  });
}
int member_load_begin(int group_id, int member_id, FILE** file, int time_stamp, DataSubset& data_found) {
  return with_found(data_found, "member_load_begin", [&](Fenix_Data_subset* found) {
    return Fenix_Data_member_load_begin(group_id, member_id, file, time_stamp, found);
  });
}
int member_load_begin(int group_id, int member_id, std::iostream** stream, int time_stamp, DataSubset& data_found) {
  const int code = mend::fenix::local("member_load_begin", [&]() -> int {
    const auto [open, found] = mend::fenix::open_to_load(group_id, member_id, time_stamp);
    open.stream = std::make_unique<mend::fenix::MemoryStream>(mend::fenix::copy_of(found.elements->bytes));
    *stream = &open.stream->stream();
    data_found = mend::fenix::subset_of(found.which);
    return FENIX_SUCCESS;
  });
  return require(code, "member_load_begin");
}
int member_load_end(int group_id, int member_id) {
  return require(Fenix_Data_member_load_end(group_id, member_id), "member_load_end");
}
int member_restore(int group_id, int member_id, void* target_buffer, int max_length, int time_stamp,
                   DataSubset& data_found) {
  return with_found(data_found, "member_restore", [&](Fenix_Data_subset* found) {
    return Fenix_Data_member_restore(group_id, member_id, target_buffer, max_length, time_stamp, found);
  });
}
int member_lrestore(int group_id, int member_id, void* target_buffer, int max_length, int time_stamp,
                    DataSubset& data_found) {
  return with_found(data_found, "member_lrestore", [&](Fenix_Data_subset* found) {
    return Fenix_Data_member_lrestore(group_id, member_id, target_buffer, max_length, time_stamp, found);
  });
}

}  // namespace fenix::data
