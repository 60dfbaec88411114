// Two groups that ranks commit in another order, and after a failure create in another order: all ranks are told, and
// none gets the data of the other group. On 4 ranks, of which rank 1 dies.

#include <fenix.hpp>

#include <cstdio>

#include "../checks.h"
#include "../die.h"

namespace {

namespace data = fenix::data;

enum Group { first, second };
constexpr int member = 5;

MPI_Comm comm = MPI_COMM_NULL;
int values[2] = {-1, -1};

template <class Call>
int code_of(const Call& call) {
  try {
    return call();
  } catch (const fenix::RuntimeException& refused) {
    return refused.error;
  }
}

int create(int group) {
  return code_of([&] { return data::group_create(group, {.comm = comm}); });
}

int define(int group) {
  return code_of([&] { return data::member_define(group, member, &values[group], 1, MPI_INT); });
}

void commit() {
  for (const int group : {first, second}) {
    CHECK(create(group) == FENIX_SUCCESS && define(group) == FENIX_SUCCESS);
    values[group] = 10 * group + rank;
    data::member_store(group, member);
  }
  CHECK(code_of([] { return data::commit(rank == 0 ? second : first); }) == FENIX_ERROR_INVALID_LOGIC_CALL);
  for (const int group : {first, second}) CHECK(data::commit(group) == FENIX_SUCCESS);
}

void check(bool takes_over) {
  CHECK(create(takes_over ? second : first) == FENIX_ERROR_INVALID_LOGIC_CALL);
  for (const int group : {first, second}) {
    values[group] = -1;
    CHECK(create(group) == FENIX_SUCCESS && define(group) == FENIX_SUCCESS);
    CHECK(code_of([&] { return data::member_restore(group, member); }) == FENIX_SUCCESS);
    CHECK(values[group] == 10 * group + rank);
  }
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
    commit();
    MPI_Barrier(comm);  // all have come so far
    die_at("committed", 0, rank);
    MPI_Barrier(comm);
    CHECK(false);
  } catch (const fenix::CommException&) {
    check(takes_over);
  }
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
