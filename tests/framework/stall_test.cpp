// Jobs whose ranks wait for others that do not come: it is told who waits where and who has not come, and the job ends
// when it may.

#include "tests/framework/subject_job.hpp"

#include <algorithm>
#include <ostream>

namespace {

using testing::ContainsRegex;
using testing::IsEmpty;

struct Case {
  std::string scenario;
  int spares;
  std::string told;  ///< a regular expression
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.scenario; }

/// A debugger takes seconds: where there is none, the job says so.
const std::map<std::string, std::string> without_debugger{{"PATH", "/nonexistent"}};

support::JobEnd play_to_the_limit(const std::string& scenario, int spares,
                                  const std::map<std::string, std::string>& environment) {
  auto job = support::mend_run(3, spares, {MEND_SUBJECT, scenario, "--mend-stall", "0.5", "--mend-stall-limit", "1"});
  for (const auto& [name, value] : environment) job.environment[name] = value;
  return support::run_job(job);
}

long lines_with(const support::JobEnd& end, const std::string& text) {
  return std::ranges::count_if(support::lines_of(end.errors),
                               [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

class Stalls : public testing::TestWithParam<Case> {};

TEST_P(Stalls, are_told_and_end_the_job) {
  const auto& [scenario, spares, told] = GetParam();
  const auto end = play_to_the_limit(scenario, spares, without_debugger);
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.errors, ContainsRegex("mend\\[[0-9]+\\] [0-9:.]+: " + told));
  EXPECT_THAT(end.errors,
              ContainsRegex("the job ends because ranks wait for longer than 1 s \\(--mend-stall-limit\\): " + told));
  EXPECT_EQ(lines_with(end, "the job ends because"), 1) << end.errors;
  EXPECT_EQ(lines_with(end, "no stack: there is no gdb; install it"), 3) << end.errors;
  EXPECT_THAT(said(end), IsEmpty());
}

TEST(AStall, that_ends_the_job_shows_where_each_rank_is) {
  const auto end = play_to_the_limit("one_is_late_for_commit", 0, {});
  EXPECT_EQ(end.exit_code, 1);
  for (const char* who : {"rank 0 (process 0 on ", "rank 1 (process 1 on ", "rank 2 (process 2 on "})
    EXPECT_EQ(lines_with(end, who), 1) << end.errors;
  const bool has_debugger = lines_with(end, "no stack: ") == 0;
  EXPECT_EQ(lines_with(end, " main (argc"), has_debugger ? 3 : 0) << end.errors;
}

const std::string seconds = " since [0-9.]+ s";

INSTANTIATE_TEST_SUITE_P(
    Of, Stalls,
    testing::Values(
        Case{"one_is_late_for_commit", 0, "ranks 0, 1 wait in commit\\(\\)" + seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_restore", 0, "ranks 1, 2 wait in restore\\(\\)" + seconds + "; rank 0 has not come"},
        Case{"one_is_late_for_split", 0, "ranks 0, 1 wait in split\\(\\)" + seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_the_end", 0,
             "ranks 0, 1 wait at the end of the body" + seconds + "; rank 2 has not come"},
        Case{"one_is_late_for_repair", 1, "rank 2 waits in a recovery" + seconds + "; rank 0 has not come"},
        Case{"one_catches_everything_for_ever", 1,
             "rank 2 waits in a recovery" + seconds + "; rank 0 has not come: ProcessFailure must leave the body"},
        Case{"one_waits_for_a_message", 0, "ranks 0, 1 wait in agree\\(\\)" + seconds + "; rank 2 has not come"},
        Case{"split_against_commit", 0,
             "ranks 1, 2 are in commit\\(\\)" + seconds + ", rank 0 is in split\\(\\)" + seconds +
                 ": every rank must come to these in the same order"}),
    [](const auto& one) { return one.param.scenario; });

TEST(AStall, that_ends_by_itself_is_told_and_costs_nothing) {
  const auto end = play("one_is_late_for_a_while", 3, 0, {"--mend-stall", "0.5"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(said(end).size(), 3U);
  EXPECT_THAT(support::complaints(end),
              testing::Contains(ContainsRegex("ranks 0, 2 wait in agree.. since .*; rank 1 has "
                                              "not come")));
}

TEST(AStall, that_is_not_to_be_told_is_not) {
  const auto end = play("one_is_late_for_a_while", 3, 0, {"--mend-stall", "0"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.errors, IsEmpty());
}

}  // namespace
