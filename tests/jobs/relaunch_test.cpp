// mend run --relaunch: jobs that have lost more than they can replace begin again from disk automatically.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
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

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string reported(const std::filesystem::path& what) {
  MendProcess report({"report", what.string()});
  EXPECT_EQ(report.wait(), 0) << report.errors();
  return report.output();
}

TEST(Relaunch, each_launch_has_its_traces_and_its_part_of_the_result) {
  const support::ScratchFolder scratch;
  const auto result = scratch.path() / "result.json";
  const auto traces = scratch.path() / "traces";
  MendProcess job({"run", "-n", "2", "--relaunch", "1", "--result", result.string(), "--", MEND_SUBJECT,
                   "leaves:ignores", "--mend-disk=" + (scratch.path() / "disk").string() + ",every=2",
                   "--mend-trace=" + traces.string()});
  job.wait_for_errors("is on disk");
  kill_a_rank(job);
  job.wait_for_errors("(relaunch 1 of 1)");
  wait_for_count(job, "continues from version", 1);
  kill_a_rank(job);
  EXPECT_EQ(job.wait(), 3) << job.errors();

  const std::string text = reported(result);
  EXPECT_THAT(text, AllOf(HasSubstr("launch 1: "), HasSubstr("launch 2: "), HasSubstr("2 ranks, 0 recoveries")));
  const std::string first = text.substr(0, text.find("launch 2: "));
  for (const std::string& launch : {first, text.substr(first.size())})
    EXPECT_THAT(launch, AllOf(HasSubstr("ended with exit code 3: rank"), HasSubstr("died and no spare is left")));

  for (const char* file : {"process-0.json", "process-1.json", "process-0-launch-2.json", "process-1-launch-2.json"})
    EXPECT_TRUE(std::filesystem::exists(traces / file)) << file;
  EXPECT_THAT(reported(traces), HasSubstr("2 ranks, 0 recoveries"));
  MendProcess joined({"report", traces.string(), "--perfetto", (scratch.path() / "all.json").string()});
  EXPECT_EQ(joined.wait(), 0) << joined.errors();
  EXPECT_THAT(text_of(scratch.path() / "all.json"),
              AllOf(HasSubstr("process 0: rank 0"), HasSubstr("process 2: rank 0"), HasSubstr("process 3: rank 1"),
                    Not(HasSubstr("process 4"))));
}

TEST(Result, of_a_job_that_has_failed_says_how) {
  const support::ScratchFolder scratch;
  const auto result = scratch.path() / "result.json";
  MendProcess job(
      {"run", "-n", "2", "--spares", "1", "--result", result.string(), "--", MEND_SUBJECT, "leaves:ignores"});
  job.wait_for_output("goes");
  auto processes = launched_with_argument("leaves:ignores", job);
  ASSERT_EQ(processes.size(), 3U);
  std::ranges::sort(processes);  // in the order of ranks, then the spare
  ::kill(processes[0], SIGKILL);
  job.wait_for_errors("took over");
  ::kill(processes[1], SIGKILL);
  EXPECT_EQ(job.wait(), 3) << job.errors();
  EXPECT_THAT(reported(result),
              AllOf(HasSubstr("2 ranks, 1 recovery"), HasSubstr("rank 0"), HasSubstr("ended with exit code 3: ")));
}

TEST(Result, of_a_job_whose_processes_could_not_write_it_is_written_by_the_launcher) {
  const support::ScratchFolder scratch;
  const auto result = scratch.path() / "result.json";
  MendProcess job({"run", "-n", "2", "--result", result.string(), "--", MEND_SUBJECT, "leaves:ignores"});
  job.wait_for_output("goes");
  for (const pid_t process : launched_with_argument("leaves:ignores", job)) ::kill(process, SIGKILL);
  EXPECT_EQ(job.wait(), 3) << job.errors();
  EXPECT_THAT(reported(result), AllOf(HasSubstr("2 ranks, 0 recoveries"), HasSubstr("ended with exit code 3: ")));
}

TEST(Relaunch, without_a_disk_it_is_said_that_the_job_is_not_launched_anew) {
  MendProcess job(line({}));
  job.wait_for_output("goes");
  kill_a_rank(job);
  EXPECT_EQ(job.wait(), 3);
  EXPECT_THAT(job.errors(), AllOf(HasSubstr("the job is not launched anew (--relaunch): it has no disk (--mend-disk)"),
                                  Not(HasSubstr("relaunch 1"))));
}

TEST(Relaunch, a_job_that_the_user_ends_is_not_launched_anew) {
  const support::ScratchFolder scratch;
  const auto mpirun = scratch.path() / "mpirun";
  std::ofstream(mpirun) << R"(#!/bin/bash
[[ $1 != --version ]] || { echo "mpirun (Open MPI) 5.0.7"; exit; }
trap 'exit 3' INT
{ echo "loaded $$ elsewhere"; echo started; echo "finished 3 $$"; } >>"$MEND_STATUS_FILE"
echo ready
sleep 60 &
wait
)";
  std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
  const support::ScopedEnvironment there{{"MEND_MPIRUN", mpirun.string()}};
  // With nodes: mend run takes for granted that processes elsewhere have a disk.
  MendProcess job({"run", "-n", "1", "--host", "localhost:1", "--relaunch", "1", "--", MEND_SUBJECT});
  job.wait_for_output("ready");
  ::kill(job.pid(), SIGINT);
  EXPECT_EQ(job.wait(), 3) << job.errors();
  EXPECT_THAT(job.errors(), Not(HasSubstr("launched anew")));
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
