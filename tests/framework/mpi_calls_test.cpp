// MPI calls of the application, which mend passes on to the library.

#include "tests/support/world.hpp"

#include <gtest/gtest.h>
#include <mpi-ext.h>
#include <mpi.h>

#include <vector>

namespace {

constexpr int tag = 7;

MPI_Comm pair_that_returns_errors() {
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &pair);
  MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
  return pair;
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
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

/// As the last rank of a line, which waits for its neighbour when another rank has died.
TEST(Sendrecv, without_a_source_ends_when_the_communicator_is_revoked) {
  for (int i = 0; i < 20; ++i) {
    MPI_Comm pair = pair_that_returns_errors();
    MPI_Barrier(pair);
    if (support::world_rank() == 1) {
      MPIX_Comm_revoke(pair);
    } else {
      std::vector<int> data(1 << 20);  // too much for an eager message
      const int count = static_cast<int>(data.size());
      const int code = i % 2 == 0 ? MPI_Sendrecv(data.data(), count, MPI_INT, 1, tag, nullptr, 0, MPI_INT,
                                                 MPI_PROC_NULL, tag, pair, MPI_STATUS_IGNORE)
                                  : MPI_Sendrecv_replace(data.data(), count, MPI_INT, 1, tag, MPI_PROC_NULL, tag, pair,
                                                         MPI_STATUS_IGNORE);
      EXPECT_EQ(class_of(code), MPIX_ERR_REVOKED);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // the other end must exist in order to refuse the rest of the message
    MPI_Comm_free(&pair);
  }
}

}  // namespace
