// `mend run` as users call it: exit codes, messages, signals, and no processes left behind.

#include "base/clock.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string subject = MEND_SUBJECT;

MATCHER(IsOneSentence, "") { return std::count(arg.begin(), arg.end(), '\n') == 1; }

/// A word that no other process on this machine has among its arguments.
std::string unique_word() { return "mend-test-" + std::to_string(getpid()); }

class Ended {
 public:
  explicit Ended(const std::vector<std::string>& arguments) : process_(arguments), code(process_.wait()) {}

 private:
  MendProcess process_;

 public:
  const int code;
  const std::string& output = process_.output();
  const std::string& errors = process_.errors();
};

TEST(MendRun, a_run_in_which_nothing_dies_says_nothing_and_exits_0) {
  const Ended run({"run", "-n", "2", "--", subject, "succeed"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.errors, IsEmpty());
}

TEST(MendRun, keeps_to_the_loopback_interface_on_one_machine) {
  const Ended run({"run", "-n", "2", "--network", "lo", "--mpi", "--mca btl self,tcp", "--", subject, "succeed"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.errors, IsEmpty());
}

TEST(MendRun, launches_ranks_and_spares_and_tells_them) {
  const Ended run({"run", "-n", "2", "--spares", "1", subject, "print-environment"});
  EXPECT_EQ(run.code, 0);
  // The pseudo-terminals that mpirun gives to the processes use other line ends.
  EXPECT_THAT(run.output, AllOf(HasSubstr("processes=3"), HasSubstr("MEND_SPARES=1"), HasSubstr("MEND_TERMINAL=0")));
}

TEST(MendRun, a_death_that_was_recovered_from_is_success) {
  for (const char* task : {"rank-1-dies", "rank-0-dies"}) {
    const Ended run({"run", "-n", "3", "--", subject, task});
    EXPECT_EQ(run.code, 0) << task << ": " << run.errors;
    EXPECT_THAT(run.errors, IsEmpty());
  }
}

TEST(MendRun, a_job_in_which_every_process_was_killed_failed) {
  const Ended run({"run", "-n", "2", "--", subject, "all-die"});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.errors, AllOf(IsOneSentence(), HasSubstr("killed")));
}

TEST(MendRun, an_end_that_was_not_reported_is_none) {
  const Ended run({"run", "-n", "2", "--", subject, "no-report"});
  EXPECT_EQ(run.code, 3);
}

TEST(MendRun, passes_the_applications_exit_code_on) {
  EXPECT_EQ(Ended({"run", "-n", "2", "--", subject, "fail"}).code, 1);
  EXPECT_EQ(Ended({"run", "-n", "2", "--", subject, "late-error"}).code, 7);
}

TEST(MendRun, of_wrong_arguments_to_the_application_only_its_own_sentence_is_seen) {
  const Ended run({"run", "-n", "2", "--", subject, "wrong-arguments"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.errors, "subject: there is no such thing\n");
}

TEST(MendRun, its_own_wrong_arguments_are_one_sentence_and_exit_code_2) {
  const std::vector<std::vector<std::string>> mistakes{
      {},
      {"rum"},
      {"run", subject},
      {"run", "-n", "2"},
      {"run", "-n", "two", subject},
      {"run", "-n", "0", subject},
      {"run", "-n", "2", "--spares", "-1", subject},
      {"run", "-n", "2", "--spars", "1", subject},
      {"run", "-n", "2", "--", "/nonexistent/program"},
      {"run", "-n", "2", "--", "/tmp"},
      {"run", "-n", "2", "--", "no-program-has-this-name"},
      {"run", "-n", "4", "--spares", "1000000", subject, "succeed"},
      {"run", "-n", "2", "--time-margin", "soon", subject, "succeed"},
      {"run", "-n", "2", "--time-limit", "nan", "--dry-run", subject, "succeed"},
      {"run", "-n", "2", "--network", "nosuch0", subject, "succeed"},
      {"run", "-n", "2", "--network", "192.0.2.77/32", subject, "succeed"},
      {"run", "-n", "2", "--network", "lo,192.0.2.77/32", subject, "succeed"},
      {"run", "-n", "2", "--network", "lo", "--host", "localhost:1,nosuch:1", subject, "succeed"},
      {"status", "first"},
      {"stop", "-3"},
  };
  for (const auto& mistake : mistakes) {
    const Ended run(mistake);
    EXPECT_EQ(run.code, 2) << testing::PrintToString(mistake);
    EXPECT_THAT(run.errors, AllOf(IsOneSentence(), HasSubstr("mend: "))) << testing::PrintToString(mistake);
    EXPECT_THAT(run.output, IsEmpty());
  }
}

TEST(MendCommand, whose_output_cannot_be_written_has_failed) {
  const support::ScratchFolder scratch;
  const std::string result = (scratch.path() / "result.json").string();
  std::ofstream(result) << R"({"app": "heat", "ranks": 2, "recoveries": [], "reported": {"norm": 1}})";
  const std::string plan = "plan --nodes 100 --ranks-per-node 4 --node-mtbf 5y --state-per-rank 2GiB --length 24h";
  for (const std::string& words :
       {std::string("--help"), std::string("run --help"), std::string("doctor --only limits"), std::string("man run"),
        std::string("status"), "report " + result, "report " + result + " --same-as " + result, plan, plan + " --json",
        std::string("script slurm -n 4 -- ./program"), std::string("completion bash"),
        std::string("run --dry-run -n 1 -- true")}) {
    const std::string line = std::string(MEND_COMMAND) + " " + words + " >/dev/full 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1) << words;
  }
}

TEST(MendCommand, goes_on_where_its_messages_cannot_be_written) {
  for (const char* errors : {"2>/dev/full", "2>&-"}) {
    const std::string line =
        std::string(MEND_COMMAND) + " run --verbose -n 1 -- " + subject + " succeed >/dev/null " + errors;
    EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 0) << errors;
  }
}

TEST(MendRun, ends_where_its_parent_ignores_the_ends_of_its_children) {
  support::Job job;
  job.command = {"/usr/bin/env", "--ignore-signal=CHLD", MEND_COMMAND, "run", "-n", "1", "--", subject, "fail"};
  EXPECT_EQ(support::run_job(job).exit_code, 1);
}

TEST(MendRun, in_a_job_does_not_take_over_its_settings_of_open_mpi) {
  const Ended run({"run", "-n", "1", "--network", "lo,tcp", "--", MEND_COMMAND, "run", "-n", "1", "--verbose",
                   "--dry-run", "--", "true"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.errors, HasSubstr("interfaces: all"));
  EXPECT_THAT(run.output, AllOf(HasSubstr("--mca btl ^ofi,"), HasSubstr("--mca mpi_add_procs_cutoff 1024")));
}

TEST(MendRun, mpirun_looks_for_a_program_in_the_folder_that_it_is_told) {
  const auto dry_run = [](const std::string& options) {
    MendProcess process({"run", "--dry-run", "-n", "1", "--mpi", options, "--", "./sh"});
    return process.wait();
  };
  EXPECT_EQ(dry_run("--bind-to none"), 2);
  EXPECT_EQ(dry_run("--wdir /bin"), 0);
  EXPECT_EQ(dry_run("--wdir=/bin"), 0);
}

TEST(MendRun, a_program_that_the_system_cannot_run_is_refused_before_the_launch) {
  const support::ScratchFolder scratch;
  const auto written = [&](const char* name, const char* text) {
    const auto file = scratch.path() / name;
    std::ofstream(file) << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  };
  const auto expect_refused = [](const std::string& program, const std::string& obstacle) {
    const Ended run({"run", "-n", "2", "--", program});
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.errors, "mend: '" + program + "' " + obstacle + "\n");
  };
  expect_refused(written("no-interpreter", "#! /nonexistent/sh -e\n"),
                 "cannot be run: its interpreter /nonexistent/sh is missing");
  expect_refused(written("dos", "#!/bin/sh\r\ntrue\r\n"), "cannot be run: its interpreter /bin/sh\\r is missing");
  expect_refused(written("text", "true\n"), "is neither a program nor a script (exec format error)");
  expect_refused(written("folder-as-interpreter", "#!/tmp\n"), "cannot be run: Permission denied");
  const auto ran = scratch.path() / "ran";
  const std::string script = written("script", ("#!/bin/sh\necho >>" + ran.string() + "\n").c_str());
  EXPECT_EQ(Ended({"run", "-n", "1", "--", script}).code, 0);
  EXPECT_EQ(std::filesystem::file_size(ran), 1U) << "it is run by the launch alone";
}

TEST(MendRun, what_is_missing_or_contradicts_itself_is_named) {
  const auto expect_refused = [](const std::vector<std::string>& arguments, const std::string& sentence) {
    const Ended run(arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.errors, "mend: " + sentence + "\n");
  };
  expect_refused({}, "a command is missing: mend --help lists the commands");
  expect_refused({"rum"}, "rum is not a command of mend: mend --help lists the commands");
  expect_refused({"report"}, "FILE is required: mend report --help describes it");
  expect_refused({"run", subject}, "--ranks is required: mend run --help describes it");
  expect_refused({"run", "-n", "2", "--result", "", "--", subject}, "--result has no name: name a file");
  expect_refused({"run", "-n", "2", "--network", "", "--", subject},
                 "--network has no value: give one, or leave it out");
  expect_refused({"run", "-n", "2", "--mpi", "--mca a 'b", "--", subject},
                 "--mpi \"--mca a 'b\": a quote is not closed");
  for (const char* naming :
       {"--host", "-host", "-H", "--hostfile", "-hostfile", "--machinefile", "--default-hostfile"}) {
    expect_refused({"run", "-n", "2", "--mpi", std::string("--bind-to none ") + naming + " a:1,b:1", "--", subject},
                   "--mpi \"" + std::string(naming) + "\": name the nodes by --host or --hostfile of mend run");
  }
  expect_refused({"run", "-n", "2", "--mpi", "--host=a:1,b:1", "--", subject},
                 "--mpi \"--host=a:1,b:1\": name the nodes by --host or --hostfile of mend run");
  expect_refused({"run", "-n", "2", "--mpi", "--prtemca prte_default_hostfile hosts", "--", subject},
                 "--mpi \"prte_default_hostfile\": name the nodes by --host or --hostfile of mend run");
  expect_refused({"run", "-n", "2", "--hostfile", "/tmp", "--", subject}, "the host file /tmp cannot be read");
  const std::string remedy = " of mend run: give the number to mend run alone, as --spares";
  expect_refused({"run", "-n", "2", "--spares", "2", "--", subject, "succeed", "--mend-spares", "1"},
                 "the program's --mend-spares 1 contradicts --spares 2" + remedy);
  expect_refused({"run", "-n", "2", "--", subject, "succeed", "--mend-spares=1"},
                 "the program's --mend-spares 1 contradicts the launch without spares" + remedy);
  for (const std::vector<std::string>& fine :
       {std::vector<std::string>{"--mend-spares", "1"}, {"--mend-spares", "x"}, {"--", "--mend-spares", "3"}}) {
    std::vector<std::string> line{"run", "-n", "1", "--spares", "1", "--dry-run", "--", subject};
    line.insert(line.end(), fine.begin(), fine.end());
    EXPECT_EQ(Ended(line).code, 0) << testing::PrintToString(fine);
  }
}

TEST(MendRun, another_program_than_mpirun_is_one_sentence_and_exit_code_2) {
  for (const char* wrong : {"/bin/false", "/bin/cat", "/proc/self/status", "/nonexistent"}) {
    ::setenv("MEND_MPIRUN", wrong, 1);
    const Ended run({"run", "-n", "2", "--", subject, "succeed"});
    ::unsetenv("MEND_MPIRUN");
    EXPECT_EQ(run.code, 2) << wrong;
    EXPECT_THAT(run.errors, AllOf(IsOneSentence(), HasSubstr("mend: MEND_MPIRUN is '"))) << wrong;
  }
}

TEST(MendRun, an_mpirun_that_stands_still_when_its_processes_have_ended_does_not_keep_the_result) {
  const support::ScratchFolder scratch;
  const auto mpirun = scratch.path() / "mpirun";
  std::ofstream(mpirun) << R"(#!/bin/bash
[[ $1 != --version ]] || { echo "mpirun (Open MPI) 5.0.7"; exit; }
{ echo "loaded $BASHPID here"; echo started; echo "finished 0 $BASHPID"; } >>"$MEND_STATUS_FILE" &
exec sleep 60  # which waits for no child
)";
  std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
  ::setenv("MEND_MPIRUN", mpirun.c_str(), 1);
  const mend::Stopwatch watch;
  const Ended run({"run", "-n", "1", "--", subject, "succeed"});
  ::unsetenv("MEND_MPIRUN");
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_LT(watch.elapsed().count(), 30);
}

