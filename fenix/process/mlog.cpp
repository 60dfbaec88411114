// Message logs. They come with the replay protocol; until then each function refuses in one sentence.

#include "base/telemetry/log.hpp"
#include "fenix/fenix.h"

#include <fmt/format.h>

namespace {

int refuse(const char* function) {
  mend::log::warn(fmt::format("{}: mend has no message logs yet; roll back to a commit instead", function));
  return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE;
}

}  // namespace

int Fenix_Mlog_create(int /*mlog_id*/, MPI_Comm* /*comm*/, int /*depth*/) { return refuse("Fenix_Mlog_create"); }
int Fenix_Mlog_activate(int /*mlog_id*/) { return refuse("Fenix_Mlog_activate"); }
int Fenix_Mlog_active(int* /*mlog_id*/) { return refuse("Fenix_Mlog_active"); }
int Fenix_Mlog_begin_region(int /*mlog_id*/, int /*region_id*/) { return refuse("Fenix_Mlog_begin_region"); }
int Fenix_Mlog_activate_region(int /*mlog_id*/, int /*region_id*/) { return refuse("Fenix_Mlog_activate_region"); }
int Fenix_Mlog_sync(int /*mlog_id*/, int /*region_id*/) { return refuse("Fenix_Mlog_sync"); }
int Fenix_Mlog_create_data_member(int /*mlog_id*/, int /*group_id*/, int /*member_id*/) {
  return refuse("Fenix_Mlog_create_data_member");
}
int Fenix_Mlog_define_data_member(int /*mlog_id*/, int /*group_id*/, int /*member_id*/) {
  return refuse("Fenix_Mlog_define_data_member");
}
int Fenix_Mlog_delete(int /*mlog_id*/) { return refuse("Fenix_Mlog_delete"); }
