#include "jobs/run/verdict.hpp"

#include "tests/support/fuzz.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

namespace mend::jobs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int launched = 4;

ChildEnd exited(int code) { return {.exit_code = code, .ended_by = {}, .asked_to_end = {}, .gave_up = false}; }
ChildEnd stuck() { return {.exit_code = 0, .ended_by = {}, .asked_to_end = {}, .gave_up = false, .was_stuck = true}; }
Reports all_started() { return {.started = launched, .running = launched, .finished = {}}; }
Reports agreed(int code) { return {.started = launched, .running = launched, .finishers = launched, .finished = code}; }

TEST(Verdict, an_agreed_good_end_is_success) {
  const auto verdict = judge(exited(0), agreed(0), launched);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_THAT(verdict.sentence, IsEmpty());
}

TEST(Verdict, an_abort_counts_whatever_the_others_did) {
  Reports reports = agreed(0);
  reports.aborted = 5;
  ChildEnd ended = exited(0);
  ended.gave_up = true;
  EXPECT_EQ(judge(ended, reports, launched).exit_code, 5);
  EXPECT_THAT(judge(ended, reports, launched).sentence, HasSubstr("MPI_Abort with code 5"));
  reports.aborted = 0;
  EXPECT_EQ(judge(ended, reports, launched).exit_code, 1);
  reports.aborted = -1;
  EXPECT_EQ(judge(ended, reports, launched).exit_code, 255);
}

TEST(Verdict, deaths_after_the_agreed_end_do_not_spoil_it) {
  EXPECT_EQ(judge(exited(128 + SIGKILL), agreed(0), launched).exit_code, 0);
}

TEST(Verdict, of_a_signal_that_was_passed_on_it_is_said_if_the_processes_died_of_it) {
  ChildEnd ended = exited(128 + SIGUSR1);
  ended.passed_on = {SIGUSR1, SIGUSR2};
  const auto verdict = judge(ended, all_started(), launched);
  EXPECT_EQ(verdict.exit_code, 128 + SIGUSR1);
  EXPECT_FALSE(verdict.did_not_start);
  EXPECT_THAT(verdict.sentence, HasSubstr("ended by SIGUSR1, which was sent to mend run"));
  EXPECT_EQ(judge(ended, agreed(0), launched).exit_code, 0) << "the job had finished";
  ended.exit_code = 128 + SIGKILL;
  EXPECT_EQ(judge(ended, all_started(), launched).exit_code, 3) << "they died of something else";
  EXPECT_EQ(judge(exited(128 + SIGUSR1), all_started(), launched).exit_code, 3) << "somebody else sent it";
}

TEST(Verdict, an_error_of_the_program_after_the_agreed_end_counts) {
  const auto verdict = judge(exited(5), agreed(0), launched);
  EXPECT_EQ(verdict.exit_code, 5);
  EXPECT_THAT(verdict.sentence, HasSubstr("exit code 5"));
}

TEST(Verdict, a_process_that_exits_before_the_end_is_a_death_like_another) {
  Reports reports = agreed(0);
  reports.quit = 1;
  reports.finishers = reports.left = launched - 1;
  EXPECT_EQ(judge(exited(5), reports, launched).exit_code, 0);
  reports.error_afterwards = 6;
  EXPECT_EQ(judge(exited(5), reports, launched).exit_code, 6);
  reports.error_afterwards.reset();
  reports.left = launched - 2;
  EXPECT_EQ(judge(exited(5), reports, launched).exit_code, 5)
      << "it may be of the one that has not said what it exited with";
}

TEST(Verdict, of_mpirun_that_was_killed_it_is_said_for_nobody_was_heard_any_more) {
  ChildEnd killed = exited(0);
  killed.ended_by = SIGKILL;
  Reports reports = agreed(3);
  reports.said = true;
  const auto verdict = judge(killed, reports, launched);
  EXPECT_EQ(verdict.exit_code, 128 + SIGKILL) << "whatever the processes made of it in the meantime";
  EXPECT_THAT(verdict.sentence, HasSubstr("mpirun was killed by SIGKILL"));
  EXPECT_EQ(judge(killed, agreed(0), launched).exit_code, 0) << "it had finished before";
}

