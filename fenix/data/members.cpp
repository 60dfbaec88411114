// Creation and definition of members.

#include "fenix/data/call.hpp"
#include "fenix/process/settings.hpp"
#include "transport/mpi.hpp"

namespace mend::fenix {
namespace {

/// Returns true for a predefined type of MPI, which must not be freed.
bool is_named(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  check_mpi(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  return combiner == MPI_COMBINER_NAMED;
}

void free_type(const MPI_Datatype* type) {
  const std::unique_ptr<const MPI_Datatype> owner(type);
  MPI_Datatype freed = *type;
  if (!is_mpi_finalised()) MPI_Type_free(&freed);
}

/// In Fenix, a member with data keeps its number of elements and their size. Programs for Fenix 1.0 may change the
/// number of elements.
void require_same_shape(const Group& group, const Definition& known, const Definition& wanted) {
  if (!group.has_data(known.id)) return;
  if (known.element_bytes != wanted.element_bytes) {
    throw Refused(
        FENIX_ERROR_INVALID_LOGIC_CALL,
        fmt::format("member {} has data, and keeps the size of its elements: delete it and create it anew", known.id));
  }
  if (known.count != wanted.count && !settings().accumulates_snapshots) {
    throw Refused(FENIX_ERROR_INVALID_LOGIC_CALL,
                  fmt::format("member {} has data, and keeps its number of elements: create it with FENIX_RESIZEABLE "
                              "if that changes",
                              known.id));
  }
}

}  // namespace

ElementType::ElementType(MPI_Datatype type) : named_(type) {
  if (type == MPI_DATATYPE_NULL || is_named(type)) return;
  auto own = std::make_unique<MPI_Datatype>(MPI_DATATYPE_NULL);
  check_mpi(MPI_Type_dup(type, own.get()), "MPI_Type_dup");
  own_ = {own.release(), &free_type};
}

Definition definition_of(int member_id, void* buffer, int count, MPI_Datatype datatype) {
  if (member_id == FENIX_DATA_MEMBER_ALL)
    throw Refused(FENIX_ERROR_INVALID_MEMBERID, "no member has the number -1, which stands for all");
  if (count < 0) throw Refused(FENIX_ERROR_MEMBER_CREATE, fmt::format("a member cannot have {} elements", count));
  Definition definition{member_id, buffer, static_cast<std::size_t>(count)};
  set_type(definition, datatype);
  return definition;
}

int define_member(int group_id, const Definition& wanted) {
  Group& group = group_of(group_id);
  require_closed(group, wanted.id);
  if (const Definition* known = group.find(wanted.id)) require_same_shape(group, *known, wanted);
  group.define(wanted);
  return FENIX_SUCCESS;
}

int create_member(int group_id, const Definition& wanted) {
  const Definition* known = group_of(group_id).find(wanted.id);
  if (known != nullptr && known->element_bytes != wanted.element_bytes) {
    throw Refused(FENIX_ERROR_MEMBER_EXISTS,
                  fmt::format("member {} is there already, with elements of another size", wanted.id));
  }
  return define_member(group_id, wanted);
}

}  // namespace mend::fenix

namespace {

using namespace mend::fenix;

Definition with_serializer(Definition definition, Fenix_Serialize_file_fn serializer, void* context) {
  if (serializer != nullptr) {
    definition.serializer = std::make_shared<::fenix::data::SerializeFunc>(
        [=](std::FILE* file, int direction, void* elements, int offset, int number) {
          serializer(file, direction, elements, offset, number, context);
        });
  }
  return definition;
}

}  // namespace

int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return local("Fenix_Data_member_create",
               [&]() -> int { return create_member(group_id, definition_of(member_id, buffer, count, datatype)); });
}

int Fenix_Data_member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return local("Fenix_Data_member_define",
               [&]() -> int { return define_member(group_id, definition_of(member_id, buffer, count, datatype)); });
}

int Fenix_Data_member_fcreate(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* context) {
  return local("Fenix_Data_member_fcreate", [&]() -> int {
    return create_member(group_id,
                         with_serializer(definition_of(member_id, buffer, count, datatype), serializer, context));
  });
}

int Fenix_Data_member_fdefine(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* context) {
  return local("Fenix_Data_member_fdefine", [&]() -> int {
    return define_member(group_id,
                         with_serializer(definition_of(member_id, buffer, count, datatype), serializer, context));
  });
}
