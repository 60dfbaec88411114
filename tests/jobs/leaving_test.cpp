// Jobs that are asked to leave while they run, by real signals and limits, and the launches that continue from there.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/process_tree.hpp"

#include <gmock/gmock.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Leaving : public testing::Test {
 protected:
  /// So many commits from one version on disk to the next that only requested versions are written.
  std::string disk() const { return "--mend-disk=" + scratch_.path().string() + ",every=1000000"; }

  std::vector<std::string> line(const std::string& what, const std::vector<std::string>& options,
                                const std::vector<std::string>& of_program, int ranks = 3, int spares = 1) const {
    std::vector<std::string> words{"run", "-n", std::to_string(ranks), "--spares", std::to_string(spares)};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", MEND_SUBJECT, "leaves:" + what});
    words.insert(words.end(), of_program.begin(), of_program.end());
    return words;
  }

  /// Expects that the next launch continues where the one before has left, on `ranks` ranks.
  void expect_to_go_on(const std::string& step, int ranks) const {
    MendProcess next(line("ends", {}, {disk()}, ranks, 0));
    EXPECT_EQ(next.wait(), 0) << next.errors();
    const std::string there = std::to_string(std::stol(step) + 5);
    EXPECT_THAT(next.output(), HasSubstr("has " + there + " of " + there + " steps, from version N, in epoch 0"));
    EXPECT_THAT(next.errors(), HasSubstr("continues from version " + step));
  }

  support::ScratchFolder scratch_;
};

/// The version on disk that the last sentence names; "0" if there is none.
std::string version_in(const std::string& errors) {
  std::smatch found;
  return std::regex_search(errors, found, std::regex(R"(; version (\d+) is on disk: start again with --mend-disk=)"))
             ? found[1].str()
             : "0";
}

/// The lines of the ranks about where they left.
std::vector<std::string> lines_with(const std::string& text, const std::string& words) {
  std::vector<std::string> found;
  for (const auto& one : support::lines_of(text))
    if (const auto at = one.find(words); at != std::string::npos) found.push_back(one.substr(at));
  return found;
}

TEST_F(Leaving, sigterm_brings_a_program_that_does_not_look_to_disk_and_ends_it_with_a_code_of_its_own) {
  MendProcess job(line("ignores", {}, {disk()}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), AllOf(HasSubstr("mend: SIGTERM: the job is asked to leave at its next commit; a second "
                                            "SIGTERM ends it at once"),
                                  HasSubstr("the job has left in time (mend run was sent SIGTERM); version ")));
  EXPECT_THAT(job.output(), Not(HasSubstr("left at version")));
  const std::string version = version_in(job.errors());
  ASSERT_NE(version, "0") << job.errors();
  expect_to_go_on(version, 3);
  // Members that are the same on all ranks, or parts of an array, can be restored to any number of ranks.
  expect_to_go_on(std::to_string(std::stol(version)), 2);
}

TEST_F(Leaving, a_job_whose_commits_are_far_apart_leaves_soon_too) {
  for (const char* const every : {"--mend-commit-every=1000000000", "--mend-commit-every=auto"}) {
    MendProcess job(line("asks", {}, {disk(), every, "--mend-mtbf=1000000000"}));
    job.wait_for_output("goes");
    ::kill(job.pid(), SIGTERM);
    EXPECT_EQ(job.wait(), 4) << job.errors();
    EXPECT_NE(version_in(job.errors()), "0") << every << ": " << job.errors();
  }
}

TEST_F(Leaving, what_the_user_interrupts_has_not_left_in_time) {
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT}) {
    MendProcess job(line("ignores", {}, {disk()}));
    job.wait_for_output("goes");
    ::kill(job.pid(), signal);
    EXPECT_EQ(job.wait(), 128 + signal) << job.errors();
    EXPECT_THAT(job.errors(), HasSubstr("the job was ended by SIG"));
  }
}