TEST(Verdict, a_crash_after_the_agreed_end_counts) {
  Reports reports = agreed(0);
  reports.crashed_afterwards = SIGSEGV;
  const auto verdict = judge(exited(0), reports, launched);
  EXPECT_EQ(verdict.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(verdict.sentence, HasSubstr("SIGSEGV after the job had finished"));
}

TEST(Verdict, an_error_of_one_process_after_the_agreed_end_counts_and_was_told_by_it) {
  Reports reports = agreed(0);
  reports.erred = 1;
  const auto verdict = judge(exited(0), reports, launched);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.sentence, IsEmpty());
  EXPECT_EQ(judge(
                exited(0), [&] { return reports.finished = 3, reports; }(), launched)
                .exit_code,
            3);
}

TEST(Verdict, the_exit_code_agreed_on_is_returned_and_was_explained_by_those_who_agreed) {
  for (const int code : {1, 2, 3}) {
    const auto verdict = judge(exited(code), agreed(code), launched);
    EXPECT_EQ(verdict.exit_code, code);
    EXPECT_THAT(verdict.sentence, IsEmpty());
  }
  EXPECT_EQ(judge(exited(0), agreed(3), launched).exit_code, 3);
}

TEST(Verdict, a_reason_is_told_for_those_who_died_before_they_could_tell_it) {
  Reports reports = agreed(3);
  reports.unsaid = "too few are left";
  EXPECT_EQ(judge(exited(3), reports, launched).exit_code, 3);
  EXPECT_EQ(judge(exited(3), reports, launched).sentence, "too few are left");
  reports.said = true;
  EXPECT_THAT(judge(exited(3), reports, launched).sentence, IsEmpty());
  reports.said = false;
  reports.started = launched - 1;
  EXPECT_THAT(judge(exited(3), reports, launched).sentence, IsEmpty()) << "whoever speaks may be elsewhere";
}

TEST(Verdict, what_nobody_has_agreed_on_and_told_is_told) {
  for (const int code : {1, 2, 3, 5}) {
    EXPECT_THAT(judge(exited(code), all_started(), launched).sentence, HasSubstr("exit code " + std::to_string(code)));
  }
  EXPECT_THAT(judge(exited(3), {}, launched).sentence, HasSubstr("exit code 3"));
}

TEST(Verdict, a_job_whose_processes_were_all_killed_failed_although_mpirun_says_0) {
  const auto verdict = judge(exited(0), all_started(), launched);
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_THAT(verdict.sentence, HasSubstr("killed"));
}

TEST(Verdict, what_processes_on_other_nodes_did_only_mpirun_knows) {
  const Reports half{.started = 2, .running = 2, .finished = {}};
  EXPECT_EQ(judge(exited(0), half, launched).exit_code, 0);
  EXPECT_EQ(judge(exited(7), half, launched).exit_code, 7);
}

TEST(Verdict, a_program_that_reports_nothing_is_judged_by_mpiruns_exit_code) {
  EXPECT_EQ(judge(exited(0), {}, launched).exit_code, 0);
  EXPECT_THAT(judge(exited(2), {}, launched).sentence, IsEmpty());
  EXPECT_THAT(judge(exited(9), {}, launched).sentence, HasSubstr("exit code 9"));
  EXPECT_THAT(judge(exited(128 + SIGSEGV), {}, launched).sentence, HasSubstr("SIGSEGV"));
  EXPECT_THAT(judge(exited(213), {}, launched).sentence, HasSubstr("mpirun"));
}

TEST(Verdict, a_program_that_never_calls_mend_is_told_so_whatever_it_ends_with) {
  for (const int code : {0, 9, 128 + SIGKILL}) {
    const auto verdict = judge(exited(code), {}, launched, {.all_here = true});
    EXPECT_EQ(verdict.exit_code, code);
    EXPECT_THAT(verdict.sentence, testing::EndsWith("the program never called mend::run, and ran unprotected"));
  }
  EXPECT_THAT(judge(exited(9), {}, launched, {.all_here = true}).sentence,
              testing::StartsWith("the job ended with exit code 9; "));
  EXPECT_THAT(judge(exited(213), {}, launched, {.all_here = true}).sentence, Not(HasSubstr("never called")))
      << "mpirun may not have run it";
  EXPECT_THAT(judge(exited(9), all_started(), launched, {.all_here = true}).sentence, Not(HasSubstr("never called")));
}

