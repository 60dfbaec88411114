// Message logs, in C++.

#include "fenix/cpp/code.hpp"
#include "fenix/fenix.hpp"

using mend::fenix::require;

namespace fenix::mlog {

int create(int mlog_id, MPI_Comm& comm, int depth) {
  return require(Fenix_Mlog_create(mlog_id, &comm, depth), "create");
}
int activate(int mlog_id) { return require(Fenix_Mlog_activate(mlog_id), "activate"); }
int active() {
  int mlog_id = FENIX_MLOG_NONE;
  if (finalized()) return mlog_id;
  require(Fenix_Mlog_active(&mlog_id), "active");
  return mlog_id;
}
int begin_region(int mlog_id, int region_id) {
  return require(Fenix_Mlog_begin_region(mlog_id, region_id), "begin_region");
}
int activate(int mlog_id, int region_id) { return require(Fenix_Mlog_activate_region(mlog_id, region_id), "activate"); }
int sync(int mlog_id, int region_id) { return require(Fenix_Mlog_sync(mlog_id, region_id), "sync"); }
int create_data_member(int mlog_id, int group_id, int member_id) {
  return require(Fenix_Mlog_create_data_member(mlog_id, group_id, member_id), "create_data_member");
}
int define_data_member(int mlog_id, int group_id, int member_id) {
  return require(Fenix_Mlog_define_data_member(mlog_id, group_id, member_id), "define_data_member");
}
int mlog_delete(int mlog_id) { return require(Fenix_Mlog_delete(mlog_id), "mlog_delete"); }

}  // namespace fenix::mlog
