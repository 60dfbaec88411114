// The ways to start a program of mend, and what it leaves behind: by mend run, by plain mpirun, or directly; with MPI
// initialised by mend or by the caller; with options given in every way.

#include "tests/support/subject_job.hpp"
#include "tests/support/kernel.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>

namespace {

using support::Job;
using support::JobEnd;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

JobEnd mpirun(const std::vector<std::string>& options, int processes, const std::vector<std::string>& program) {
  Job job;
  job.command = {MEND_MPIRUN, "--oversubscribe"};
  job.command.insert(job.command.end(), options.begin(), options.end());
  job.command.insert(job.command.end(), {"-np", std::to_string(processes)});
  job.command.insert(job.command.end(), program.begin(), program.end());
  job.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return support::run_job(job);
}

TEST(PlainMpirun, with_fault_tolerance_does_as_mend_run_does) {
  const auto end = mpirun({"--with-ft", "ulfm"}, 4, {MEND_SUBJECT, "rank_1_dies", "--mend-spares", "1"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 10, 1));
}

TEST(PlainMpirun, with_fault_tolerance_starts_processes_for_the_dead_as_mend_run_does) {
  const auto end = mpirun({"--with-ft", "ulfm"}, 3, {MEND_SUBJECT, "rank_1_dies", "--mend-on-failure", "spawn"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 10, 1));
}

TEST(PlainMpirun, without_fault_tolerance_warns_and_goes_on_unprotected) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--with-ft", "no"}, {"--mca", "mpi_ft_enable", "0"}}) {
    const auto end = mpirun(options, 3, {MEND_SUBJECT, "nobody_dies"});
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_EQ(said(end), counted(3, 10, 0));
    int told = 0;
    for (const std::string& line : support::lines_of(end.errors)) told += line.starts_with("mend") ? 1 : 0;
    EXPECT_EQ(told, 1) << end.errors;
    EXPECT_THAT(end.errors, HasSubstr("unprotected: the MPI library runs with its fault tolerance switched off"));
  }
}

