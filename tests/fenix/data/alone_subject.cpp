// A member of rank 0 alone, beside one of all ranks. Rank 2 of 4 dies, and a spare takes over: it does not know the
// member of rank 0, so that it can store all members that it has.

#include <fenix.hpp>

#include <cstdio>

#include "../checks.h"
#include "../die.h"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
enum Member { own, common };

MPI_Comm comm = MPI_COMM_NULL;
int mine = 0;
int value = 0;

template <class Call>
int code_of(const Call& call) {
  try {
    return call();
  } catch (const fenix::RuntimeException& refused) {
    return refused.error;
  }
}

void commit() {
  mine = 42;
  value = 100 + rank;
  if (rank == 0) data::member_create(group, own, &mine, 1, MPI_INT);
  data::member_create(group, common, &value, 1, MPI_INT);
  data::checkpoint(group, data::SUBSET_FULL);
}

void check() {
  CHECK(data::member_created(group, own) == (rank == 0));
  data::member_define(group, common, &value, 1, MPI_INT);
  CHECK(code_of([] { return data::checkpoint(group, data::SUBSET_FULL); }) == FENIX_SUCCESS);
  mine = value = -1;
  CHECK(code_of([] { return data::member_load(group, common, 0); }) == FENIX_SUCCESS && value == 100 + rank);
  if (rank == 0) CHECK(code_of([] { return data::member_load(group, own); }) == FENIX_SUCCESS && mine == 42);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  const bool takes_over = fenix::role() == fenix::RECOVERED_RANK;
  MPI_Comm_rank(comm, &rank);
  try {
    if (takes_over) fenix::throw_exception();
    data::group_create(group, {.depth = 1});
    commit();
    MPI_Barrier(comm);  // all have come so far
    die_at("committed", 0, rank);
    MPI_Barrier(comm);
    CHECK(false);
  } catch (const fenix::CommException&) {
    data::group_create(group, {.depth = 1});
    check();
  }
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
