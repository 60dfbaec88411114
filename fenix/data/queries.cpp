// Queries about groups, and the attributes of members. All functions are local.

#include "fenix/data/call.hpp"
#include "transport/mpi.hpp"

#include <limits>

namespace {

using namespace mend::fenix;

Refused wrong_attribute(int name) {
  return {FENIX_ERROR_INVALID_ATTRIBUTE_NAME, fmt::format("{} is no attribute of a member", name)};
}

/// Returns an attribute as Fenix does: a type that the program must free, and the size of the whole member.
int get_attribute(const Definition& definition, int name, void* value) {
  switch (name) {
    case FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER: *static_cast<void**>(value) = definition.buffer; return FENIX_SUCCESS;
    case FENIX_DATA_MEMBER_ATTRIBUTE_COUNT:
      *static_cast<int*>(value) = static_cast<int>(definition.count);
      return FENIX_SUCCESS;
    case FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE: {
      auto* const type = static_cast<MPI_Datatype*>(value);
      *type = MPI_DATATYPE_NULL;
      if (definition.datatype.get() == MPI_DATATYPE_NULL)
        throw Refused(FENIX_ERROR_NODATA_FOUND, "this process has taken over a rank, and does not know the type yet");
      mend::check_mpi(MPI_Type_dup(definition.datatype.get(), type), "MPI_Type_dup");
      return FENIX_SUCCESS;
    }
    case FENIX_DATA_MEMBER_ATTRIBUTE_SIZE: {
      const bool has_any = definition.count == FENIX_RESIZEABLE;
      *static_cast<std::size_t*>(value) =
          has_any ? std::numeric_limits<std::size_t>::max() : definition.count * definition.element_bytes;
      return FENIX_SUCCESS;
    }
    default: throw wrong_attribute(name);
  }
}

/// Returns an attribute as the specification of Fenix 1.0 defines it; Fenix 1.0 did not implement it.
int get_attribute_of_1_0(const Definition& definition, int name, void* value) {
  switch (name) {
    case FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE:
      *static_cast<MPI_Datatype*>(value) = definition.datatype.get();
      return FENIX_SUCCESS;
    case FENIX_DATA_MEMBER_ATTRIBUTE_SIZE:
      *static_cast<int*>(value) = static_cast<int>(definition.element_bytes);
      return FENIX_SUCCESS;
    default: return get_attribute(definition, name, value);
  }
}

int set_attribute(int group_id, int member_id, int name, void* value) {
  Definition wanted = member_of(group_of(group_id), member_id);
  switch (name) {
    case FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER: wanted.buffer = value; break;
    case FENIX_DATA_MEMBER_ATTRIBUTE_COUNT: {
      const int count = *static_cast<int*>(value);
      if (count < 0)
        throw Refused(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, fmt::format("a member cannot have {} elements", count));
      wanted.count = static_cast<std::size_t>(count);
      break;
    }
    case FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE: set_type(wanted, *static_cast<MPI_Datatype*>(value)); break;
    default: throw wrong_attribute(name);
  }
  return define_member(group_id, wanted);
}

}  // namespace

int Fenix_Data_group_get_number_of_members(int group_id, int* number_of_members) {
  return local("Fenix_Data_group_get_number_of_members", [&]() -> int {
    *number_of_members = static_cast<int>(group_of(group_id).definitions().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_member_at_position(int group_id, int* member_id, int position) {
  return local("Fenix_Data_group_get_member_at_position", [&]() -> int {
    const auto& members = group_of(group_id).definitions();
    if (position < 0 || static_cast<std::size_t>(position) >= members.size()) return FENIX_ERROR_INVALID_POSITION;
    *member_id = members[static_cast<std::size_t>(position)].id;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots) {
  return local("Fenix_Data_group_get_number_of_snapshots", [&]() -> int {
    *number_of_snapshots = static_cast<int>(group_of(group_id).history().size());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp) {
  return local("Fenix_Data_group_get_snapshot_at_position", [&]() -> int {
    const auto& history = group_of(group_id).history();
    if (position < 0 || static_cast<std::size_t>(position) >= history.size()) return FENIX_ERROR_INVALID_POSITION;
    *time_stamp = history[static_cast<std::size_t>(position)].time_stamp;
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_attr_get(int group_id, int member_id, int attributename, void* attributevalue, int* flag,
                               int source_rank) {
  return local("Fenix_Data_member_attr_get", [&]() -> int {
    if (flag != nullptr) *flag = 0;
    Group& group = group_of(group_id);
    const Definition& definition = member_of(group, member_id);
    if (group.rank_of(source_rank) != state().engine().rank().value) return FENIX_SUCCESS;
    const int code = get_attribute_of_1_0(definition, attributename, attributevalue);
    if (flag != nullptr) *flag = 1;
    return code;
  });
}

int mend_fenix_member_attr_get(int group_id, int member_id, int attributename, void* attributevalue, int* flag) {
  const int code = local("Fenix_Data_member_attr_get", [&]() -> int {
    return get_attribute(member_of(group_of(group_id), member_id), attributename, attributevalue);
  });
  if (flag != nullptr) *flag = code;
  return code;
}

int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  const int code = local("Fenix_Data_member_attr_set",
                         [&]() -> int { return set_attribute(group_id, member_id, attribute_name, attribute_value); });
  if (flag != nullptr) *flag = code;
  return code;
}

int Fenix_Data_snapshot_delete(int group_id, int time_stamp) {
  return local("Fenix_Data_snapshot_delete", [&]() -> int {
    if (!group_of(group_id).forget(time_stamp)) {
      throw Refused(FENIX_ERROR_INVALID_TIMESTAMP, fmt::format("there is no snapshot with time stamp {}", time_stamp));
    }
    return FENIX_SUCCESS;
  });
}