TEST(MendRun, what_follows_the_program_is_the_programs) {
  const Ended run({"run", "-n", "1", "--dry-run", "/bin/echo", "-n", "--spares", "--", "it's"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, HasSubstr("-np 1 /bin/echo -n --spares -- 'it'\\''s'"));
}

TEST(MendRun, a_process_that_dies_or_stops_before_MPI_is_ready_costs_a_launch) {
  for (const auto& [task, told] :
       {std::pair{"die-once-before-init", "mend: a process died before all had met;"},
        std::pair{"stop-once-before-init", "mend: a process was stopped before all had met, and was killed;"}}) {
    const support::ScratchFolder scratch;
    const Ended run({"run", "-n", "2", "--spares", "1", "--", subject, task, (scratch.path() / "once").string()});
    EXPECT_EQ(run.code, 0) << task << ": " << run.errors;
    EXPECT_THAT(run.errors, AllOf(IsOneSentence(), HasSubstr(told), HasSubstr("launched anew (launch 2 of 3)")));
  }
}

TEST(MendRun, a_process_that_stops_before_its_introduction_is_killed_so_that_the_others_go_on) {
  const support::ScratchFolder scratch;
  const Ended run({"run", "-n", "2", "--", subject, "stop-once-after-init", (scratch.path() / "once").string()});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("goes on"));
  EXPECT_THAT(run.errors, IsEmpty());
}