TEST(PlainMpirun, with_a_layer_that_does_not_survive_failures_is_refused) {
  const auto end = mpirun({"--with-ft", "ulfm", "--mca", "pml", "^cm"}, 2, {MEND_SUBJECT, "nobody_dies"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(support::complaints(end),
              Contains("mend: pml ^cm is set for Open MPI, and only ob1 survives failures: leave it out"))
      << end.errors;
}

TEST(PlainMpirun, takes_the_number_of_spares_from_the_environment) {
  const auto end =
      mpirun({"--with-ft", "ulfm", "-x", "MEND_SPARES=2"}, 4, {MEND_SUBJECT, "all_ranks_die_before_a_commit"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(2, 10, 1));
}

TEST(AProcess, that_refuses_alone_ends_the_job_and_says_why) {
  expect_end(play("process_1_refuses", 3, 1), 2, "process 1 finds no paper");
}

TEST(AProgram, that_crashes_before_mend_is_named_with_the_signal) {
  const std::string one = "mend: process 1 was ended by SIGABRT before the job had begun";
  const auto all = play("crashes_before_mend", 3, 1);
  EXPECT_EQ(all.exit_code, 128 + SIGABRT);
  EXPECT_THAT(all.errors, testing::ContainsRegex(" was ended by SIGABRT before the job had begun, and so w(as|ere) "));
  for (const char* scenario : {"process_1_crashes_before_mend", "process_1_crashes_after_its_own_init"}) {
    const auto end = play(scenario, 3, 1);
    EXPECT_EQ(end.exit_code, 128 + SIGABRT) << scenario;
    // The library may end the other processes before the launcher tries again.
    EXPECT_THAT(end.errors,
                AllOf(HasSubstr(one + ": the program fails there by itself"), testing::Not(HasSubstr("launch 3 of 3")),
                      testing::Not(HasSubstr("did not get through"))))
        << scenario;
  }
}

TEST(AProgram, that_crashes_after_mend_has_finished_with_an_error) {
  const auto end = play("crashes_after_mend", 3, 1);
  EXPECT_EQ(end.exit_code, 128 + SIGABRT);
  EXPECT_EQ(said(end), counted(3, 3, 0));
  EXPECT_THAT(end.errors, HasSubstr("a process was ended by SIGABRT after the job had finished"));
}

TEST(AProgram, that_is_killed_after_mend_is_told_of_and_one_that_leaves_quickly_is_not) {
  const auto killed = play("is_killed_after_mend", 3, 0);
  EXPECT_EQ(killed.exit_code, 0);
  EXPECT_THAT(
      support::complaints(killed),
      ElementsAre("mend: process 1 (rank 1) was killed after the end of the job, in the program's own part: the "
                  "job's exit code stands"));
  const auto quick = play("leaves_quickly_after_mend", 3, 0);
  EXPECT_EQ(quick.exit_code, 0);
  EXPECT_THAT(quick.errors, IsEmpty());
}

TEST(AJob, that_loses_more_than_its_spares_at_the_start_says_so_also_when_process_0_is_among_them) {
  expect_end(play("processes_0_and_1_die_at_the_start", 3, 1), 3,
             "2 of 4 processes died while the job was starting, and it has only 1 spare$");
}

TEST(AJob, that_loses_more_than_its_spares_at_the_start_begins_with_fewer_ranks_where_it_may) {
  const auto end = play("process_1_dies_at:start.introduce", 3, 0, {"--mend-on-failure=shrink"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(2, 10, 0));
  EXPECT_THAT(end.errors, testing::ContainsRegex("note: process 1 died( .SIGKILL.)? before the job had begun; the job "
                                                 "begins with 2 ranks instead of 3\n"));
}

TEST(AJob, that_loses_more_than_its_spares_at_the_start_begins_with_blank_ranks_where_it_may) {
  const auto end = play("process_1_dies_at:start.introduce", 3, 0, {"--mend-on-failure=blank"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(2, 10, 0));
}

TEST(AJob, whose_processes_die_in_MPI_Init_goes_on_though_some_come_too_late_to_meet_them) {
  const std::string late = "2";
  for (const std::string dying : {"0", "1,3"}) {
    const auto end = play(dying, 3, dying == "0" ? 1 : 2, {late}, MEND_EARLY_DEATHS);
    EXPECT_EQ(end.exit_code, 0) << dying << ": " << end.errors;
    EXPECT_THAT(said(end), ElementsAre("rank 0: 3 ranks", "rank 1: 3 ranks", "rank 2: 3 ranks")) << dying;
  }
  expect_end(play("0,1,4,5", 4, 2, {late}, MEND_EARLY_DEATHS), 3,
             "4 of 6 processes died while the job was starting, and it has only 2 spares");
}

/// A process that does not find the launcher's daemon is a world of its own in MPI.
TEST(AJob, of_which_a_process_does_not_reach_the_launcher_ends_with_a_sentence) {
  const std::string cut_off =
      "if [ \"$PMIX_RANK\" = 0 ]; then for v in $(env | grep -o '^\\(PMIX\\|OMPI\\|PRTE\\)_[^=]*'); do unset $v; done; "
      "fi; exec \"$0\" \"$@\"";
  const auto end = support::run_job(support::mend_run(3, 1, {"/bin/sh", "-c", cut_off, MEND_SUBJECT, "nobody_dies"}));
  EXPECT_EQ(end.exit_code, 1) << end.errors;
  EXPECT_THAT(said(end), IsEmpty());
  EXPECT_THAT(end.errors, HasSubstr("MPI knows only 1 of the 4 processes that were launched"));
}

TEST(AProcess, that_alone_cannot_split_in_a_recovery_ends_and_the_others_go_on) {
  for (const std::string who : {"0", "2", "3"}) {  // the first rank, another, and the spare that takes over
    const auto end = play("cannot_split:" + who, 3, 3, {"--mend-redundancy=replicas:2"});
    EXPECT_EQ(end.exit_code, 0) << who << end.errors;
    EXPECT_THAT(said(end), SizeIs(3)) << who;
    EXPECT_THAT(end.errors, HasSubstr("process " + who + " cannot go on: nothing to split with")) << who;
  }
}

TEST(ByItself, a_program_runs_as_a_single_rank) {
  Job job;
  job.command = {MEND_SUBJECT, "nobody_dies"};
  const auto end = support::run_job(job);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(1, 10, 0));
  EXPECT_THAT(end.errors, IsEmpty());
}

TEST(ByItself, a_program_asked_for_spares_is_refused) {
  Job job;
  job.command = {MEND_SUBJECT, "nobody_dies", "--mend-spares", "1"};
  expect_end(support::run_job(job), 2, "1 spare of 1 process: nobody is left to work");
}

TEST(Options, that_are_wrong_are_refused_in_one_sentence_on_one_rank) {
  expect_end(play("nobody_dies", 3, 0, {"--mend-spares", "many"}), 2, "--mend-spares.*many");
  expect_end(play("nobody_dies", 3, 0, {"--mend-no-such-thing", "1"}), 2, "--mend-no-such-thing");
  expect_end(mpirun({"--with-ft", "ulfm"}, 3, {MEND_SUBJECT, "nobody_dies", "--mend-spares", "3"}), 2,
             "3 spares of 3 processes: nobody is left to work");
  expect_end(play("nobody_dies", 3, 0, {"--mend-log", "loud"}), 2, "--mend-log");
}

TEST(Options, are_read_and_the_callers_arguments_stay_as_they_are) {
  const auto end = play("shows_its_arguments", 1, 0, {"a", "--mend-versions", "3", "b"});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), ElementsAre("rank 0: shows_its_arguments a --mend-versions 3 b"));
}

TEST(Help, is_printed_once_and_the_body_is_not_entered) {
  expect_help(play("nobody_dies", 2, 0, {"--mend-help"}));
  expect_help(play("nobody_dies", 3, 1, {"--mend-help", "--mend-versions", "3"}));
  expect_help(mpirun({"--with-ft", "ulfm"}, 2, {MEND_SUBJECT, "nobody_dies", "--mend-help"}));
  Job alone;
  alone.command = {MEND_SUBJECT, "nobody_dies", "--mend-help"};
  expect_help(support::run_job(alone));
}

TEST(Log, at_debug_shows_a_recovery_and_at_off_shows_nothing) {
  const auto loud = play("rank_1_dies", 3, 1, {"--mend-log", "info"});
  EXPECT_EQ(loud.exit_code, 0);
  EXPECT_THAT(loud.errors, testing::ContainsRegex("epoch 1: rank 1: process 1 died, process 3 took over; interrupt"));
  const auto quiet = play("rank_0_dies", 2, 1, {"--mend-log", "off"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_THAT(quiet.errors, IsEmpty());
}

TEST(Log, at_warn_leaves_out_deaths_and_at_error_what_they_have_cost_too) {
  const auto warned = play("rank_1_dies", 3, 1, {"--mend-log", "warn"});
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_THAT(support::lines_of(warned.errors), testing::ElementsAre(HasSubstr("1 recovery: 1 process died")));
  const auto quiet = play("rank_1_dies", 3, 1, {"--mend-log", "error"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_THAT(quiet.errors, IsEmpty());
}

/// The notes of the job, without the times and the processes that wrote them.
std::vector<std::string> notes(const JobEnd& end) {
  constexpr std::string_view mark = ": note: ";
  std::vector<std::string> found;
  for (const std::string& line : support::lines_of(end.errors)) {
    if (const auto at = line.find(mark); at != std::string::npos) found.push_back(line.substr(at + mark.size()));
  }
  return found;
}

TEST(Log, tells_of_a_recovery_when_it_happens_in_one_line_on_one_process) {
  const std::map<std::string, std::string> causes{
      {"rank_1_dies", "( .SIGKILL.)?"},
      {"exits_at_once_in_the_body", " .exited with code 1."},
      {"exits_quickly_in_the_body", " .exited with code 7."},
      {"exits_in_a_signal_handler", " .exited with code 9."},
      {"becomes_another_program", " .(replaced by another program, exec|SIGKILL)."},
      {"hangs_once", " .silent for [0-9]+ ms."}};
  for (const auto& [scenario, cause] : causes) {
    const auto end = play(scenario, 3, 2);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(notes(end), ElementsAre(testing::ContainsRegex(
                                fmt::format("^rank ([12]): process [12] died{}, process [34] took over; the ranks "
                                            "are complete after [0-9.]+ ms; 1 spare is left$",
                                            cause))))
        << scenario << ": " << end.errors;
  }
  EXPECT_THAT(notes(play("nobody_dies", 3, 1)), IsEmpty());
}

/// The kernel reports what the runtime does not (Linux 6.15 and later).
TEST(Log, tells_of_what_started_processes_have_died) {
  if (!support::kernel_is_at_least(6, 15)) GTEST_SKIP() << "before Linux 6.15";
  const auto end = play("dies_at_step_5_again_and_again", 2, 0, {"--mend-on-failure=spawn", "--mend-spawn-tries=3"});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(notes(end), AllOf(SizeIs(3), Each(HasSubstr(" died (SIGKILL), process "))));
}

TEST(Log, tells_of_a_spare_that_is_lost) {
  const auto end = play("a_rank_dies_long_after_a_spare", 4, 2);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(
      notes(end),
      ElementsAre(testing::ContainsRegex("^spare process [0-9] died( .SIGKILL.)?; 1 spare is left$"),
                  testing::ContainsRegex("^rank [0-9]: process [0-9] died( .SIGKILL.)?, process [0-9] took over; "
                                         "the ranks are complete after [0-9.]+ ms; no spare is left$")));
}

/// The runtime does not tell the cause to a process that listens only afterwards.
TEST(Log, tells_of_a_process_that_is_lost_between_MPI_Init_and_the_first_epoch) {
  for (const std::string point : {"init.after", "start.introduce", "start.introduced", "recovery.shrink",
                                  "recovery.shrunk", "recovery.split", "recovery.split_store"}) {
    const auto end = play("process_1_dies_at:" + point, 3, 2);
    EXPECT_EQ(end.exit_code, 0) << point << end.errors;
    EXPECT_EQ(said(end), counted(3, 10, 0)) << point;
    EXPECT_THAT(
        notes(end),
        ElementsAre(testing::ContainsRegex("^process 1 died( .SIGKILL.)? before the job had begun; 1 spare is left$")))
        << point;
  }
}

TEST(Log, tells_who_has_asked_for_a_recovery_when_nobody_died) {
  const auto end = play("one_rank_asks_for_a_recovery", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end).size(), 3U);
  EXPECT_THAT(notes(end), ElementsAre(testing::ContainsRegex("^nobody died, and rank 1 asked for a recovery .by "
                                                             "repair.*; the ranks are complete after .*")));
}

TEST(Log, tells_once_who_has_asked_for_a_recovery_when_several_have) {
  const auto end = play("ranks_0_and_2_ask_for_a_recovery", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end).size(), 3U);
  EXPECT_THAT(notes(end), ElementsAre(testing::StartsWith("nobody died, and ranks 0, 2 asked for a recovery (by")));
}

TEST(AProgram, that_leaves_processes_of_its_own_behind_is_told_for_which_the_job_waits) {
  const auto end = play("leaves_a_child_behind", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors,
              testing::ContainsRegex("have ended, but not what they have started: process [0-9]+ .sleep.;"));
}

/// mend's complaints about the job. Open MPI prints the stack of a process that crashes, which is left out.
std::vector<std::string> said_by_mend(const JobEnd& end) {
  std::vector<std::string> lines = support::complaints(end);
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with("mend"); });
  return lines;
}

TEST(AFaultOfTheProgram, ends_the_job_before_it_has_used_up_all_spares) {
  const auto end = play("crashes_again_and_again", 2, 5);
  EXPECT_EQ(end.exit_code, 3) << end.errors;
  EXPECT_THAT(said_by_mend(end),
              ElementsAre(testing::ContainsRegex("rank 1 died 3 times in a row with no commit in between .SIGSEGV.: "
                                                 "the program itself fails there.*--mend-tries")));
  EXPECT_THAT(notes(end), ElementsAre(testing::Not(HasSubstr("in a row")),
                                      testing::ContainsRegex("rank 1 has died 2 times in a row with no commit in "
                                                             "between .*it is probably the program")));
}

TEST(AFaultOfTheProgram, is_tried_as_often_as_was_asked_for) {
  const auto end = play("crashes_again_and_again", 2, 5, {"--mend-tries=4"});
  EXPECT_EQ(end.exit_code, 3) << end.errors;
  EXPECT_THAT(said_by_mend(end), ElementsAre(HasSubstr("rank 1 died 5 times in a row")));
}

TEST(AFaultOfTheProgram, is_named_when_it_has_used_up_the_spares) {
  for (const auto& [how, cause] : std::map<std::string, std::string>{{"crashes", "SIGSEGV"}, {"exits", "exit.3."}}) {
    SCOPED_TRACE(how);
    const auto once = play(how + "_again_and_again", 2, 0);
    EXPECT_EQ(once.exit_code, 3);
    EXPECT_THAT(said_by_mend(once),
                ElementsAre(testing::ContainsRegex("rank 1 .process 1. died and no spare is left: start with more "
                                                   "spares.*; cause: rank 1 ." +
                                                   cause)));
    const auto twice = play(how + "_again_and_again", 2, 1);
    EXPECT_EQ(twice.exit_code, 3);
    EXPECT_THAT(said_by_mend(twice),
                ElementsAre(testing::ContainsRegex("rank 1 died 2 times in a row with no commit in between ." + cause +
                                                   "., and no spare is left: the program probably fails there")));
    const auto thrice = play(how + "_again_and_again", 2, 2);
    EXPECT_EQ(thrice.exit_code, 3);
    EXPECT_THAT(said_by_mend(thrice),
                ElementsAre(testing::ContainsRegex("rank 1 died 3 times in a row with no commit in between ." + cause +
                                                   ".: the program itself fails there")));
  }
}

TEST(AFaultOfTheProgram, is_named_when_all_ranks_die_of_it_at_once) {
  const auto end = play("crashes_on_all_ranks", 4, 2);
  EXPECT_EQ(end.exit_code, 3) << end.errors;
  EXPECT_THAT(said_by_mend(end),
              ElementsAre(testing::ContainsRegex("ranks 0-3 .processes 0-3. died and no spare is left for ranks 2, 3: "
                                                 "all ranks died of SIGSEGV, so it is probably the program")));
}

TEST(ARankThatDies, is_told_with_the_spares_that_were_lost_before) {
  expect_end(play("a_rank_dies_long_after_a_spare", 5, 1), 3,
             "rank 1 .process 1. died and no spare is left .1 spare was lost before: process 5.: start with more");
}

TEST(ARankThatIsKilledAgainAndAgain, is_told_so_when_no_spare_is_left) {
  expect_end(play("dies_at_step_5_again_and_again", 2, 2, {"--mend-tries=1"}), 3,
             "rank 1 .process 3. died and no spare is left; rank 1 has died 3 times in a row with no commit in between "
             ".SIGKILL.: find out what ends it there .a lack of memory, for instance., or start with more spares");
}

/// The runtime does not always report an _exit.
TEST(AFaultOfTheProgram, is_named_when_its_processes_leave_by_quick_ways_out) {
  for (const int spares : {1, 2}) {
    const auto end = play("leaves_again_and_again", 2, spares);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_THAT(said_by_mend(end),
                ElementsAre(testing::ContainsRegex("rank 1 died [23] times in a row with no commit in between .exited "
                                                   "with code 3.(, and no spare is left)?: the program")));
  }
}

TEST(AFaultOfTheProgram, that_throws_a_failure_out_of_a_destructor_is_named) {
  const auto end = play("lets_a_failure_out_of_a_destructor", 2, 1);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(end.errors, HasSubstr("a process failure was thrown out of a destructor"));
}

TEST(Trace, files_are_written_by_every_process) {
  const support::ScratchFolder scratch;
  const auto folder = scratch.path() / "traces" / "of this run";
  const auto end = play("rank_1_dies", 3, 1, {"--mend-trace", folder.string()});
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  for (int process : {0, 2, 3}) {
    std::ifstream file(folder / ("process-" + std::to_string(process) + ".json"));
    ASSERT_TRUE(file) << "process " << process;
    const auto trace = nlohmann::json::parse(file);
    std::map<std::string, int> spans;
    for (const auto& event : trace.at("traceEvents")) ++spans[event.at("name")];
    for (const char* phase : {"recovery", "interrupt", "agree", "rebuild"})
      EXPECT_EQ(spans[phase], 1) << phase << " of process " << process;
  }
  std::ifstream file(folder / "process-1.json");
  const std::string of_the_dead{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(of_the_dead, AllOf(HasSubstr("\"commit\""), Not(HasSubstr("finished")))) << "what it did until it died";
}

TEST(Trace, that_cannot_be_written_is_refused_in_one_sentence) {
  expect_end(play("nobody_dies", 2, 0, {"--mend-trace", "/proc/nothing-can-be-made-here"}), 2,
             "no timelines can be written into '/proc/nothing-can-be-made-here': No such file or directory "
             "\\(--mend-trace\\)");
}

TEST(Trace, that_one_machine_cannot_write_is_missed_there_and_keeps_nobody) {
  const support::ScratchFolder scratch;
  Job job = support::mend_run(3, 0, {MEND_SUBJECT, "process_1_has_no_place_for_a_trace"});
  job.environment = {{"MEND_TRACE", scratch.path().string()}};
  const auto end = support::run_job(job);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 10, 0));
  EXPECT_THAT(support::complaints(end), ElementsAre(HasSubstr("no timelines can be written into '/proc/nothing'")));
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "process-0.json"));
}

