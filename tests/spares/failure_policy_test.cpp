#include "spares/failure_policy.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <string>

namespace {

using mend::Policy;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    Policy::parse(text);
    return "(accepted)";
  } catch (const mend::UsageError& error) {
    return error.what();
  }
}

TEST(Policy, is_a_list_of_what_may_be_done) {
  EXPECT_EQ(Policy::parse("spare"), Policy{});
  EXPECT_EQ(Policy::parse("spare,shrink"), (Policy{.spare = true, .shrink = true}));
  EXPECT_EQ(Policy::parse("spare,spawn"), (Policy{.spare = true, .spawn = true}));
  EXPECT_EQ(Policy::parse("blank"), (Policy{.spare = false, .blank = true}));
}

TEST(Policy, refuses_what_it_does_not_know_by_name) {
  EXPECT_THAT(refusal("spare,pray"), HasSubstr("'pray' is not a policy for failures"));
  EXPECT_THAT(refusal(""), HasSubstr("'' is not a policy"));
  EXPECT_THAT(refusal("spare,"), HasSubstr("'' is not a policy"));
}

TEST(Policy, refuses_to_close_up_and_to_leave_blank_at_once) {
  EXPECT_THAT(refusal("shrink,blank"), HasSubstr("choose"));
}

}  // namespace
