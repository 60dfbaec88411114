// The control thread's view of where mend waits in the MPI library.

#include "base/telemetry/library_wait.hpp"

#include "base/telemetry/activity.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace mend {
namespace {

using namespace std::chrono_literals;

TEST(LibraryWait, lasts_as_long_as_the_outermost_mark_and_moves_at_its_begin_and_end) {
  const std::uint64_t before = current_activity().moves;
  EXPECT_FALSE(current_library_wait().waits);
  {
    const InLibrary outer(InLibrary::Step::other, 3s);
    EXPECT_TRUE(current_library_wait().waits);
    EXPECT_EQ(current_library_wait().allowance, 3s);
    {
      const InLibrary inner;
      EXPECT_EQ(current_library_wait().allowance, 0s);
    }
    EXPECT_EQ(current_library_wait().allowance, 3s);
    EXPECT_EQ(current_activity().moves, before + 3);
  }
  EXPECT_FALSE(current_library_wait().waits);
  EXPECT_EQ(current_activity().moves, before + 4);
}

TEST(Turn, counts_agreements_in_each_stage) {
  begin_body_turns(Epoch{1});
  EXPECT_EQ(current_library_wait().turn, (Turn{2, 0}));
  {
    const InLibrary agreement(InLibrary::Step::agreement);
    EXPECT_EQ(current_library_wait().turn, (Turn{2, 1}));
    EXPECT_TRUE(current_library_wait().turn.is_in_agreement());
  }
  EXPECT_EQ(current_library_wait().turn, (Turn{2, 2}));
  EXPECT_FALSE(current_library_wait().turn.is_in_agreement());
  begin_recovery_turns(Epoch{1});
  { const InLibrary agreement(InLibrary::Step::agreement); }
  begin_recovery_turns(Epoch{1});
  EXPECT_EQ(current_library_wait().turn, (Turn{3, 2})) << "a stage begins once";
  EXPECT_LT((Turn{2, 9}), (Turn{3, 1}));
  join_recovery_turns(Epoch{2}, 4);
  EXPECT_EQ(current_library_wait().turn, (Turn{5, 4}));
}

TEST(LibraryWait, of_much_data_may_take_its_time) {
  EXPECT_EQ(InLibrary::time_for(0), 0ms);
  EXPECT_EQ(InLibrary::time_for(std::size_t{1} << 32), 1073741ms);
}

}  // namespace
}  // namespace mend
