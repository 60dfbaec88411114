// Two groups that ranks commit in another order, and after a failure create in another order: all ranks are told, and
// none gets the data of the other group. On 4 ranks, of which rank 1 dies.

#include <fenix.hpp>

#include "play.hpp"

namespace {

namespace data = fenix::data;

enum Group { first, second };
constexpr int member = 5;

MPI_Comm comm = MPI_COMM_NULL;
int values[2] = {-1, -1};

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

int main(int argc, char** argv) { return play(argc, argv, comm, commit, "committed", check); }
