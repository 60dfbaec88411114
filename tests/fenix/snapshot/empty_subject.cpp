// What was stored without an element, on 4 ranks of which rank 2 dies: it was stored, so it is found. And what
// functions on data return for arguments that are just wrong.

#include <fenix.hpp>

#include <cstdio>
#include <vector>

#include "../checks.h"
#include "../die.h"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
enum Member { by_subset, by_file, by_count, whole, later };

MPI_Comm comm = MPI_COMM_NULL;

template <class Call>
int code_of(Call call) {
  try {
    return call();
  } catch (const fenix::RuntimeException& refused) {
    return refused.error;
  }
}

/// Ranks 1 and 2 have nothing, as they may in a decomposition of particles.
int own_count() { return rank == 1 || rank == 2 ? 0 : 5; }

std::vector<int> own_values() {
  std::vector<int> values;
  for (int i = 0; i < own_count(); ++i) values.push_back(10 * rank + i);
  return values;
}

fenix::DataSubset own_subset() {
  return own_count() > 0 ? fenix::DataSubset({0, static_cast<std::size_t>(own_count() - 1)}) : data::SUBSET_EMPTY;
}

void commit() {
  static std::vector<int> values;
  values = own_values();
  values.resize(5, -1);
  data::member_create(group, by_subset, values.data(), FENIX_RESIZEABLE, MPI_INT);
  data::member_storev(group, by_subset, own_subset());
  data::member_create(group, by_file, nullptr, FENIX_RESIZEABLE, MPI_INT);
  FILE* file = nullptr;
  data::member_stage_begin(group, by_file, &file);
  std::fwrite(values.data(), sizeof(int), static_cast<std::size_t>(own_count()), file);
  CHECK(code_of([&] { return data::member_load_end(group, by_file); }) == FENIX_ERROR_MEMBER_STAGING);
  data::member_stage_end(group, by_file);
  data::member_storev(group, by_file, data::SUBSET_PRESTAGED);
  data::member_create(group, by_count, values.data(), 5, MPI_INT);
  data::member_storev(group, by_count, own_subset());
  data::member_create(group, whole, values.data(), 5, MPI_INT);
  data::member_store(group, whole, data::SUBSET_FULL);
  data::member_create(group, later, values.data(), 5, MPI_INT);
  data::commit(group);
  CHECK(code_of([] { return data::member_restore(group, later, nullptr, 0); }) == FENIX_ERROR_NODATA_FOUND);
}

void check_member(int member) {
  constexpr int latest = FENIX_DATA_SNAPSHOT_LATEST;
  fenix::DataSubset found({7, 7});
  CHECK(code_of([&] { return data::member_restore(group, member, nullptr, 0, latest, found); }) == FENIX_SUCCESS);
  CHECK(found == own_subset());
  std::vector<int> values(5, -7);
  const int code = code_of([&] { return data::member_lrestore(group, member, values.data(), 5, latest, found); });
  CHECK(code == (own_count() == 5 ? FENIX_SUCCESS : FENIX_WARNING_PARTIAL_RESTORE) && found == own_subset());
  std::vector<int> right = own_values();
  right.resize(5, -7);
  CHECK(values == right);
  CHECK(data::member_load(group, member, values.data(), 5, FENIX_DATA_SNAPSHOT_ALL) == code);
  FILE* file = nullptr;
  CHECK(code_of([&] { return data::member_load_begin(group, member, &file, latest, found); }) == FENIX_SUCCESS);
  CHECK(file != nullptr && std::fread(values.data(), sizeof(int), 5, file) == static_cast<std::size_t>(own_count()));
  CHECK(code_of([&] { return data::member_stage_end(group, member); }) == FENIX_ERROR_MEMBER_LOADING);
  data::member_load_end(group, member);
  CHECK(code_of([&] { return data::member_load_end(group, member); }) == FENIX_ERROR_INVALID_LOGIC_CALL);
  // Rank 1 has stored nothing, rank 3 five elements.
  for (const int source : {1, 3}) {
    values.assign(5, -7);
    const int lent = Fenix_Data_member_restore_from_rank(group, member, values.data(), 5, latest, nullptr, source);
    CHECK(lent == (source == 3 ? FENIX_SUCCESS : FENIX_WARNING_PARTIAL_RESTORE) &&
          values[4] == (source == 3 ? 34 : -7));
  }
}

void check() {
  for (const int member : {by_subset, by_file, by_count}) check_member(member);
  std::vector<int> values(9, -7);
  CHECK(data::member_load(group, whole, values.data(), 9) == FENIX_WARNING_PARTIAL_RESTORE && values[5] == -7);
  CHECK(data::member_load(group, whole, values.data(), FENIX_DATA_RESTORE_FULL) == FENIX_SUCCESS);
  CHECK(code_of([] { return data::member_restore(group, later, nullptr, 0); }) == FENIX_ERROR_NODATA_FOUND);
  // Stored without elements for the next snapshot: the newest has none of them, and all of it is as it was.
  data::member_store(group, whole, data::SUBSET_EMPTY);
  data::commit(group);
  CHECK(data::member_load(group, whole, values.data(), 5, FENIX_DATA_SNAPSHOT_LATEST) == FENIX_WARNING_PARTIAL_RESTORE);
  CHECK(data::member_load(group, whole, values.data(), 5, FENIX_DATA_SNAPSHOT_ALL) == FENIX_SUCCESS);
  const auto load_unstored = [&] {
    return data::member_load(group, by_subset, values.data(), 5, FENIX_DATA_SNAPSHOT_LATEST);
  };
  CHECK(code_of(load_unstored) == FENIX_ERROR_NODATA_FOUND);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  const bool recovers = fenix::role() == fenix::RECOVERED_RANK;
  MPI_Comm_rank(comm, &rank);
  int flag = 0;
  try {
    CHECK(Fenix_Data_group_create(9, comm, -2, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag) ==
          FENIX_ERROR_INVALID_TIMESTART);
    if (recovers) fenix::throw_exception();
    data::group_create(group, {.depth = 1});
    commit();
    die_at("committed", 0, rank);
    MPI_Barrier(comm);
  } catch (const fenix::CommException&) {
    MPI_Comm_rank(comm, &rank);
    data::group_create(group, {.depth = 1});
    check();
  }
  Fenix_Finalize();
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