TEST(MendRun, a_process_that_always_dies_before_MPI_is_ready_ends_the_job_instead_of_hanging_it) {
  const Ended run({"run", "-n", "2", "--start-tries", "2", "--", subject, "die-before-init"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.errors, AllOf(HasSubstr("launched anew (launch 2 of 2)"), HasSubstr("did not get through MPI_Init")));
}

TEST(MendRun, a_crash_before_the_job_has_begun_is_named_and_not_tried_a_third_time) {
  for (const char* task : {"crash-before-init", "crash-after-own-init"}) {
    const Ended run({"run", "-n", "2", "--", subject, task});
    EXPECT_EQ(run.code, 128 + SIGSEGV) << task;
    EXPECT_THAT(run.errors,
                AllOf(HasSubstr("mend: process 1 was ended by SIGSEGV before the job had begun; nothing has "
                                "been computed yet, and the job is launched anew (launch 2 of 3)\n"),
                      HasSubstr("mend: process 1 was ended by SIGSEGV before the job had begun: the program "
                                "fails there by itself\n"),
                      Not(HasSubstr("launch 3 of 3")), Not(HasSubstr("did not get through MPI_Init"))))
        << task;
  }
}

TEST(MendRun, a_crash_of_all_before_the_job_has_begun_is_named_at_once) {
  const Ended run({"run", "-n", "2", "--", subject, "all-crash-before-init"});
  EXPECT_EQ(run.code, 128 + SIGABRT);
  EXPECT_THAT(run.errors, AllOf(HasSubstr(" was ended by SIGABRT before the job had begun, and so was 1 other: the "
                                          "program fails there by itself\n"),
                                Not(HasSubstr("launched anew"))));
}

TEST(MendRun, a_program_that_never_calls_mend_is_told_so) {
  const Ended other({"run", "-n", "2", "--spares", "1", "--", "/bin/true"});
  EXPECT_EQ(other.code, 0);
  EXPECT_THAT(other.errors, AllOf(IsOneSentence(), HasSubstr("the program never called mend::run")));
  const Ended linked({"run", "-n", "2", "--", subject, "exit-0-on-all-before-run"});
  EXPECT_EQ(linked.code, 0);
  EXPECT_THAT(linked.errors, AllOf(IsOneSentence(), HasSubstr("the program never called mend::run")));
  const Ended failing({"run", "-n", "2", "--", "/bin/false"});
  EXPECT_EQ(failing.code, 1);
  EXPECT_THAT(failing.errors, HasSubstr("mend: the job ended with exit code 1; the program never called mend::run, and "
                                        "ran unprotected\n"));
  const Ended killed({"run", "-n", "2", "--", "/bin/sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_THAT(killed.errors, HasSubstr("the program never called mend::run, and ran unprotected\n"));
}

TEST(MendRun, needs_no_home) {
  MendProcess run({"run", "-n", "2", "--", subject, "succeed"}, MendProcess::no_input, {"HOME"});
  EXPECT_EQ(run.wait(), 0) << run.errors();
  EXPECT_THAT(run.errors(), IsEmpty());
  const support::ScopedEnvironment named{{"MEND_MPIRUN", MEND_MPI_PREFIX "/bin/mpirun"}};
  MendProcess again({"run", "-n", "2", "--", subject, "succeed"}, MendProcess::no_input, {"HOME"});
  EXPECT_EQ(again.wait(), 0) << again.errors();
}

TEST(MendRun, an_mpirun_that_fails_by_itself_is_not_told_as_a_fault_of_the_program) {
  const support::ScratchFolder scratch;
  const auto mpirun = scratch.path() / "mpirun";
  std::ofstream(mpirun) << R"(#!/bin/bash
[[ $1 != --version ]] || { echo "mpirun (Open MPI) 5.0.7"; exit; }
echo "opal_init failed" >&2
exit 1
)";
  std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
  ::setenv("MEND_MPIRUN", mpirun.c_str(), 1);
  const Ended run({"run", "-n", "1", "--", subject, "succeed"});
  ::unsetenv("MEND_MPIRUN");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.errors,
            "opal_init failed\nmend: mpirun failed with exit code 1 before it had started the program: what it printed "
            "says why\n");
}

TEST(MendRun, a_job_that_cannot_read_its_input_again_is_not_launched_anew) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  MendProcess run({"run", "-n", "2", "--", subject, "die-before-init"}, pipe[0]);
  EXPECT_EQ(run.wait(), 1);
  EXPECT_THAT(run.errors(), AllOf(IsOneSentence(), HasSubstr("did not get through MPI_Init")));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(MendRun, a_process_that_hangs_before_MPI_is_ready_ends_the_job_at_the_limit) {
  const Ended run({"run", "-n", "2", "--start-limit", "2", "--", subject, "hang-before-init"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.errors, AllOf(IsOneSentence(), HasSubstr("within 2 s (--start-limit): none has died; 2 of 2 came to "
                                                           "mend::run, and none came through MPI_Init; nothing has")));
}

TEST(MendRun, a_process_that_hangs_between_MPI_and_its_introduction_ends_the_job_at_the_limit) {
  const Ended run({"run", "-n", "2", "--start-limit", "2", "--", subject, "hang-before-introduction"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.errors,
              AllOf(IsOneSentence(), HasSubstr("none has died; all came through MPI_Init, but have not all met after "
                                               "it; nothing has moved in the last 0.5 s")));
}

TEST(MendRun, ranks_in_children_that_the_processes_have_forked_are_introduced_too) {
  const Ended run({"run", "-n", "2", "--start-limit", "1", "--", subject, "work-in-a-child"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.errors, IsEmpty());
}

TEST(MendRun, processes_that_do_not_come_to_mend_are_told_of_once_and_go_on) {
  const support::ScratchFolder scratch;
  const auto go = scratch.path() / "go";
  const std::string wait_for_go =
      "while [ ! -e " + go.string() + " ]; do sleep 0.1; done; exec " + subject + " succeed";
  MendProcess run({"run", "-n", "2", "--start-limit", "1", "--", "/bin/sh", "-c", wait_for_go});
  run.wait_for_errors("mend waits\n");
  std::ofstream{go};
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(run.errors(), "mend: no process has come to mend::run 1 s after the launch (--start-limit): mend waits\n");
}

TEST(MendRun, processes_that_stop_or_hang_after_the_end_do_not_keep_it) {
  for (const char* task : {"stop-after-end", "hang-after-end", "stop-in-exit"}) {
    const Ended run({"run", "-n", "2", "--end-limit", "1", "--", subject, task});
    EXPECT_EQ(run.code, 0) << task << ": " << run.errors;
    EXPECT_THAT(run.errors, HasSubstr("had not ended 1 s after the end of the job and w")) << task;
  }
}

TEST(MendRun, a_process_that_stops_after_the_end_keeps_the_job_for_less_than_ten_seconds) {
  const mend::Stopwatch watch;
  const Ended run({"run", "-n", "2", "--", subject, "stop-after-end"});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_LT(watch.elapsed().count(), 10);
}

TEST(MendRun, what_a_program_does_after_the_end_takes_as_long_as_it_takes) {
  const Ended run({"run", "-n", "2", "--end-limit", "1", "--", subject, "work-after-end"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, HasSubstr("worked"));
  EXPECT_EQ(run.errors,
            "mend: process 0 (rank 0), process 1 (rank 1) are still running 1 s after the end of the job: mend waits "
            "for them\n");
}

TEST(MendRun, a_process_that_exits_before_the_others_can_meet_it_ends_the_job_at_once_with_its_code) {
  const Ended error({"run", "-n", "2", "--start-limit", "3600", "--", subject, "exit-5-before-run"});
  EXPECT_EQ(error.code, 5);
  EXPECT_THAT(error.errors, AllOf(IsOneSentence(), HasSubstr("exited with code 5 before it came to mend::run")));
  const Ended silent({"run", "-n", "2", "--start-limit", "3600", "--", subject, "exit-0-before-run"});
  EXPECT_EQ(silent.code, 1) << "the others have not finished";
  EXPECT_THAT(silent.errors, AllOf(IsOneSentence(), HasSubstr("exited with code 0 before it came to mend::run")));
}

TEST(MendRun, of_an_MPI_Init_that_fails_it_says_so_whatever_the_library_exits_with) {
  const Ended run({"run", "-n", "2", "--", subject, "init-fails"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.errors, AllOf(IsOneSentence(), HasSubstr("did not get through MPI_Init: a process died there")));
}

TEST(MendRun, a_crash_after_the_end_is_an_error_and_a_kill_is_none) {
  const Ended crash({"run", "-n", "2", "--", subject, "crash-after-end"});
  EXPECT_EQ(crash.code, 128 + SIGSEGV);
  EXPECT_THAT(crash.errors, HasSubstr("a process was ended by SIGSEGV after the job had finished"));
  EXPECT_EQ(Ended({"run", "-n", "2", "--", subject, "abort-after-end"}).code, 128 + SIGABRT);
  const Ended killed({"run", "-n", "2", "--", subject, "killed-after-end"});
  EXPECT_EQ(killed.code, 0);
  EXPECT_THAT(killed.errors,
              HasSubstr("mend: process 1 (rank 1) was killed after the end of the job, in the program's own part: the "
                        "job's exit code stands\n"));
  const Ended quick({"run", "-n", "2", "--", subject, "leaves-quickly-after-end"});
  EXPECT_EQ(quick.code, 0);
  EXPECT_THAT(quick.errors, IsEmpty());
}

TEST(MendRun, a_signal_to_end_ends_everything) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
    run.wait_for_output("ready");
    ASSERT_FALSE(processes_with_argument(unique_word()).empty());
    kill(run.pid(), signal);
    EXPECT_EQ(run.wait(), 128 + signal);
    EXPECT_THAT(run.errors(), IsOneSentence());
    EXPECT_THAT(processes_with_argument(unique_word()), IsEmpty());
  }
}

TEST(MendRun, asked_to_end_twice_says_so_in_one_sentence) {
  MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
  run.wait_for_output("ready");
  kill(run.pid(), SIGTERM);
  kill(run.pid(), SIGHUP);
  EXPECT_THAT(run.wait(), testing::AnyOf(128 + SIGTERM, 128 + SIGHUP));
  EXPECT_THAT(run.errors(), IsOneSentence());
}

TEST(MendRun, other_signals_reach_the_application) {
  MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
  run.wait_for_output("ready");
  kill(run.pid(), SIGUSR1);
  run.wait_for_output("heard SIGUSR1");
  kill(run.pid(), SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
}

TEST(MendRun, a_signal_that_is_passed_on_and_that_the_program_does_not_handle_is_named) {
  for (const int signal : {SIGUSR1, SIGUSR2}) {
    MendProcess run({"run", "-n", "2", "--spares", "1", "--", subject, "wait-without-handler"});
    run.wait_for_output("ready");
    kill(run.pid(), signal);
    EXPECT_EQ(run.wait(), 128 + signal);
    const std::string name = signal == SIGUSR1 ? "SIGUSR1" : "SIGUSR2";
    EXPECT_EQ(run.errors(),
              "mend: the job was ended by " + name +
                  ", which was sent to mend run and passed on to the program, which does not handle it\n");
  }
}

TEST(MendRun, killing_the_command_itself_leaves_no_process) {
  MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
  run.wait_for_output("ready");
  kill(run.pid(), SIGKILL);
  EXPECT_EQ(run.wait(), 1000 + SIGKILL);
  EXPECT_TRUE(all_gone(unique_word()));
}

/// As one that waits for ever for a lock when it is told to end.
TEST(MendRun, killing_the_command_itself_leaves_no_mpirun_that_does_not_end_when_told_to) {
  MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
  run.wait_for_output("ready");
  const pid_t mpirun = mpirun_of(run);
  kill(mpirun, SIGSTOP);
  kill(run.pid(), SIGKILL);
  EXPECT_EQ(run.wait(), 1000 + SIGKILL);
  EXPECT_TRUE(support::soon([&] { return processes_with_argument(unique_word()).empty(); }));
  kill(mpirun, SIGKILL);  // if it is left
}

/// The name of mpirun's folder in the folder for temporary files. It has the name of the machine without its domain.
std::string session_folder(const std::string& process) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string name = host.data();
  return fmt::format("prterun.{}.{}.{}", name.substr(0, name.find('.')), process, ::geteuid());
}

TEST(MendRun, killing_mpirun_leaves_nothing_of_it_in_the_folder_for_temporary_files) {
  const support::ScratchFolder scratch;
  const support::ScopedEnvironment there{{"TMPDIR", scratch.path().string()}};
  MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
  run.wait_for_output("ready");
  const pid_t mpirun = mpirun_of(run);
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / session_folder(std::to_string(mpirun))));
  kill(mpirun, SIGKILL);
  EXPECT_EQ(run.wait(), 128 + SIGKILL);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

/// Newer versions of Open MPI do not start beside the files of an mpirun with the same number that was killed.
TEST(MendRun, removes_what_a_killed_mpirun_of_the_same_number_has_left) {
  const support::ScratchFolder scratch;
  const support::ScratchFolder temporary;
  const auto mpirun = scratch.path() / "mpirun";
  std::ofstream(mpirun) << fmt::format(R"(#!/bin/bash
[[ $1 != --version ]] || {{ echo "mpirun (Open MPI) 5.0.10"; exit; }}
[[ ! -e "$TMPDIR/{}" ]] || echo "the folder of $$ is there"
echo "mpirun is $$"
)",
                                       session_folder("$$"));
  std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
  const support::ScopedEnvironment there{{"TMPDIR", temporary.path().string()}, {"MEND_MPIRUN", mpirun.string()}};
  constexpr int most_processes = 2000;  // that others start meanwhile
  for (int next = 1; next < most_processes; ++next)
    std::filesystem::create_directories(temporary.path() / session_folder(std::to_string(::getpid() + next)) / "pmix");
  const Ended run({"run", "-n", "1", "--", subject, "succeed"});
  EXPECT_THAT(run.output, AllOf(HasSubstr("mpirun is "), Not(HasSubstr("is there"))));
}

TEST(MendRun, killing_mpirun_is_told_and_leaves_no_process) {
  MendProcess run({"run", "-n", "2", "--", subject, "wait", unique_word()});
  run.wait_for_output("ready");
  kill(mpirun_of(run), SIGKILL);
  EXPECT_EQ(run.wait(), 128 + SIGKILL);
  EXPECT_THAT(run.errors(), HasSubstr("mend: mpirun was killed by SIGKILL\n"));
  EXPECT_THAT(processes_with_argument(unique_word()), IsEmpty());
}

}  // namespace
