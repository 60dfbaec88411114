#include "framework/process/misspelt_variables.hpp"

#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>

namespace {

using mend::doubts_about;
using mend::edit_distance;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(EditDistance, counts_letters_changed_inserted_and_removed) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("spares", "spares"), 0U);
  EXPECT_EQ(edit_distance("spares", "spare"), 1U);
  EXPECT_EQ(edit_distance("spare", "spares"), 1U);
  EXPECT_EQ(edit_distance("spares", "sparse"), 2U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Variables, that_are_known_or_not_of_mend_are_not_doubted) {
  const std::vector<std::string> known{"MEND_SPARES", "MEND_DISK"};
  const std::vector<std::string> names{"MEND_SPARES", "MEND", "MENDING_X", "HOME", "MEND_TEST_LONG"};
  EXPECT_THAT(doubts_about(names, known), IsEmpty());
}

TEST(Variables, that_are_misspelt_are_told_with_the_nearest) {
  const std::vector<std::string> known{"MEND_SPARES", "MEND_DISK"};
  const std::vector<std::string> names{"MEND_SPARSE", "MEND_XYZZY"};
  EXPECT_THAT(
      doubts_about(names, known),
      ElementsAre("the environment variable MEND_SPARSE is not a variable of mend and has no effect: is MEND_SPARES "
                  "meant?",
                  "the environment variable MEND_XYZZY is not a variable of mend and has no effect"));
}

TEST(Variables, of_this_process_are_those_of_the_options_and_of_the_launcher) {
  const support::ScopedEnvironment environment{{"MEND_STALL", "5"},      {"MEND_CONFIG", ""},
                                               {"MEND_STATUS_FILE", ""}, {"MEND_HOST_ADDRESS", ""},
                                               {"MEND_TERMINAL", "0"},   {"MEND_STALLS", "5"}};
  EXPECT_THAT(
      mend::doubts_about_environment(),
      ElementsAre("the environment variable MEND_STALLS is not a variable of mend and has no effect: is MEND_STALL "
                  "meant?"));
}

}  // namespace