TEST(Verdict, a_second_signal_does_not_hide_that_the_job_has_left_in_time) {
  ChildEnd ended = exited(128 + SIGTERM);
  ended.asked_to_end = SIGTERM;
  const auto verdict = judge(ended, agreed(4), launched);
  EXPECT_EQ(verdict.exit_code, 4);
  EXPECT_THAT(verdict.sentence, HasSubstr("the job has left in time; its processes were ended by SIGTERM"));
}

TEST(Verdict, an_mpirun_that_was_stopped_is_told_of) {
  EXPECT_THAT(judge(stuck(), agreed(0), launched).sentence, IsEmpty());
  const auto verdict = judge(stuck(), agreed(0), launched, {.mpirun_was_stopped = true});
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_THAT(verdict.sentence, HasSubstr("mpirun was stopped and had to be killed: output may be missing"));
}

TEST(Verdict, an_mpirun_that_was_stopped_has_kept_the_reason_of_a_failed_job) {
  EXPECT_THAT(judge(stuck(), agreed(3), launched).sentence, IsEmpty());
  const auto verdict = judge(stuck(), agreed(3), launched, {.mpirun_was_stopped = true});
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_EQ(verdict.sentence,
            "the job has ended with exit code 3, but mpirun was stopped and had to be killed: their last messages are "
            "lost");
}

TEST(Verdict, a_job_that_was_told_to_end_says_by_which_signal) {
  auto end = exited(1);
  end.asked_to_end = SIGTERM;
  const auto verdict = judge(end, all_started(), launched);
  EXPECT_EQ(verdict.exit_code, 128 + SIGTERM);
  EXPECT_THAT(verdict.sentence, HasSubstr("SIGTERM"));
}

TEST(Verdict, a_job_that_finished_before_it_heard_the_signal_finished) {
  auto end = exited(0);
  end.asked_to_end = SIGINT;
  EXPECT_EQ(judge(end, agreed(0), launched).exit_code, 0);
}

TEST(Verdict, one_that_wakes_when_all_is_over_and_finds_itself_alone_changes_nothing) {
  Reports reports = agreed(0);
  reports.too_late = {3};
  EXPECT_EQ(judge(exited(3), reports, launched).exit_code, 0);
  EXPECT_EQ(judge(exited(1), reports, launched).exit_code, 1) << "the application's own";
}

TEST(Verdict, an_mpirun_that_ends_a_running_job_by_itself_is_named) {
  const auto verdict = judge(exited(1), all_started(), launched, {.all_here = true});
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.sentence, HasSubstr("mpirun has ended the running job, with exit code 1: it was sent a signal"));
  Reports quit = all_started();
  quit.quit_with = {1};
  EXPECT_THAT(judge(exited(1), quit, launched, {.all_here = true}).sentence, Not(HasSubstr("mpirun has ended")));
  EXPECT_THAT(judge(exited(1), all_started(), launched).sentence, Not(HasSubstr("mpirun has ended")))
      << "processes elsewhere have reported nothing here";
}

TEST(Verdict, an_mpirun_that_was_killed_is_named) {
  auto end = exited(0);
  end.ended_by = SIGKILL;
  const auto verdict = judge(end, all_started(), launched);
  EXPECT_EQ(verdict.exit_code, 128 + SIGKILL);
  EXPECT_THAT(verdict.sentence, HasSubstr("mpirun was killed"));
}

TEST(Verdict, an_end_that_was_agreed_on_stands_though_processes_had_to_be_killed_to_get_there) {
  auto end = exited(0);
  end.gave_up = true;
  EXPECT_EQ(judge(end, agreed(0), launched).exit_code, 0);
  EXPECT_EQ(judge(end, agreed(2), launched).exit_code, 2);
}

