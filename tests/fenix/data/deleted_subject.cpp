// Members that were deleted since the last commit, two of which were created again: with smaller elements, and as
// before. Then rank 1 of 4 dies, and a spare takes over: all ranks have the members that the survivors have, and the
// data of these alone.

#include <fenix.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "play.hpp"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
enum Member { first, deleted, renewed, again, last };
constexpr int count = 100;

MPI_Comm comm = MPI_COMM_NULL;
std::vector<int> ints(count);
std::vector<double> doubles(count);
std::vector<int> values(count);
int single = 0;

/// As a process does that has taken over a rank.
int define(int member, void* buffer) {
  return code_of([&] { return data::member_define(group, member, buffer, count, MPI_INT); });
}

void commit_and_delete() {
  data::group_create(group, {.depth = 1});
  data::member_create(group, first, values.data(), count, MPI_INT);
  data::member_create(group, deleted, &single, 1, MPI_INT);
  data::member_create(group, renewed, doubles.data(), count, MPI_DOUBLE);
  data::member_create(group, again, values.data(), count, MPI_INT);
  data::member_create(group, last, values.data(), count, MPI_INT);
  std::iota(values.begin(), values.end(), 1000 * rank);
  std::iota(doubles.begin(), doubles.end(), 0.5);
  data::checkpoint(group, data::SUBSET_FULL);
  data::member_delete(group, deleted);
  data::member_delete(group, renewed);
  data::member_delete(group, again);
  data::member_create(group, renewed, ints.data(), count, MPI_INT);
  data::member_create(group, again, ints.data(), count, MPI_INT);
}

bool are_restored(int member) {
  std::ranges::fill(values, -1);
  if (code_of([&] { return data::member_load(group, member); }) != FENIX_SUCCESS) return false;
  for (int i = 0; i < count; ++i) {
    if (values[static_cast<std::size_t>(i)] != 1000 * rank + i) return false;
  }
  return true;
}

void check(bool /*takes_over*/) {
  data::group_create(group, {.depth = 1});
  CHECK(!data::member_created(group, deleted));
  CHECK(data::group_members(group) == std::vector<int>({first, last, renewed, again}));
  for (const int member : {first, last}) CHECK(define(member, values.data()) == FENIX_SUCCESS);
  for (const int member : {renewed, again}) {
    CHECK(define(member, ints.data()) == FENIX_SUCCESS);
    CHECK(code_of([&] { return data::member_load(group, member); }) == FENIX_ERROR_NODATA_FOUND);
  }
  // A part of the member is stored, beside others that are as they were.
  std::iota(ints.begin(), ints.end(), rank);
  data::member_store(group, renewed, fenix::DataSubset(9));
  data::commit(group);
  CHECK(are_restored(first) && are_restored(last));
  std::ranges::fill(ints, -1);
  CHECK(code_of([] { return data::member_load(group, renewed); }) == FENIX_SUCCESS);
  CHECK(ints[0] == rank && ints[9] == rank + 9 && ints[10] == -1);
  CHECK(code_of([] { return data::checkpoint(group, data::SUBSET_FULL); }) == FENIX_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) { return play(argc, argv, comm, commit_and_delete, "deleted", check); }
