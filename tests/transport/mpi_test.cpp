#include "transport/mpi.hpp"

#include "tests/support/world.hpp"

#include <gmock/gmock.h>

namespace {

using mend::check_mpi;
using mend::Communicator;
using mend::MpiOutcome;
using support::throwing_world;
using support::world_rank;
using support::world_size;
using testing::HasSubstr;

/// A mistake that MPI notices at once: a rank that does not exist.
void send_to_nobody(MPI_Comm comm) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, world_size() + 5, 0, comm);
}

TEST(Codes, are_sorted_into_success_failure_and_error) {
  EXPECT_EQ(mend::outcome_of(MPI_SUCCESS), MpiOutcome::success);
  for (int code : {MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED}) {
    EXPECT_EQ(mend::outcome_of(code), MpiOutcome::failure);
    EXPECT_THROW(check_mpi(code, "MPI_Recv"), mend::ProcessFailure);
  }
  for (int code : {MPI_ERR_RANK, MPI_ERR_TRUNCATE, MPI_ERR_OTHER}) {
    EXPECT_EQ(mend::outcome_of(code), MpiOutcome::error);
    EXPECT_THROW(check_mpi(code, "MPI_Recv"), mend::EnvironmentError);
  }
  EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "MPI_Recv"));
}

TEST(Codes, are_told_in_words_with_the_call_they_came_from) {
  try {
    check_mpi(MPI_ERR_TRUNCATE, "MPI_Recv");
    FAIL();
  } catch (const mend::EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("MPI_Recv failed: MPI_ERR_TRUNCATE"));
  }
}

TEST(Errors, are_thrown_out_of_the_call) {
  const Communicator comm = throwing_world();
  EXPECT_THROW(send_to_nobody(comm.get()), mend::EnvironmentError);
}

TEST(Errors, are_thrown_from_derived_communicators_too) {
  const Communicator comm = throwing_world();
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(comm.get(), world_rank() % 2, 0, &half);
  const Communicator owned(half);
  EXPECT_THROW(send_to_nobody(half), mend::EnvironmentError);
}

TEST(Errors, are_returned_while_somebody_wants_to_look_at_them) {
  const Communicator comm = throwing_world();
  {
    const mend::ErrorsReturned quiet;
    const mend::ErrorsReturned quieter;
    EXPECT_NO_THROW(send_to_nobody(comm.get()));
  }
  EXPECT_THROW(send_to_nobody(comm.get()), mend::EnvironmentError);
}

TEST(Revoking, frees_everyone_who_is_blocked_and_tells_the_listener_first) {
  const Communicator comm = throwing_world();
  bool told = false;
  mend::on_process_failure([&] { told = true; });
  if (world_rank() == 0) mend::revoke(comm.get());
  int nothing = 0;
  EXPECT_THROW(MPI_Recv(&nothing, 1, MPI_INT, world_rank(), 3, comm.get(), MPI_STATUS_IGNORE), mend::ProcessFailure);
  EXPECT_TRUE(told);
  EXPECT_TRUE(mend::is_revoked(comm.get()));
  mend::on_process_failure({});
}

TEST(Revoking, does_not_touch_other_communicators) {
  const Communicator revoked = throwing_world();
  const Communicator other = throwing_world();
  mend::revoke(revoked.get());
  EXPECT_NO_THROW(MPI_Barrier(other.get()));
  EXPECT_FALSE(mend::is_revoked(other.get()));
}

TEST(Listener, is_not_told_of_errors_that_are_no_failures) {
  const Communicator comm = throwing_world();
  bool told = false;
  mend::on_process_failure([&] { told = true; });
  EXPECT_THROW(send_to_nobody(comm.get()), mend::EnvironmentError);
  EXPECT_FALSE(told);
  mend::on_process_failure({});
}

TEST(Communicators, are_owned_by_one_at_a_time) {
  Communicator first = throwing_world();
  const MPI_Comm handle = first.get();
  Communicator second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: moved from on purpose
  EXPECT_EQ(second.get(), handle);
  EXPECT_EQ(second.rank(), world_rank());
  EXPECT_EQ(second.size(), world_size());
  second.reset();
  EXPECT_FALSE(second);
}

TEST(Communicators, can_be_freed_after_they_were_revoked) {
  Communicator comm = throwing_world();
  mend::revoke(comm.get());
  EXPECT_NO_THROW(comm.reset());
}

}  // namespace
