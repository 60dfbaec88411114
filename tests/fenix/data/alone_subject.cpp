// A member of rank 0 alone, beside one of all ranks. Rank 2 of 4 dies, and a spare takes over: it does not know the
// member of rank 0, so that it can store all members that it has.

#include <fenix.hpp>

#include "play.hpp"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
enum Member { own, common };

MPI_Comm comm = MPI_COMM_NULL;
int mine = 0;
int value = 0;

void commit() {
  data::group_create(group, {.depth = 1});
  mine = 42;
  value = 100 + rank;
  if (rank == 0) data::member_create(group, own, &mine, 1, MPI_INT);
  data::member_create(group, common, &value, 1, MPI_INT);
  data::checkpoint(group, data::SUBSET_FULL);
}

void check(bool /*takes_over*/) {
  data::group_create(group, {.depth = 1});
  CHECK(data::member_created(group, own) == (rank == 0));
  data::member_define(group, common, &value, 1, MPI_INT);
  CHECK(code_of([] { return data::checkpoint(group, data::SUBSET_FULL); }) == FENIX_SUCCESS);
  mine = value = -1;
  CHECK(code_of([] { return data::member_load(group, common, 0); }) == FENIX_SUCCESS && value == 100 + rank);
  if (rank == 0) CHECK(code_of([] { return data::member_load(group, own); }) == FENIX_SUCCESS && mine == 42);
}

}  // namespace

int main(int argc, char** argv) { return play(argc, argv, comm, commit, "committed", check); }