TEST(Verdict, a_job_that_never_started_to_run_failed) {
  auto end = exited(0);
  end.gave_up = true;
  const auto verdict = judge(end, {.started = 3, .finished = {}}, launched);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.sentence, HasSubstr("MPI_Init"));
}

TEST(Verdict, a_job_that_is_interrupted_while_its_start_is_given_up_is_not_launched_anew) {
  auto end = exited(1);
  end.gave_up = true;
  end.asked_to_end = SIGINT;
  const auto verdict = judge(end, {.started = 3, .finished = {}}, launched);
  EXPECT_EQ(verdict.exit_code, 128 + SIGINT);
  EXPECT_FALSE(verdict.did_not_start);
}

TEST(Verdict, a_job_that_starts_slowly_is_told_from_one_that_has_lost_a_process) {
  auto end = exited(0);
  end.gave_up = true;
  const Reports reports{.started = launched, .running = 1, .finished = {}};
  const LauncherView stuck{.all_here = true, .lost_at_start = 0, .start_limit = std::chrono::seconds(30)};
  EXPECT_EQ(judge(end, reports, launched, stuck).exit_code, 1);
  EXPECT_EQ(
      judge(end, reports, launched, stuck).sentence,
      "the job was ended because its processes had not all met within 30 s (--start-limit): none has died; 1 of 4 "
      "came through MPI_Init; nothing has moved in the last 7.5 s: some hang, or cannot reach the others");
  Reports before_init = reports;
  before_init.running = 0;
  EXPECT_THAT(judge(end, before_init, launched, stuck).sentence,
              HasSubstr("none has died; 4 of 4 came to mend::run, and none came through MPI_Init; nothing has moved"));
  LauncherView slow = stuck;
  slow.start_limit = std::chrono::seconds(60);
  slow.late_reports = 17;
  EXPECT_EQ(judge(end, reports, launched, slow).exit_code, 1);
  EXPECT_THAT(
      judge(end, reports, launched, slow).sentence,
      HasSubstr("(--start-limit): none has died; 1 of 4 came through MPI_Init; 17 of their steps came in the last "
                "15 s: the start is slow, and goes on"));
  const LauncherView dead{.all_here = true, .lost_at_start = 1, .start_limit = std::chrono::seconds(60)};
  EXPECT_THAT(judge(end, reports, launched, dead).sentence, HasSubstr("MPI_Init: a process died there"));
  EXPECT_THAT(judge(end, reports, launched).sentence, HasSubstr("died there, or cannot reach"));
}

TEST(Verdict, a_crash_before_the_job_has_begun_is_the_programs) {
  Reports reports{.started = launched - 1, .finished = {}, .early_crashes = {{SIGSEGV, 2}}};
  auto end = exited(0);
  end.gave_up = true;
  EXPECT_EQ(judge(end, reports, launched).exit_code, 128 + SIGSEGV);
  EXPECT_THAT(judge(end, reports, launched).sentence,
              HasSubstr("process 2 was ended by SIGSEGV before the job had begun"));
  reports.introduced = launched - 1;
  EXPECT_THAT(judge(exited(0), reports, launched).sentence, testing::Not(HasSubstr("SIGSEGV"))) << "the others went on";
}

TEST(Verdict, a_program_that_never_called_mend_is_told_so_where_that_is_known) {
  EXPECT_EQ(judge(exited(0), {}, launched, {.all_here = true}).exit_code, 0);
  EXPECT_THAT(judge(exited(0), {}, launched, {.all_here = true}).sentence, HasSubstr("never called mend::run"));
  EXPECT_THAT(judge(exited(0), {}, launched, {.all_here = false}).sentence, IsEmpty());
}

