// The time limit of a job, as reported by the batch system.

#include "jobs/run/time_limit.hpp"

#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace mend::jobs {
namespace {

using std::chrono::system_clock;

TEST(SlurmTimes, are_read_as_squeue_writes_them) {
  EXPECT_EQ(parse_slurm_time("1-02:03:04"), Seconds(86400 + 2 * 3600 + 3 * 60 + 4));
  EXPECT_EQ(parse_slurm_time("02:03:04"), Seconds(2 * 3600 + 3 * 60 + 4));
  EXPECT_EQ(parse_slurm_time("3:04"), Seconds(184));
  EXPECT_EQ(parse_slurm_time("0:00"), Seconds(0));
  for (const char* none : {"UNLIMITED", "NOT_SET", "INVALID", "", "-", "1:", "1-", "-1:00", "1:2x"})
    EXPECT_EQ(parse_slurm_time(none), std::nullopt) << none;
}

TEST(TimeLimits, leave_a_minute_or_a_tenth_of_a_short_limit) {
  EXPECT_EQ(usual_margin(Seconds(3600)), Seconds(60));
  EXPECT_EQ(usual_margin(Seconds(100)), Seconds(10));
}

TEST(TimeLimits, there_is_none_outside_of_an_allocation) {
  ::unsetenv("SLURM_JOB_ID");
  EXPECT_EQ(time_left_in_allocation(), std::nullopt);
}

TEST(TimeLimits, come_from_the_end_that_slurm_has_put_into_the_environment) {
  const auto end = std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch()).count();
  const support::ScopedEnvironment slurm{{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_END_TIME", std::to_string(end + 3600)}};
  const auto left = time_left_in_allocation();
  ASSERT_TRUE(left);
  EXPECT_GT(*left, Seconds(3500));
  EXPECT_LE(*left, Seconds(3600));
}

/// Asks a squeue that runs `script` and comes first on the path.
std::optional<Seconds> asked_of(const std::string& script) {
  const support::ScratchFolder folder;
  const auto squeue = folder.path() / "squeue";
  std::ofstream(squeue) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(squeue, std::filesystem::perms::owner_all);
  const support::ScopedEnvironment slurm{{"PATH", folder.path().string() + ":" + std::getenv("PATH")},
                                         {"SLURM_JOB_ID", "17"}};
  return time_left_in_allocation();
}

TEST(TimeLimits, are_asked_of_squeue_where_the_environment_has_none) {
  EXPECT_EQ(asked_of("test \"$2\" = --jobs=17 && echo 1:00:00"), Seconds(3600));
  EXPECT_EQ(asked_of("echo UNLIMITED"), std::nullopt);
  EXPECT_EQ(asked_of("exit 1"), std::nullopt);
}

}  // namespace
}  // namespace mend::jobs
