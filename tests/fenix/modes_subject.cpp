// What a program may choose to have done about a failure, on 4 ranks of which rank 2 dies: MODE is `noop`, `ignore`,
// `callback`, or `finalize`, where the others are in Fenix_Finalize already. In the end all have it repaired.

#include <fenix.hpp>

#include <cstring>
#include <stdexcept>

#include "checks.h"
#include "die.h"

namespace {

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int before_recovery = 0;
int after_recovery = 0;

void repair_in_the_end() {
  fenix::set_option(fenix::RECOVERY_MODE, fenix::REPAIR);
  try {
    while (fenix::detect_failures() == MPI_SUCCESS) {
    }
    CHECK(false);
  } catch (const fenix::CommException& failure) {
    CHECK(failure.repaired_comm == comm && fenix::n_ranks_with_role(fenix::RECOVERED_RANK) == 1);
  }
}

/// Callbacks are called and the exception comes, but the communicator is the broken one.
void without_repair() {
  const MPI_Comm broken = comm;
  fenix::set_option(fenix::RECOVERY_MODE, fenix::NOOP);
  try {
    while (fenix::detect_failures() == MPI_SUCCESS) {
    }
    CHECK(false);
  } catch (const fenix::CommException& failure) {
    CHECK(failure.repaired_comm == broken && failure.mpi_err != MPI_SUCCESS);
  }
  CHECK(comm == broken && before_recovery == 1 && after_recovery == 1);
  CHECK(fenix::role() == fenix::SURVIVOR_RANK && role == fenix::SURVIVOR_RANK);
  CHECK(fenix::rank_role(comm, rank) == fenix::SURVIVOR_RANK && fenix::n_ranks_with_role(fenix::INITIAL_RANK) == 0);
  repair_in_the_end();
  CHECK(before_recovery == 2 && after_recovery == 2);
}

/// The call throws; nobody is called.
void ignored() {
  fenix::set_option(fenix::RECOVERY_MODE, fenix::IGNORE);
  while (fenix::detect_failures(false) == FENIX_SUCCESS) {
  }
  CHECK(fenix::detect_failures(false) == FENIX_ERROR_PROCESS_FAILURE);
  CHECK(Fenix_Process_detect_failures(1) == FENIX_ERROR_PROCESS_FAILURE);
  int nothing = 0;
  bool thrown = false;
  try {
    MPI_Recv(&nothing, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
  } catch (const fenix::CommException&) {
    thrown = true;
  }
  CHECK(thrown && before_recovery == 0 && after_recovery == 0);
  fenix::set_option(fenix::RESUME_MODE, fenix::RETURN);
  CHECK(MPI_Recv(&nothing, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  fenix::set_option(fenix::RESUME_MODE, fenix::THROW);
  repair_in_the_end();
}

/// What a callback throws before the recovery comes out when that is done.
void thrown_by_callback() {
  fenix::callback_register([](MPI_Comm, int) { throw std::runtime_error("as it wants"); }, fenix::PRE_RECOVERY);
  try {
    while (fenix::detect_failures() == MPI_SUCCESS) {
    }
    CHECK(false);
  } catch (const std::runtime_error& thrown) {
    CHECK(std::strcmp(thrown.what(), "as it wants") == 0);
  }
  CHECK(fenix::role() == fenix::SURVIVOR_RANK && before_recovery == 1 && after_recovery == 1);
}

/// Callbacks of both kinds are called, those before the recovery with the broken communicator.
void in_finalize() {
  MPI_Comm before = MPI_COMM_NULL;
  const MPI_Comm broken = comm;
  fenix::callback_register([&before](MPI_Comm of_callback, int) { before = of_callback; }, fenix::PRE_RECOVERY);
  try {
    Fenix_Finalize();
    CHECK(false);
  } catch (const fenix::CommException& failure) {
    CHECK(failure.repaired_comm == comm);
  }
  CHECK(before == broken && before_recovery == 1 && after_recovery == 1);
  CHECK(fenix::callback_pop(fenix::PRE_RECOVERY) == FENIX_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  read_deaths(argc, argv);
  MPI_Init(&argc, &argv);
  fenix::init({.role = &role, .out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1});
  MPI_Comm_rank(comm, &rank);
  fenix::callback_register([](MPI_Comm, int) { ++after_recovery; });
  fenix::callback_register([](MPI_Comm, int) { ++before_recovery; }, fenix::PRE_RECOVERY);
  if (fenix::role() == fenix::INITIAL_RANK) {
    die_at("working", 0, rank);
    if (std::strcmp(argv[1], "noop") == 0) without_repair();
    if (std::strcmp(argv[1], "ignore") == 0) ignored();
    if (std::strcmp(argv[1], "callback") == 0) thrown_by_callback();
    if (std::strcmp(argv[1], "finalize") == 0) in_finalize();
  }
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == 4);
  CHECK(Fenix_Finalize() == FENIX_SUCCESS);
  MPI_Finalize();
  std::printf("rank %d: %d checks failed\n", rank, failed);
  return failed != 0 ? 1 : 0;
}
