// MPI calls of the application, as mend passes them on.

#include "tests/support/world.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

constexpr int tag = 7;

MPI_Comm pair_that_returns_errors() {
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &pair);
  MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
  return pair;
}

TEST(Sendrecv, without_a_source_sends_and_has_an_empty_status) {
  MPI_Comm pair = pair_that_returns_errors();
  const int sent = 41;
  int received = 1;
  MPI_Status status{};
  if (support::world_rank() == 0) {
    MPI_Sendrecv(&sent, 1, MPI_INT, 1, tag, &received, 1, MPI_INT, MPI_PROC_NULL, tag, pair, &status);
    EXPECT_EQ(received, 1);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Sendrecv_replace(&received, 1, MPI_INT, 1, tag, MPI_PROC_NULL, tag, pair, MPI_STATUS_IGNORE);
  } else {
    MPI_Sendrecv(&sent, 1, MPI_INT, MPI_PROC_NULL, tag, &received, 1, MPI_INT, 0, tag, pair, &status);
    EXPECT_EQ(received, 41);
    EXPECT_EQ(status.MPI_SOURCE, 0);
    MPI_Recv(&received, 1, MPI_INT, 0, tag, pair, MPI_STATUS_IGNORE);
    EXPECT_EQ(received, 1);
  }
  MPI_Comm_free(&pair);
}

}  // namespace
