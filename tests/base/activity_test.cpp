// The control thread's view of the moves of the application's thread.

#include "base/telemetry/activity.hpp"

#include "base/telemetry/place.hpp"

#include <gtest/gtest.h>

namespace mend {
namespace {

TEST(Activity, moves_when_an_MPI_call_begins_and_when_it_ends_and_names_the_call_between) {
  const std::uint64_t before = current_activity().moves;
  {
    const InMpiCall outer(MpiCall::barrier);
    EXPECT_EQ(current_activity().call, MpiCall::barrier);
    {
      const InMpiCall inner(MpiCall::recv);
      EXPECT_EQ(current_activity().call, MpiCall::recv);
    }
    EXPECT_EQ(current_activity().call, MpiCall::barrier);
    EXPECT_EQ(current_activity().moves, before + 3);
  }
  EXPECT_EQ(current_activity().call, MpiCall::none);
  EXPECT_EQ(current_activity().moves, before + 4);
}

TEST(Activity, does_not_move_when_a_call_begins_or_ends_within_the_same_call) {
  const InMpiCall outer(MpiCall::barrier);
  const std::uint64_t before = current_activity().moves;
  {
    const InMpiCall inner(MpiCall::barrier, InMpiCall::Within::same_call);
    EXPECT_EQ(current_activity().call, MpiCall::barrier);
    EXPECT_EQ(current_activity().moves, before);
  }
  EXPECT_EQ(current_activity().call, MpiCall::barrier);
  EXPECT_EQ(current_activity().moves, before);
}

TEST(Activity, moves_when_a_call_begins_and_when_it_ends_within_another_call) {
  const InMpiCall outer(MpiCall::barrier);
  const std::uint64_t before = current_activity().moves;
  {
    const InMpiCall inner(MpiCall::recv, InMpiCall::Within::same_call);
    EXPECT_EQ(current_activity().call, MpiCall::recv);
    EXPECT_EQ(current_activity().moves, before + 1);
  }
  EXPECT_EQ(current_activity().call, MpiCall::barrier);
  EXPECT_EQ(current_activity().moves, before + 2);
}

TEST(Activity, moves_with_every_call_of_mend) {
  const std::uint64_t before = current_activity().moves;
  { const AtPlace at_place(Place::commit); }
  EXPECT_EQ(current_activity().moves, before + 2);
  note_activity();
  EXPECT_EQ(current_activity().moves, before + 3);
}

TEST(MpiCalls, have_names) {
  EXPECT_EQ(name_of(MpiCall::recv), "MPI_Recv");
  for (int call = 0; call <= static_cast<int>(last_mpi_call); ++call)
    EXPECT_NE(name_of(static_cast<MpiCall>(call)), "?") << call;
}

}  // namespace
}  // namespace mend