TEST(OwnMpi, initialised_by_the_caller_is_left_to_the_caller) {
  const auto end = play("inside_own_mpi", 3, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_EQ(said(end), counted(3, 10, 1));
  EXPECT_THAT(end.output, HasSubstr("MPI is still there after mend"));
}

TEST(OwnMpi, in_whose_world_calls_are_made_after_the_job_is_told_that_it_is_revoked_when_there_are_spares) {
  const auto without = play("uses_the_world_after_the_job", 3, 0);
  EXPECT_EQ(without.exit_code, 0) << without.errors;
  EXPECT_THAT(without.output, HasSubstr("there are 3"));
  const auto end = play("uses_the_world_after_the_job", 2, 1);
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(support::complaints(end), ElementsAre(HasSubstr("MPI_COMM_WORLD after mend::run"), HasSubstr("code 2")));
}

TEST(OwnMpi, whose_duplicate_of_the_world_is_used_in_the_body_is_told_so_if_there_are_spares) {
  const auto without = play("has_a_duplicate:meets_in_body", 3, 0);
  EXPECT_EQ(without.exit_code, 0) << without.errors;
  for (const char* const scenario : {"has_a_duplicate:meets_in_body", "has_a_duplicate:idup_meets_in_body"}) {
    const auto end = play(scenario, 2, 1);
    EXPECT_EQ(end.exit_code, 2) << end.errors;
    EXPECT_THAT(support::complaints(end),
                ElementsAre(testing::ContainsRegex("rank [01]: an MPI call used a duplicate of MPI_COMM_WORLD")));
  }
}

/// Its messages are not sent again to a process that takes over a rank.
TEST(OwnMpi, whose_part_of_the_world_is_used_in_the_body_is_told_so_under_local_rollback) {
  const auto under_global = play("has_a_duplicate:part_meets_in_body", 2, 1);
  EXPECT_EQ(under_global.exit_code, 0) << under_global.errors;
  const auto end = play("has_a_duplicate:part_meets_in_body", 2, 1, {"--mend-rollback", "local"});
  EXPECT_EQ(end.exit_code, 2) << end.errors;
  EXPECT_THAT(support::complaints(end),
              ElementsAre(testing::ContainsRegex("rank [01]: an MPI call used a communicator from before mend::run")));
}

TEST(OwnMpi, whose_duplicate_of_the_world_is_used_after_the_job_is_served) {
  const auto end = play("has_a_duplicate:meets_afterwards", 2, 1);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.output, HasSubstr("there are 3"));
}

TEST(ASecondRun, after_the_first_is_refused) {
  const auto end = play("runs_twice", 3, 1);
  EXPECT_EQ(end.exit_code, 20) << end.errors;
  EXPECT_EQ(said(end), counted(3, 3, 0));
  EXPECT_THAT(end.errors, HasSubstr("mend::run is called once in a process"));
}

TEST(ASecondRun, inside_the_first_is_refused_and_disturbs_nothing) {
  const auto end = play("runs_inside_a_run", 3, 0);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end), AllOf(SizeIs(3), Each(EndsWith("has MPI_THREAD_FUNNELED, the run inside returned 2"))));
  EXPECT_THAT(support::complaints(end), ElementsAre(HasSubstr("mend::run is called once in a process")));
}

TEST(OwnMpi, of_too_low_a_thread_level_is_refused) {
  const auto end = play("inside_own_mpi_of_too_low_a_level", 2, 0);
  expect_end(end, 2, "mend needs MPI_THREAD_FUNNELED");
}

TEST(OwnMpi, in_which_several_threads_may_be_at_once_is_refused) {
  const auto end = play("inside_own_mpi_of_several_threads", 2, 0);
  expect_end(end, 2, "mend does not support MPI_THREAD_MULTIPLE");
}

}  // namespace
