// A data group with the local policy on a process that has taken over rank 2 of 4. It stores, and then rank 1 dies: the
// recovery is in place, so what it has stored is still there for the commit. There are two spares.

#include <fenix.hpp>

#include <unistd.h>

#include <cstdio>

#include "../checks.h"
#include "../die.h"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
constexpr int member = 3;
constexpr int log_id = 0;

MPI_Comm comm = MPI_COMM_NULL;
int value = 0;

/// The first failure is met here, and not in place.
void wait_for_the_first_death() {
  bool is_thrown = false;
  try {
    die_at("working", 0, rank);
    MPI_Barrier(comm);
  } catch (const fenix::CommException&) {
    is_thrown = true;
  }
  CHECK(is_thrown);
}

/// Rank 1 dies when rank 2 has stored.
void store() {
  int nothing = 0;
  if (rank == 1 && fenix::nspare() == 1) {
    MPI_Recv(&nothing, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
    die_at("stored", 0, rank);
  }
  if (rank != 2) return;
  value = 42;
  data::member_store(group, member);
  MPI_Send(&nothing, 1, MPI_INT, 1, 0, comm);
}

void wait_for_the_second_death() {
  fenix::mlog::activate(log_id);
  while (fenix::nspare() > 0) {
    CHECK(fenix::detect_failures() == FENIX_SUCCESS);
    ::usleep(1000);
  }
}

void commit() {
  data::commit(group);
  value = 0;
  int code = FENIX_SUCCESS;
  try {
    code = data::member_load(group, member, FENIX_DATA_SNAPSHOT_LATEST);
  } catch (const fenix::RuntimeException& refused) {
    code = refused.error;
  }
  CHECK(code == FENIX_SUCCESS && value == 42);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 2});
  MPI_Comm_rank(comm, &rank);
  fenix::mlog::create(log_id, comm, 2);
  fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE);
  if (fenix::role() == fenix::INITIAL_RANK) wait_for_the_first_death();
  data::group_create(group, {.policy_name = FENIX_DATA_POLICY_LOCAL});
  data::member_define(group, member, &value, 1, MPI_INT);
  store();
  wait_for_the_second_death();
  if (rank == 2) commit();
  fenix::mlog::activate(FENIX_MLOG_NONE);
  int sum = 1;
  CHECK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == 4);
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
