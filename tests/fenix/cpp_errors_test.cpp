// What functions of namespace fenix throw, and the macros that end a job.

#include "fenix/cpp/code.hpp"

#include <fenix.hpp>

#include <gmock/gmock.h>

namespace {

using testing::MatchesRegex;

fenix::RuntimeException refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const fenix::RuntimeException& refused) {
    return refused;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {FENIX_SUCCESS, "", "", std::source_location::current()};
}

TEST(RuntimeException, names_the_function_and_the_code) {
  const auto refused = refusal_of([] { fenix::data::commit(1); });
  EXPECT_EQ(refused.error, FENIX_ERROR_UNINITIALIZED);
  EXPECT_EQ(refused, FENIX_ERROR_UNINITIALIZED);
  EXPECT_EQ(refused.error_string, "FENIX_ERROR_UNINITIALIZED");
  EXPECT_STREQ(refused.what(), "commit ended with FENIX_ERROR_UNINITIALIZED (-100)");
  EXPECT_THAT(refused.to_string(1), MatchesRegex("  .*data.cpp:[0-9]+ .*commit.*: commit ended with .*"));
  EXPECT_EQ(refused.to_string().front(), refused.to_string(1)[2]);
}

TEST(RuntimeException, has_a_name_for_each_code) {
  for (int code = FENIX_ERROR_UNINITIALIZED; code <= FENIX_ERROR_MEMBER_UNSTORED; ++code)
    EXPECT_THAT(mend::fenix::name_of(code), testing::StartsWith("FENIX_ERROR_")) << code;
  EXPECT_EQ(mend::fenix::name_of(FENIX_WARNING_PARTIAL_RESTORE), "FENIX_WARNING_PARTIAL_RESTORE");
  EXPECT_EQ(mend::fenix::name_of(4711), "an unknown code");
}

TEST(FenixRequireDeathTest, says_what_does_not_hold) {
  const int ranks = 3;
  fenix_require(ranks == 3);
  fenix_require(ranks == 3, "%d ranks", ranks);
  EXPECT_DEATH(fenix_require(ranks == 4), "cpp_errors_test.cpp:[0-9]+ .*: 'ranks == 4' does not hold\n");
  EXPECT_DEATH(fenix_require(ranks == 4, "%d ranks", ranks), "'ranks == 4' does not hold: 3 ranks");
}

}  // namespace
