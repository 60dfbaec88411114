// Fenix's functions on message logs. A function that may recover from a failure holds no object with a destructor after
// `checked` has returned, because longjmp may leave it.

#include "fenix/data/call.hpp"
#include "fenix/mlog/message_logs.hpp"

#include <cstddef>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace {

using namespace mend::fenix;

/// A stream serializer, like those of members of data groups.
void serialize(int mlog_id, std::iostream& stream, int direction, int count) {
  if (direction == FENIX_SERIALIZE) {
    if (count != FENIX_RESIZEABLE)
      throw Refused(FENIX_ERROR_INVALID_SUBSET,
                    fmt::format("message log {} is stored whole: give FENIX_DATA_SUBSET_FULL", mlog_id));
    const std::vector<std::byte> bytes = message_logs().write(mlog_id);
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Refused(FENIX_ERROR_MEMBER_CREATE,
                    fmt::format("message log {} has 2 GiB or more: give it a smaller depth", mlog_id));
    }
    stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return;
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  stream.read(reinterpret_cast<char*>(bytes.data()), count);
  message_logs().read(mlog_id, bytes);
}

int define_member_of(const char* function, int mlog_id, int group_id, int member_id) {
  return local(function, [&]() -> int {
    message_logs().require_known(mlog_id);
    Definition wanted = definition_of(member_id, nullptr, FENIX_RESIZEABLE, MPI_BYTE);
    wanted.serializer = std::make_shared<const ::fenix::data::SerializeFunc>(
        [mlog_id](std::iostream& stream, int direction, void* /*buffer*/, int /*offset*/, int count) {
          serialize(mlog_id, stream, direction, count);
        });
    return define_member(group_id, wanted);
  });
}

}  // namespace

int Fenix_Mlog_create(int mlog_id, MPI_Comm* comm, int depth) {
  return local("Fenix_Mlog_create", [&]() -> int {
    if (message_logs().contains(mlog_id)) return FENIX_ERROR_MLOG_EXISTS;  // repeated after a longjmp, which is correct
    message_logs().create(mlog_id, comm, depth);
    return FENIX_SUCCESS;
  });
}

int Fenix_Mlog_activate(int mlog_id) {
  return local("Fenix_Mlog_activate", [&]() -> int {
    message_logs().activate(mlog_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Mlog_active(int* mlog_id) {
  return local("Fenix_Mlog_active", [&]() -> int {
    *mlog_id = message_logs().active();
    return FENIX_SUCCESS;
  });
}

int Fenix_Mlog_begin_region(int mlog_id, int region_id) {
  return local("Fenix_Mlog_begin_region", [&]() -> int {
    message_logs().begin_region(mlog_id, region_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Mlog_activate_region(int mlog_id, int region_id) {
  return local("Fenix_Mlog_activate_region", [&]() -> int {
    message_logs().activate(FENIX_MLOG_NONE);
    message_logs().begin_region(mlog_id, region_id);
    message_logs().activate(mlog_id);
    return FENIX_SUCCESS;
  });
}

int Fenix_Mlog_sync(int mlog_id, int region_id) {
  const Outcome outcome = checked("Fenix_Mlog_sync", [&]() -> int {
    message_logs().sync(mlog_id, region_id);
    return FENIX_SUCCESS;
  });
  return settle(outcome);
}

int Fenix_Mlog_create_data_member(int mlog_id, int group_id, int member_id) {
  return define_member_of("Fenix_Mlog_create_data_member", mlog_id, group_id, member_id);
}

int Fenix_Mlog_define_data_member(int mlog_id, int group_id, int member_id) {
  return define_member_of("Fenix_Mlog_define_data_member", mlog_id, group_id, member_id);
}

int Fenix_Mlog_delete(int mlog_id) {
  return local("Fenix_Mlog_delete", [&]() -> int {
    message_logs().remove(mlog_id);
    return FENIX_SUCCESS;
  });
}
