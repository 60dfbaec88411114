// How members come to be.

#include "fenix/data/call.hpp"

namespace mend::fenix {

Definition definition_of(int member_id, void* buffer, int count, MPI_Datatype datatype) {
  if (member_id < 0) throw Refused(FENIX_ERROR_INVALID_MEMBERID, "a member has a number from 0 up");
  if (count < 0) throw Refused(FENIX_ERROR_MEMBER_CREATE, fmt::format("a member cannot have {} elements", count));
  return {member_id, buffer, static_cast<std::size_t>(count), element_size(datatype), datatype};
}

int define_member(int group_id, const Definition& wanted) {
  Group& group = group_of(group_id);
  require_closed(group, wanted.id);
  const Definition* known = group.find(wanted.id);
  if (known != nullptr && known->element_bytes != wanted.element_bytes) {
    throw Refused(FENIX_ERROR_MEMBER_CREATE,
                  fmt::format("member {} is there already, with elements of another size", wanted.id));
  }
  group.define(wanted);
  return FENIX_SUCCESS;
}

}  // namespace mend::fenix

namespace {

using namespace mend::fenix;

/// A member that has a serializer keeps it.
int define_plain(const char* function, int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return local(function, [&]() -> int {
    Definition wanted = definition_of(member_id, buffer, count, datatype);
    if (const Definition* known = group_of(group_id).find(member_id)) wanted.serializer = known->serializer;
    return define_member(group_id, wanted);
  });
}

int define_with(const char* function, int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                Fenix_Serialize_file_fn serializer, void* context) {
  return local(function, [&]() -> int {
    Definition wanted = definition_of(member_id, buffer, count, datatype);
    if (serializer != nullptr) {
      wanted.serializer = std::make_shared<::fenix::data::SerializeFunc>(
          [=](std::FILE* file, int direction, void* elements, int offset, int number) {
            serializer(file, direction, elements, offset, number, context);
          });
    }
    return define_member(group_id, wanted);
  });
}

}  // namespace

int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return define_plain("Fenix_Data_member_create", group_id, member_id, buffer, count, datatype);
}

int Fenix_Data_member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return define_plain("Fenix_Data_member_define", group_id, member_id, buffer, count, datatype);
}

int Fenix_Data_member_fcreate(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* context) {
  return define_with("Fenix_Data_member_fcreate", group_id, member_id, buffer, count, datatype, serializer, context);
}

int Fenix_Data_member_fdefine(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* context) {
  return define_with("Fenix_Data_member_fdefine", group_id, member_id, buffer, count, datatype, serializer, context);
}