TEST_F(Leaving, restart_goes_on_from_disk_or_ends_at_once) {
  MendProcess too_early(line("ends", {"--restart"}, {"--mend-disk=" + scratch_.path().string() + "/none"}));
  EXPECT_EQ(too_early.wait(), 2) << too_early.errors();
  EXPECT_THAT(support::lines_of(too_early.errors()), SizeIs(1)) << too_early.errors();
  EXPECT_THAT(too_early.errors(), HasSubstr("--restart: there is no version in " + scratch_.path().string() + "/none"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "none"));
  MendProcess without_disk(line("ends", {"--restart"}, {}));
  EXPECT_EQ(without_disk.wait(), 2) << without_disk.errors();
  EXPECT_THAT(without_disk.errors(), HasSubstr("--restart goes on from disk: name the folder, with --mend-disk DIR"));

  MendProcess job(line("asks", {}, {disk()}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  MendProcess next(line("ends", {"--restart"}, {disk()}, 2, 0));
  EXPECT_EQ(next.wait(), 0) << next.errors();
  EXPECT_THAT(next.errors(), HasSubstr("continues from version " + version_in(job.errors())));
}

TEST_F(Leaving, should_exit_becomes_true_at_the_same_step_on_all_ranks) {
  MendProcess job(line("asks", {}, {disk()}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  const std::string version = version_in(job.errors());
  const auto left = lines_with(job.output(), "left at version");
  EXPECT_THAT(left, AllOf(SizeIs(3), Each("left at version " + version)));
  expect_to_go_on(version, 4);
}

TEST_F(Leaving, a_program_that_looks_needs_no_disk) {
  MendProcess job(line("asks", {"--on-term", "checkpoint"}, {}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(lines_with(job.output(), "left at version"), SizeIs(3));
  EXPECT_THAT(job.errors(),
              AllOf(HasSubstr("the job has left in time (mend run was sent SIGTERM)\n"), Not(HasSubstr("on disk"))));
}

TEST_F(Leaving, sigterm_to_one_rank_is_for_all) {
  MendProcess job(line("asks", {}, {disk()}));
  job.wait_for_output("goes");
  auto processes = launched_with_argument("leaves:asks", job);
  ASSERT_THAT(processes, SizeIs(4));
  std::ranges::sort(processes);
  ::kill(processes.front(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), HasSubstr("the job has left in time (a process was sent SIGTERM); version "));
  EXPECT_THAT(lines_with(job.output(), "left at version"), SizeIs(3));
}

TEST_F(Leaving, a_time_limit_that_is_near_is_a_request) {
  MendProcess job(line("ignores", {"--time-limit", "2s", "--time-margin", "500ms"}, {disk()}));
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), AllOf(HasSubstr("the time limit is near: the job is asked to leave at its next commit"),
                                  HasSubstr("the job has left in time (its time limit is near); version ")));
  expect_to_go_on(version_in(job.errors()), 3);
}

TEST_F(Leaving, a_limit_makes_no_difference_to_a_job_that_finishes_before) {
  MendProcess job(line("ends", {"--time-limit", "1h"}, {disk()}));
  EXPECT_EQ(job.wait(), 0) << job.errors();
  EXPECT_THAT(job.errors(), IsEmpty());
}

/// After the time in which mend run takes it for the first one.
void send_another_sigterm(const MendProcess& job) {
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  ::kill(job.pid(), SIGTERM);
}

TEST_F(Leaving, a_second_sigterm_ends_the_job_at_once) {
  MendProcess job(line("never_commits", {}, {disk()}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  job.wait_for_errors("a second SIGTERM ends it at once");
  ::kill(job.pid(), SIGTERM);  // at once: it is the same, which has come in two ways
  send_another_sigterm(job);
  EXPECT_EQ(job.wait(), 128 + SIGTERM) << job.errors();
}

TEST_F(Leaving, a_signal_for_the_whole_group_is_one_for_mend_run) {
  MendProcess job(line("ignores", {}, {disk()}));
  job.wait_for_output("goes");
  ::kill(-job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), HasSubstr("the job has left in time (mend run was sent SIGTERM); version "));
}

TEST_F(Leaving, sigterm_is_a_request_before_any_process_has_begun) {
  MendProcess job(line("asks", {}, {disk()}));
  // From when mpirun has been started, mend run holds signals. Its children are mend run until they become mpirun.
  const auto is_of_another_program = [](pid_t one) {
    const auto program = support::program_of(one);
    return !program.empty() && program != std::filesystem::canonical(MEND_COMMAND);
  };
  ASSERT_TRUE(
      support::soon([&] { return std::ranges::any_of(processes_with_argument(disk()), is_of_another_program); }));
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), HasSubstr("the job has left in time (mend run was sent SIGTERM); version "));
}

TEST_F(Leaving, a_job_that_nohup_has_started_outlives_its_terminal) {
  const auto before = std::signal(SIGHUP, SIG_IGN);  // inherited, as from nohup
  MendProcess job(line("asks", {}, {disk()}));
  std::signal(SIGHUP, before);
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGHUP);
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
}

/// Reads what a terminal shows, until it shows `text` or nothing uses it any more.
std::string read_terminal(int terminal, const std::string& text) {
  std::string shown;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; shown.find(text) == std::string::npos;
       shown.append(buffer.data(), static_cast<std::size_t>(count))) {
    count = ::read(terminal, buffer.data(), buffer.size());
    if (count <= 0) break;
  }
  return shown;
}

// mpirun is then not in the terminal's foreground group.
TEST(LeavingATerminal, ctrl_c_ends_a_job_at_once_that_nohup_has_started) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  int terminal = -1;
  const pid_t job = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (job == 0) {
    ::execl(MEND_COMMAND, MEND_COMMAND, "run", "-n", "1", "--", "sh", "-c", "echo begun; sleep 60", nullptr);
    ::_exit(127);
  }
  std::signal(SIGHUP, before);
  ASSERT_GT(job, 0);
  EXPECT_THAT(read_terminal(terminal, "begun\r\n"), HasSubstr("begun"));
  const auto interrupted = std::chrono::steady_clock::now();
  ASSERT_EQ(::write(terminal, "\x03", 1), 1);
  EXPECT_THAT(read_terminal(terminal, "no such text"), HasSubstr("the job was ended by SIGINT"));
  EXPECT_LT(std::chrono::steady_clock::now() - interrupted, std::chrono::seconds(9));  // mpirun is killed after 10
  int status = 0;
  ASSERT_EQ(::waitpid(job, &status, 0), job);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT);
  ::close(terminal);
}