TEST(Verdict, what_mpirun_returns_when_MPI_Init_fails_is_not_the_programs) {
  for (const Reports& reports :
       {Reports{.started = launched, .finished = {}}, Reports{.started = launched, .running = 1, .finished = {}}}) {
    const auto verdict = judge(exited(14), reports, launched);
    EXPECT_EQ(verdict.exit_code, 1);
    EXPECT_THAT(verdict.sentence, HasSubstr("MPI_Init: a process died there"));
  }
  const Reports own{.started = launched, .running = 1, .quit = 1, .quit_with = {14}, .finished = {}};
  EXPECT_EQ(judge(exited(14), own, launched).exit_code, 14) << "a process says that it exited with that";
  EXPECT_EQ(judge(exited(14), all_started(), launched).exit_code, 14) << "all were through";
}

TEST(Verdict, all_killed_in_MPI_Init_is_told_as_such) {
  for (const Reports& reports : {Reports{.loaded = launched, .started = launched, .finished = {}},
                                 Reports{.loaded = launched, .started = 1, .finished = {}}}) {
    for (const int code : {0, 128 + SIGKILL}) {
      const auto verdict = judge(exited(code), reports, launched);
      EXPECT_EQ(verdict.exit_code, 3);
      EXPECT_THAT(verdict.sentence, HasSubstr("every process"));
    }
  }
}

TEST(Verdict, one_that_exits_before_the_others_can_meet_it_is_what_they_waited_for) {
  auto end = exited(0);
  end.gave_up = true;
  end.pid = 7;
  Reports reports{.started = launched - 1, .quit = 1, .skipped = {{5, 7}}, .finished = {}};
  EXPECT_EQ(judge(end, reports, launched).exit_code, 5);
  EXPECT_THAT(judge(end, reports, launched).sentence, HasSubstr("code 5 before it came to mend::run"));
  end.gave_up = false;
  end.exit_code = 128 + SIGKILL;
  EXPECT_EQ(judge(end, reports, launched).exit_code, 5) << "also when nobody is left to wait";
  end.gave_up = true;
  reports.skipped = {{0, 7}};
  EXPECT_EQ(judge(end, reports, launched).exit_code, 1);
  reports.skipped = {{5, 8}};
  EXPECT_THAT(judge(end, reports, launched).sentence, HasSubstr("MPI_Init")) << "that one was started by a script";
}

TEST(Verdict, a_program_that_was_killed_before_it_had_begun_failed) {
  const auto verdict = judge(exited(0), {.loaded = launched, .finished = {}}, launched);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.sentence, HasSubstr("before it had begun"));
  EXPECT_EQ(judge(exited(128 + SIGKILL), {.loaded = launched, .finished = {}}, launched).exit_code, 1);
  EXPECT_EQ(judge(exited(128 + SIGSEGV), {.loaded = launched, .finished = {}}, launched).exit_code, 128 + SIGSEGV)
      << "it crashed";
  EXPECT_EQ(judge(exited(0), {.loaded = launched, .quit = launched, .finished = {}}, launched).exit_code, 0)
      << "--help, say";
}

TEST(Verdict, all_killed_is_no_success_whatever_mpirun_makes_of_it) {
  EXPECT_EQ(judge(exited(128 + SIGKILL), all_started(), launched).exit_code, 3);
}

TEST(Verdict, an_mpirun_that_had_to_be_ended_is_not_asked) {
  auto end = stuck();
  end.ended_by = SIGKILL;
  EXPECT_EQ(judge(end, agreed(0), launched).exit_code, 0);
  EXPECT_EQ(judge(end, agreed(2), launched).exit_code, 2);
  EXPECT_EQ(judge(end, {}, launched).exit_code, 1);
}

TEST(Reports, tell_that_mpirun_waits_for_the_lost_when_all_who_finished_have_left) {
  Reports reports = agreed(0);
  reports.finishers = 3;
  reports.left = 3;
  EXPECT_FALSE(reports.waits_for_the_lost()) << "nobody is lost";
  reports.unseen = 1;
  EXPECT_TRUE(reports.waits_for_the_lost());
  reports.left = 2;
  EXPECT_FALSE(reports.waits_for_the_lost()) << "one has something to do yet";
}

/// The reports in a file with this text. Each test has its own file, because tests may run in parallel.
Reports reports_in(const std::string& text) {
  const auto file =
      std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(file) << text;
  const auto reports = read_reports(file, "here");
  std::filesystem::remove(file);
  return reports;
}

