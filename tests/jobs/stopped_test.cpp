// Jobs whose processes, or whose launcher, are stopped or killed from outside.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::HasSubstr;

constexpr const char* endless = "leaves:asks";

class Stopped : public testing::Test {
 protected:
  std::vector<std::string> line() const {
    return {"run", "-n", "2", "--", MEND_SUBJECT, endless, "--mend-disk=" + scratch_.path().string()};
  }
  static void signal_all(const std::vector<pid_t>& processes, int signal) {
    for (const pid_t process : processes) ::kill(process, signal);
  }
  /// Has the job leave, as it does when it was never stopped.
  static void expect_to_leave(MendProcess& job) {
    ::kill(job.pid(), SIGTERM);
    EXPECT_EQ(job.wait(), 4) << job.errors();
    EXPECT_THAT(job.errors(), HasSubstr("the job has left in time"));
  }

  support::ScratchFolder scratch_;
};

TEST_F(Stopped, processes_are_told_of_if_none_is_left_to_tell) {
  MendProcess job(line());
  job.wait_for_output("goes");
  const std::vector<pid_t> processes = launched_with_argument(endless, job);
  ASSERT_THAT(processes, testing::SizeIs(2));
  signal_all(processes, SIGSTOP);
  job.wait_for_errors(
      "mend: all processes of the job on this machine have been stopped for 5 s: they continue after SIGCONT");
  signal_all(processes, SIGCONT);
  expect_to_leave(job);
}

TEST_F(Stopped, mpirun_is_told_of) {
  MendProcess job(line());
  job.wait_for_output("goes");
  const pid_t mpirun = mpirun_of(job);
  ::kill(mpirun, SIGSTOP);
  job.wait_for_errors("mend: mpirun (process " + std::to_string(mpirun) + ") has been stopped for 5 s");
  ::kill(mpirun, SIGCONT);
  expect_to_leave(job);
}

TEST(Launch, leaves_nobody_behind_when_it_is_killed_at_once) {
  const support::ScratchFolder scratch;
  const auto program = scratch.path() / "program";
  const auto alone = scratch.path() / "alone";
  std::ofstream(program) << "#!/bin/sh\n[ -n \"$OMPI_COMM_WORLD_RANK\" ] || echo alone >>" << alone.string() << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  for (std::chrono::microseconds delay{1000}; delay.count() < 18'000; delay += std::chrono::microseconds(250)) {
    MendProcess job({"run", "-n", "1", "--", program.string()});
    std::this_thread::sleep_for(delay);
    ::kill(job.pid(), SIGKILL);
    job.wait();
  }
  EXPECT_TRUE(all_gone(program.string()));
  EXPECT_FALSE(std::filesystem::exists(alone)) << "the program has run without mpirun";
}

}  // namespace
