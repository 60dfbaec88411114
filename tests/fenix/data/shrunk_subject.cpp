// A data group of which ranks were given up: 4 ranks without a spare, of which rank 2 dies after a commit. HOW says
// what the others do:
//
//   stored   they have stored data since the commit, and a message log is active, but no call continues
//   revoked  they recover once more, because the communicator was revoked, before they create the group again
//   early    they name a rank of the group before they create it again

#include <fenix.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

#include "play.hpp"

namespace {

namespace data = fenix::data;

constexpr int group = 0;
constexpr int member = 7;
constexpr int log_id = 0;
constexpr int latest = FENIX_DATA_SNAPSHOT_LATEST;

MPI_Comm comm = MPI_COMM_NULL;
int value = 0;

/// Rank 2 dies when the others wait for nothing any more but its death.
void die_when_all_are_ready() {
  int nothing = 0;
  if (rank != 2) MPI_Send(&nothing, 1, MPI_INT, 2, 1, comm);
  for (int from = 0; rank == 2 && from < 4; ++from) {
    if (from != 2) MPI_Recv(&nothing, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
  }
  die_at("committed", 0, rank);
}

template <class Call>
void expect_failure(const Call& call) {
  bool is_thrown = false;
  try {
    call();
  } catch (const fenix::CommException&) {
    is_thrown = true;
  }
  CHECK(is_thrown);
}

void wait_for_rank_2() {
  int nothing = 0;
  MPI_Recv(&nothing, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
}

/// What was stored for the ranks of then is not committed by those that are left.
void check_stored(int committed) {
  data::group_create(group);
  fenix::mlog::mlog_delete(log_id);
  data::commit(group);
  value = -1;
  CHECK(code_of([] { return data::member_load(group, member, latest); }) == FENIX_ERROR_NODATA_FOUND);
  CHECK(code_of([] { return data::member_load(group, member); }) == FENIX_SUCCESS && value == committed);
}

/// Each rank still has its own snapshot.
void check_revoked(int committed) {
  expect_failure([] {
    if (rank == 0) fenix::comm_revoke(comm);
    MPI_Barrier(comm);
  });
  data::group_create(group);
  CHECK(*data::group_snapshots(group) == std::vector{0});
  value = -1;
  CHECK(code_of([] { return data::member_load(group, member, latest); }) == FENIX_SUCCESS && value == committed);
}

/// The ranks of the group are unknown until it is created again.
void check_early() {
  int got = -1;
  const auto from = [&](int source) {
    return Fenix_Data_member_restore_from_rank(group, member, &got, 1, latest, nullptr, source);
  };
  CHECK(from(3) == FENIX_ERROR_INVALID_ATTRIBUTE_VALUE && got == -1);
  data::group_create(group);
  CHECK(from(3) == FENIX_ERROR_INVALID_ATTRIBUTE_VALUE && got == -1);
  CHECK(from(2) == FENIX_SUCCESS && got == 30);  // of the rank that was rank 3
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 0});
  MPI_Comm_rank(comm, &rank);
  const bool stores = std::strcmp(argv[1], "stored") == 0;
  const int committed = 10 * rank;
  data::group_create(group);
  data::member_create(group, member, &value, 1, MPI_INT);
  value = committed;
  data::member_store(group, member);
  data::commit(group);
  if (stores) {
    value = committed + 1;
    data::member_store(group, member);
    fenix::mlog::create(log_id, comm, 2);
    fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE);
  }
  die_when_all_are_ready();
  if (stores) fenix::mlog::activate(log_id);
  expect_failure(&wait_for_rank_2);
  MPI_Comm_rank(comm, &rank);
  int size = 0;
  MPI_Comm_size(comm, &size);
  CHECK(size == 3);
  if (stores) check_stored(committed);
  if (std::strcmp(argv[1], "revoked") == 0) check_revoked(committed);
  if (std::strcmp(argv[1], "early") == 0) check_early();
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  std::printf("rank %d: %d checks failed\n", rank, failed);
  MPI_Finalize();
  return failed != 0 ? 1 : 0;
}
