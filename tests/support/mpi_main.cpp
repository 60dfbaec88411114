// main() of the tests that run on several ranks. Only rank 0 lists the tests that passed; every rank reports its failed
// assertions. All ranks exit with the same code: a failure on any rank fails all.

#include "transport/mpi.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  testing::InitGoogleTest(&argc, argv);

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  class FailuresOnly final : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) {
        std::fprintf(stderr, "%s:%d: %s\n", result.file_name(), result.line_number(), result.message());
      }
    }
  };
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }

  const bool passed = RUN_ALL_TESTS() == 0;
  const bool ran = testing::UnitTest::GetInstance()->successful_test_count() > 0;

  // Ranks may have died on purpose, so only the living agree.
  int everyone_passed = passed && ran ? 1 : 0;
  MPIX_Comm_agree(MPI_COMM_WORLD, &everyone_passed);
  MPI_Finalize();
  return everyone_passed ? 0 : 1;
}