TEST(Reports, lines_are_counted_and_the_first_exit_code_counts) {
  const auto reports = reports_in("started\nstarted\nrunning\nfinished 0\nnonsense\nfinished 3\nfinished 1\n");
  EXPECT_EQ(reports.started, 2);
  EXPECT_EQ(reports.running, 1);
  EXPECT_EQ(reports.finished, 0);
  EXPECT_EQ(reports.too_late, (std::set{1, 3}));
}

TEST(Reports, crashes_before_the_job_has_begun_name_signal_and_process) {
  std::istringstream lines("loaded 70 here\ncrashed-early 11 70 1\ncrashed-early\n");
  const Reports reports = read_reports(lines, "here");
  ASSERT_EQ(reports.early_crashes.size(), 1u);
  EXPECT_EQ(reports.early_crashes[0], (EarlyCrash{.signal = 11, .process = 1}));
}

TEST(Reports, who_has_finished_and_exits_with_something_else_has_erred) {
  const auto reports = reports_in("quit 4\nfinished 0\nfinished 0\nfinished 3\nleft 3\nleft 0\nleft 7\n");
  EXPECT_EQ(reports.quit, 1);
  EXPECT_EQ(reports.quit_with, std::set{4});
  EXPECT_EQ(reports.left, 3);
  EXPECT_EQ(reports.error_afterwards, 7);
}

TEST(Reports, who_crashes_after_the_end_has_left) {
  const auto reports = reports_in("finished 0\nfinished 0\nleft 0\ncrashed 11\n");
  EXPECT_EQ(reports.left, 2);
  EXPECT_EQ(reports.crashed_afterwards, SIGSEGV);
}

TEST(Reports, who_cannot_go_on_after_the_end_has_erred) {
  EXPECT_EQ(reports_in("finished 0\nerred 4711\nleft 0\n").erred, 1);
}

TEST(Reports, who_cannot_go_on_while_the_end_is_decided_has_erred_unless_the_others_recovered) {
  EXPECT_EQ(reports_in("erred 4711 2\nended 2\nfinished 0\nleft 0\n").erred, 1);
  EXPECT_EQ(reports_in("erred 4711 2\nended 3\nfinished 0\nleft 0\n").erred, 0);
}

TEST(Reports, of_those_who_skipped_the_start_only_the_launchers_own_count) {
  const auto reports = reports_in("skipped 5 77\nskipped 0 78\n");
  EXPECT_EQ(reports.quit, 2);
  EXPECT_EQ(reports.skipped_by_child_of(79), nullptr);
  ASSERT_NE(reports.skipped_by_child_of(77), nullptr);
  EXPECT_EQ(reports.skipped_by_child_of(77)->exit_code, 5);
}

TEST(Reports, a_reason_is_a_line) {
  const auto reports = reports_in("started\nunsaid too few left to be started\nfinished 3\n");
  EXPECT_EQ(reports.unsaid, "too few left to be started");
  EXPECT_EQ(reports.started, 1);
  EXPECT_EQ(reports.finished, 3);
  EXPECT_FALSE(reports.said);
}

TEST(Reports, tell_how_far_each_process_of_this_machine_has_come) {
  const auto reports = reports_in(
      "loaded 1 here\nloaded 2 here\nloaded 3 there\nloaded 4 here\nintroduced 1\nintroduced 3\nunwatched 1\n"
      "finished 0 2\nclosed 2\nquit 4 4\nloaded\nintroduced\nclosed x\n");
  EXPECT_EQ(reports.stages.size(), 3U) << "the third is elsewhere";
  EXPECT_TRUE(reports.stages.at(1).introduced && reports.stages.at(1).at_end);
  EXPECT_FALSE(reports.stages.at(1).closed);
  EXPECT_TRUE(reports.stages.at(2).at_end && reports.stages.at(2).closed);
  EXPECT_TRUE(reports.stages.at(4).left);
  EXPECT_EQ(reports.lines, 13U);
}