TEST_F(Leaving, kill_and_no_disk_end_the_job_at_the_first_sigterm) {
  for (const auto& [options, of_program] :
       {std::pair(std::vector<std::string>{"--on-term", "kill"}, std::vector{disk()}),
        std::pair(std::vector<std::string>{}, std::vector<std::string>{})}) {
    MendProcess job(line("asks", options, of_program));
    job.wait_for_output("goes");
    ::kill(job.pid(), SIGTERM);
    EXPECT_EQ(job.wait(), 128 + SIGTERM) << job.errors();
    EXPECT_THAT(job.errors(), HasSubstr("the job was ended by SIGTERM"));
  }
}

TEST_F(Leaving, without_a_disk_a_program_that_does_not_look_goes_on_and_that_is_said_once) {
  MendProcess job(line("ignores", {"--on-term", "checkpoint"}, {}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  job.wait_for_errors(
      "the job is asked to leave (mend run was sent SIGTERM) and goes on: nothing is on disk "
      "(--mend-disk), and the program does not ask should_exit()");
  send_another_sigterm(job);
  EXPECT_EQ(job.wait(), 128 + SIGTERM) << job.errors();
  EXPECT_THAT(lines_with(job.errors(), "and goes on"), SizeIs(1));
}

TEST_F(Leaving, a_rank_that_dies_at_that_commit_is_replaced_and_all_leave_at_the_next) {
  MendProcess job(line("asks_and_dies", {}, {disk()}));
  job.wait_for_output("goes");
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(), 4) << job.errors();
  EXPECT_THAT(job.errors(), HasSubstr("rank 1: process 1 died (SIGKILL)"));
  const std::string version = version_in(job.errors());
  EXPECT_THAT(lines_with(job.output(), "left at version"), AllOf(SizeIs(3), Each("left at version " + version)));
  EXPECT_THAT(lines_with(job.output(), "has "), Each(HasSubstr("in epoch 1")));
  expect_to_go_on(version, 3);
}

TEST_F(Leaving, programs_in_c_leave_too) {
  for (const char* how : {"leaves", "leaves_unasked"}) {
    MendProcess job(
        {"run", "-n", "2", "--time-limit", "2s", "--time-margin", "500ms", "--", MEND_C_SUBJECT, how, disk()});
    EXPECT_EQ(job.wait(), 4) << how << job.errors();
    EXPECT_THAT(job.errors(), HasSubstr("the job has left in time (its time limit is near); version ")) << how;
    EXPECT_THAT(lines_with(job.output(), "left"), SizeIs(how == std::string("leaves") ? 2 : 0));
  }
}

TEST_F(Leaving, limits_that_are_no_times_are_refused) {
  MendProcess job(line("ends", {"--time-limit", "soon"}, {}));
  EXPECT_EQ(job.wait(), 2);
  EXPECT_THAT(job.errors(), HasSubstr("'soon' is not a time"));
  MendProcess without_unit(line("ends", {"--time-limit", "90"}, {}));
  EXPECT_EQ(without_unit.wait(), 2);
  EXPECT_THAT(without_unit.errors(), HasSubstr("give 90s for seconds, or 90min for minutes"));
}

}  // namespace
