// mend run --relaunch: jobs that have lost more than they can replace begin again from disk automatically.

#include "tests/jobs/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two ranks without a spare that run until they are asked to leave.
std::vector<std::string> line(const std::vector<std::string>& of_program) {
  std::vector<std::string> words{"run", "-n", "2", "--relaunch", "2", "--", MEND_SUBJECT, "leaves:ignores"};
  words.insert(words.end(), of_program.begin(), of_program.end());
  return words;
}

/// Kills the rank that was started last.
void kill_a_rank(const MendProcess& job) {
  const auto ranks = launched_with_argument("leaves:ignores", job);
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(*std::ranges::max_element(ranks), SIGKILL);
}

/// Waits until `text` has come `count` times on standard error.
void wait_for_count(MendProcess& job, const std::string& text, int count) {
  std::size_t after = 0;
  for (int i = 0; i < count; ++i) {
    job.wait_for_errors(text, after);
    ASSERT_NE(job.errors().find(text, after), std::string::npos);
    after = job.errors().find(text, after) + text.size();
  }
}

TEST(Relaunch, a_job_that_cannot_go_on_in_place_goes_on_from_disk_as_often_as_is_allowed) {
  const support::ScratchFolder disk;
  MendProcess job(line({"--mend-disk=" + disk.path().string() + ",every=2"}));
  job.wait_for_errors("is on disk");
  kill_a_rank(job);
  job.wait_for_errors("the job is launched anew (relaunch 1 of 2)");
  wait_for_count(job, "continues from version", 1);
  kill_a_rank(job);
  job.wait_for_errors("the job is launched anew (relaunch 2 of 2)");
  wait_for_count(job, "continues from version", 2);
  kill_a_rank(job);
  EXPECT_EQ(job.wait(), 3) << job.errors();
  EXPECT_THAT(job.errors(), Not(HasSubstr("relaunch 3")));
}

TEST(Relaunch, without_a_disk_it_is_said_that_the_job_is_not_launched_anew) {
  MendProcess job(line({}));
  job.wait_for_output("goes");
  kill_a_rank(job);
  EXPECT_EQ(job.wait(), 3);
  EXPECT_THAT(job.errors(), AllOf(HasSubstr("the job is not launched anew (--relaunch): it has no disk (--mend-disk)"),
                                  Not(HasSubstr("relaunch 1"))));
}

TEST(Relaunch, a_job_that_has_left_in_time_is_not_launched_anew) {
  const support::ScratchFolder disk;
  MendProcess job(line({"--mend-disk=" + disk.path().string()}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), Not(HasSubstr("launched anew")));
}

}  // namespace