TEST(Reports, name_those_that_were_killed_after_the_end_in_the_programs_own_part) {
  const auto reports = reports_in(
      "loaded 1 here\nloaded 2 here\nloaded 3 here\nloaded 4 there\nfinished 0 1 0 0\nfinished 0 2 1 2\nfinished 0 3 "
      "2\n"
      "finished 0 4 3 1\nclosed 1\nclosed 2\nclosed 3\nclosed 4\nleft 0 1\n");
  EXPECT_THAT(reports.not_left(), testing::ElementsAre(2, 3));
  EXPECT_EQ(reports.names_of({2, 3}), "process 1 (rank 2), process 2");
  EXPECT_THAT(judge(exited(0), reports, launched).sentence,
              testing::StartsWith("process 1 (rank 2), process 2 were killed after the end of the job"));
  EXPECT_THAT(judge(exited(0), reports, launched, {.killed_at_end = {2, 3}}).sentence, IsEmpty())
      << "the launcher has told of them";
}

TEST(Reports, a_file_that_is_not_there_says_nothing) {
  const auto reports = read_reports("/nonexistent/status", "here");
  EXPECT_EQ(reports.started, 0);
  EXPECT_FALSE(reports.finished.has_value());
}

TEST(Reports, a_line_that_makes_no_sense_does_not_hide_those_after_it) {
  for (const std::string garbage :
       {"finished", "finished x", "left", "left 99999999999", "skipped 1", "\xff\xfe", ""}) {
    const auto reports = reports_in("started\n" + garbage + "\nrunning\nfinished 3\nleft 3\n");
    EXPECT_EQ(reports.started, 1) << garbage;
    EXPECT_EQ(reports.running, 1) << garbage;
    EXPECT_EQ(reports.finished, 3) << garbage;
    EXPECT_EQ(reports.left, 1) << garbage;
    EXPECT_EQ(reports.finishers, 1) << garbage;
  }
}

TEST(Reports, are_read_whatever_stands_there) {
  support::Fuzzer fuzzer;
  const std::string valid =
      "loaded\nstarted\nrunning\nunseen\nfinished 3\nleft 3\nquit 2\nskipped 5 77\ncrashed 11\naborted 4\nsaid\n"
      "unsaid no room is left\n";
  for (int i = 0; i < support::fuzz_inputs(); ++i) {
    const std::string text = fuzzer.change(valid);
    const auto lines = 1 + static_cast<int>(std::ranges::count(text, '\n'));
    std::istringstream in(text);
    const Reports reports = read_reports(in, "here");
    ASSERT_LE(reports.loaded + reports.started + reports.running + reports.unseen + reports.finishers + reports.left +
                  reports.quit,
              lines)
        << text;
    ASSERT_EQ(reports.finished.has_value(), reports.finishers > 0) << text;
    const Verdict verdict = judge(exited(0), reports, launched);
    ASSERT_TRUE(verdict.exit_code != 0 || reports.finished == 0 || reports.started < launched) << text;
  }
}

TEST(LostReason, is_what_a_process_has_written_and_nobody_has_seen) {
  Reports reports = agreed(2);
  ChildEnd end = exited(2);
  EXPECT_EQ(lost_reason(end, reports), "") << "there is none";
  reports.said = true;
  reports.reason = "the file is damaged: copy it again";
  EXPECT_EQ(lost_reason(end, reports), reports.reason);
  end.last_errors = "solver: step 3\nmend: the file is damaged:\ncopy it again\nand more\n";
  EXPECT_EQ(lost_reason(end, reports), "") << "in the report, it is one line";
  end.last_errors = "mend: the file is dama";
  EXPECT_EQ(lost_reason(end, reports), reports.reason);
  reports.reason = "\x1b[1mdamaged";
  EXPECT_EQ(lost_reason(end, reports), "\\x1b[1mdamaged") << "in what is shown, control characters are spelled out";
  end.last_errors = "mend: \\x1b[1mdamaged\n";
  EXPECT_EQ(lost_reason(end, reports), "");
}

}  // namespace
}  // namespace mend::jobs
