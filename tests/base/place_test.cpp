// The control thread's view of the place of the application's thread.

#include "base/telemetry/place.hpp"

#include <gtest/gtest.h>

namespace mend {
namespace {

class APlace : public testing::Test {
 protected:
  APlace() { note_rank(Rank{3}); }
  ~APlace() override {
    forget_failure();
    note_rank(std::nullopt);
  }
};

TEST_F(APlace, is_that_of_the_outermost_call) {
  EXPECT_EQ(current_place().place, Place::none);
  {
    const AtPlace outer(Place::commit);
    const AtPlace inner(Place::agree);
    EXPECT_EQ(current_place().place, Place::commit);
  }
  EXPECT_EQ(current_place().place, Place::none);
  EXPECT_EQ(current_place().rank, Rank{3});
}

TEST_F(APlace, of_one_that_has_met_a_failure_is_interrupted_until_it_comes_to_the_recovery) {
  note_failure();
  const auto met = current_place();
  EXPECT_EQ(met.place, Place::interrupted);
  {
    const AtPlace tries_again(Place::commit);
    EXPECT_EQ(current_place().place, Place::interrupted);
    EXPECT_EQ(current_place().since, met.since) << "since it has met the failure, not since it tries again";
  }
  for (const Place there : {Place::recovery, Place::finish, Place::end}) {
    const AtPlace at_place(there);
    EXPECT_EQ(current_place().place, there);
  }
  forget_failure();
  EXPECT_EQ(current_place().place, Place::none);
}

TEST_F(APlace, of_a_spare_is_no_other_after_a_failure) {
  note_rank(std::nullopt);
  note_failure();
  const AtPlace at_place(Place::spare);
  EXPECT_EQ(current_place().place, Place::spare);
}

}  // namespace
}  // namespace mend
