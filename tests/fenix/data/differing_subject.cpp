// What ranks give differently, or a program does that few do: a depth and a first time stamp of which a newcomer knows
// nothing, a store of what was staged where nothing was, a serializer that throws, a list that was emptied, a callback
// that takes itself back, a snapshot that one rank has deleted. On 4 ranks, of which rank 1 dies between two halves, or
// before the first commit; then perhaps another one, for which no spare is left.

#include <fenix.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "../checks.h"
#include "../die.h"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
enum Member { number, unstaged, throwing, list, throwing_counted };
constexpr int commits = 5;

MPI_Comm comm = MPI_COMM_NULL;
int value = 0;
int other = 7;
std::vector<int> listed;
int times_called_back = 0;
int last = 14;  // the time stamp of the last commit of store()
bool has_deleted = false;

void create_group() {
  const bool is_new = fenix::role() == fenix::RECOVERED_RANK;
  int flag = FENIX_SUCCESS;
  CHECK(Fenix_Data_group_create(group + 1, comm, 0, -2, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag) ==
        FENIX_ERROR_INVALID_DEPTH);
  CHECK(flag == FENIX_ERROR_INVALID_DEPTH);
  data::group_create(
      group,
      {.comm = comm, .start_time_stamp = is_new ? 50 : 10, .depth = is_new ? 5 : (rank == 0 ? 1 : 2), .flag = &flag});
  CHECK(flag == FENIX_SUCCESS);
  data::member_define(group, number, &value, 1, MPI_INT);
  data::member_define(group, unstaged, &other, 1, MPI_INT);
  const auto throws = [](FILE*, int, void*, int, int) { throw std::runtime_error("of the program"); };
  data::member_define(group, throwing, nullptr, FENIX_RESIZEABLE, MPI_INT, throws);
  data::member_define(group, throwing_counted, nullptr, 2, MPI_INT, throws);
  data::member_define(group, list, nullptr, FENIX_RESIZEABLE, MPI_INT,
                      [](FILE* file, int direction, void*, int, int count) {
                        if (direction == FENIX_SERIALIZE) {
                          std::fwrite(listed.data(), sizeof(int), listed.size(), file);
                        } else {
                          listed.resize(static_cast<std::size_t>(count));
                          CHECK(std::fread(listed.data(), sizeof(int), listed.size(), file) == listed.size());
                        }
                      });
}

/// Returns true if no snapshot has the member, not even without elements.
bool is_absent(Member member) {
  try {
    return data::member_lrestore(group, member, nullptr, 0) == FENIX_ERROR_NODATA_FOUND;
  } catch (const fenix::RuntimeException& refused) {
    return refused.error == FENIX_ERROR_NODATA_FOUND;
  }
}

/// Returns what the serializer of the member throws.
std::string thrown_by(Member member) {
  try {
    data::member_stage(group, member);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

void store() {
  CHECK(thrown_by(throwing_counted) == "of the program");
  for (int i = 0; i < commits; ++i) {
    value = 100 * i + rank;
    data::member_store(group, number, data::SUBSET_FULL);
    data::member_store(group, unstaged, data::SUBSET_PRESTAGED);
    data::member_store(group, list, data::SUBSET_FULL);
    data::commit(group, &last);
  }
  CHECK(thrown_by(throwing) == "of the program");
  CHECK(is_absent(throwing_counted));
  CHECK(Fenix_Data_subset_delete(nullptr) == FENIX_SUCCESS);
}

/// The newest snapshot has the same time stamp everywhere, and as many older ones are kept as the largest depth says.
void restore() {
  const std::vector<int> time_stamps = *data::group_snapshots(group);
  CHECK((time_stamps == std::vector{last, last - 1, last - 2}));
  value = -1;
  CHECK(data::member_restore(group, number, nullptr, FENIX_DATA_RESTORE_FULL, last - 2) == FENIX_SUCCESS);
  CHECK(value == 200 + rank);
  CHECK(data::member_restore(group, number, nullptr, FENIX_DATA_RESTORE_FULL, last) == FENIX_SUCCESS);
  CHECK(value == 400 + rank);
  fenix::DataSubset found({0, 0});
  CHECK(data::member_restore(group, unstaged, nullptr, 0, FENIX_DATA_SNAPSHOT_LATEST, found) == FENIX_SUCCESS);
  CHECK(found.empty());
  listed = {1, 2, 3};
  CHECK(data::member_restore(group, list) == FENIX_SUCCESS);
  CHECK(listed.empty());
  int time_stamp = 0;
  data::member_store(group, number, data::SUBSET_FULL);
  CHECK(data::commit(group, &time_stamp) == FENIX_SUCCESS && time_stamp == last + 1);
}

void work() {
  create_group();
  if (has_deleted) {  // on rank 0 alone, but without a spare all ranks have to keep the same snapshots
    CHECK((*data::group_snapshots(group) == std::vector{last + 1, last - 1}));
    return;
  }
  if (data::group_snapshots(group)->empty()) {
    if (fenix::role() == fenix::INITIAL_RANK) {
      data::member_store(group, number, data::SUBSET_FULL);
      die_at("staged", 0, rank);
      MPI_Barrier(comm);
    }
    store();
    die_at("stored", 0, rank);
    MPI_Barrier(comm);
  }
  restore();
  if (rank == 0) data::snapshot_delete(group, last);
  has_deleted = true;
  die_at("deleted", 0, rank);
  MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  read_deaths(argc, argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  MPI_Comm_rank(comm, &rank);
  const bool is_new = fenix::role() == fenix::RECOVERED_RANK;
  const std::string long_text(100, 'x');
  fenix::callback_register([long_text](MPI_Comm, int) {
    fenix::callback_pop();
    if (long_text == std::string(100, 'x')) ++times_called_back;
  });
  for (bool done = false; !done;) {
    try {
      work();
      done = true;
    } catch (const fenix::CommException&) {
    }
  }
  CHECK(times_called_back <= 1);
  if (!is_new) CHECK(times_called_back == 1);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  std::fflush(stdout);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
