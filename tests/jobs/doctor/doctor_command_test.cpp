// `mend doctor` as users call it, on a machine with planted faults.

#include "jobs/doctor/corrections.hpp"
#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;
using support::ScopedEnvironment;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Told {
  std::string level, subject, why, remedy;
};

struct Diagnosis {
  int code = -1;
  std::vector<Told> findings;
  std::string errors;
};

Diagnosis doctor(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"doctor", "--json"});
  MendProcess process(arguments);
  Diagnosis diagnosis;
  diagnosis.code = process.wait();
  diagnosis.errors = process.errors();
  const auto told = nlohmann::json::parse(process.output(), nullptr, false);
  EXPECT_TRUE(told.is_object()) << process.output() << process.errors();
  if (!told.is_object()) return diagnosis;
  EXPECT_EQ(told["exit_code"], diagnosis.code);
  for (const auto& one : told["findings"])
    diagnosis.findings.push_back({one["level"], one["subject"], one["why"], one["remedy"]});
  return diagnosis;
}

MATCHER_P3(IsFinding, level, subject, words, "") {
  return arg.level == level && arg.subject == subject && arg.why.find(words) != std::string::npos;
}

void PrintTo(const Told& told, std::ostream* out) { *out << told.level << " " << told.subject << ": " << told.why; }

TEST(MendDoctor, recovers_from_a_death_agrees_and_tells_what_time_out_is_safe) {
  const Diagnosis diagnosis = doctor({"--only", "mpi,recovery"});
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "MPI", "Open MPI")));
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "recovery", "a killed rank was replaced")));
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "agreement", "of 3 ranks")));
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "MPI loaded", "libmpi")));
  EXPECT_THAT(diagnosis.findings, Contains(AllOf(testing::Field(&Told::subject, "heartbeat"),
                                                 testing::Field(&Told::why, HasSubstr("wake up")))));
}

TEST(MendDoctor, starts_a_process_for_a_dead_rank_and_writes_a_checkpoint) {
  const Diagnosis diagnosis = doctor({"--only", "spawn,hdf5"});
  EXPECT_EQ(diagnosis.code, 0);
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "spawn", "a killed rank was replaced")));
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "HDF5", "1.")));
}

TEST(MendDoctor, needs_no_home) {
  const ScopedEnvironment named{{"MEND_MPIRUN", MEND_MPI_PREFIX "/bin/mpirun"}};
  MendProcess process({"doctor", "--only", "mpi"}, MendProcess::no_input, {"HOME"});
  process.wait();
  EXPECT_THAT(process.output(), AllOf(HasSubstr("(Open MPI)"), Not(HasSubstr("does not report its version")),
                                      Not(HasSubstr("cannot be asked"))))
      << process.errors();
}

TEST(MendDoctor, finds_an_mpirun_that_is_none) {
  const ScopedEnvironment environment{{"MEND_MPIRUN", "/bin/nothing"}};
  const Diagnosis diagnosis = doctor({});
  EXPECT_EQ(diagnosis.code, 2);
  EXPECT_THAT(diagnosis.findings,
              Contains(IsFinding("fail", "MPI", "MEND_MPIRUN is '/bin/nothing', which cannot be run")));
  EXPECT_GT(diagnosis.findings.size(), 5U) << "the other checks are made all the same";
}

void write_script(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n" << text;
  fs::permissions(file, fs::perms::owner_all);
}

/// Makes `prefix` one of the Open MPI at hand, without mend's corrections.
void write_stock_library(const fs::path& prefix) {
  for (const char* tool : {"mpirun", "ompi_info", "mpicc"})
    write_script(prefix / "bin" / tool, "exec " MEND_MPI_PREFIX "/bin/" + std::string(tool) + " \"$@\"\n");
}

TEST(MendDoctor, finds_a_stock_library) {
  const support::ScratchFolder prefix;
  write_stock_library(prefix.path());
  const ScopedEnvironment environment{{"MEND_MPIRUN", prefix.path() / "bin/mpirun"}};
  const Diagnosis diagnosis = doctor({"--only", "mpi,corrections"});
  EXPECT_EQ(diagnosis.code, 1);
  EXPECT_THAT(
      diagnosis.findings,
      Contains(IsFinding("warn", "corrections", "lacks lost-daemon-is-survivable: the loss of a node ends the job")));
  EXPECT_THAT(diagnosis.findings.back().remedy,
              AllOf(HasSubstr("jobs/setup.sh"), HasSubstr("mend doctor --only corrections --reproduce")));
}

/// Names all corrections as those of the library at `prefix`, except `missing`.
void name_corrections(const fs::path& prefix, const std::set<std::string_view>& missing) {
  const fs::path folder = prefix / "share/mend/corrections";
  fs::create_directories(folder);
  for (const auto& correction : mend::jobs::corrections())
    if (!missing.contains(correction.name)) std::ofstream(folder / (std::string(correction.name) + ".patch"));
}

TEST(MendDoctor, tries_the_corrections_that_are_missing) {
  const support::ScratchFolder folder;
  write_stock_library(folder.path() / "mpi");
  name_corrections(folder.path() / "mpi",
                   {"lost-daemon-is-survivable", "all-killed-is-no-success", "topologies-do-not-warn"});
  const fs::path reproducers = folder.path() / "reproducers";
  write_script(reproducers / "some/lost-daemon-is-survivable.sh", "echo 'defect: all is lost'\n");
  write_script(reproducers / "some/all-killed-is-no-success.sh", "echo sound\n");
  write_script(reproducers / "some/topologies-do-not-warn.sh", "echo 'untestable: there is no terminal'\n");
  write_script(reproducers / "some/writers-may-die.sh", "echo 'defect: it is not missing'\n");
  const ScopedEnvironment environment{{"MEND_MPIRUN", folder.path() / "mpi/bin/mpirun"},
                                      {"MEND_REPRODUCERS", reproducers}};
  const Diagnosis diagnosis = doctor({"--only", "corrections", "--reproduce"});
  EXPECT_EQ(diagnosis.code, 1);
  EXPECT_THAT(
      diagnosis.findings,
      testing::ElementsAre(
          IsFinding("warn", "corrections",
                    "lost-daemon-is-survivable corrects: the loss of a node ends the job (run 1: all is lost)"),
          IsFinding("pass", "corrections", "1 of 3 defects are not shown"),
          IsFinding("warn", "corrections", "topologies-do-not-warn corrects cannot be tried: there is no terminal")));
}

TEST(MendDoctor, tries_all_corrections_if_none_is_missing) {
  const support::ScratchFolder folder;
  write_stock_library(folder.path() / "mpi");
  name_corrections(folder.path() / "mpi", {});
  const fs::path reproducers = folder.path() / "reproducers";
  for (const auto& correction : mend::jobs::corrections())
    write_script(reproducers / "some" / (std::string(correction.name) + ".sh"), "echo sound\n");
  const ScopedEnvironment environment{{"MEND_MPIRUN", folder.path() / "mpi/bin/mpirun"},
                                      {"MEND_REPRODUCERS", reproducers}};
  const Diagnosis diagnosis = doctor({"--only", "corrections", "--reproduce"});
  EXPECT_EQ(diagnosis.code, 0);
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_THAT(diagnosis.findings.front(), IsFinding("pass", "corrections", " defects are not shown"));
}

TEST(MendDoctor, ends_the_reproducer_that_it_tries_when_it_is_ended) {
  const support::ScratchFolder folder;
  write_stock_library(folder.path() / "mpi");
  name_corrections(folder.path() / "mpi", {"lost-daemon-is-survivable"});
  const fs::path reproducers = folder.path() / "reproducers";
  const std::string word = "mend-reproducer-" + std::to_string(::getpid());
  write_script(reproducers / "some/lost-daemon-is-survivable.sh",
               "# limit: 100\ntrap '' TERM\n(exec -a " + word + " sleep 300) &\nexec -a " + word + " sleep 300\n");
  const fs::path scratch = folder.path() / "scratch";
  fs::create_directories(scratch);
  const ScopedEnvironment environment{
      {"MEND_MPIRUN", folder.path() / "mpi/bin/mpirun"}, {"MEND_REPRODUCERS", reproducers}, {"TMPDIR", scratch}};
  MendProcess doctor({"doctor", "--only", "corrections", "--reproduce"});
  ASSERT_TRUE(support::soon([&] { return processes_with_argument(word).size() == 2; }));
  ::kill(doctor.pid(), SIGINT);
  EXPECT_EQ(doctor.wait(), 1000 + SIGINT);
  EXPECT_TRUE(all_gone(word));
  EXPECT_TRUE(support::soon([&] { return fs::is_empty(scratch); }));
}

TEST(MendDoctor, finds_a_library_without_fault_tolerance) {
  const support::ScratchFolder prefix;
  fs::create_directories(prefix.path() / "bin");
  const auto plant = [&](const char* tool, const char* says) {
    const auto file = prefix.path() / "bin" / tool;
    std::ofstream(file) << "#!/bin/sh\necho '" << says << "'\n";
    fs::permissions(file, fs::perms::owner_all);
  };
  plant("mpirun", "mpirun (Open MPI) 5.0.3");
  plant("ompi_info", "          FT MPI support: no");
  const ScopedEnvironment environment{{"MEND_MPIRUN", prefix.path() / "bin/mpirun"}};
  const Diagnosis diagnosis = doctor({"--only", "mpi"});
  EXPECT_EQ(diagnosis.code, 2);
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("fail", "MPI", "without fault tolerance")));
}

TEST(MendDoctor, finds_a_time_out_that_is_too_short) {
  const Diagnosis diagnosis = doctor({"--only", "recovery", "--heartbeat", "100", "--timeout", "150"});
  EXPECT_EQ(diagnosis.code, 2);
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("fail", "heartbeat", "the time-out of 150 ms is too short")));
  EXPECT_THAT(diagnosis.findings.back().remedy, HasSubstr("--mend-timeout 1000"));
}

TEST(MendDoctor, finds_a_time_out_that_is_too_short_in_files_of_options) {
  const support::ScratchFolder folder;
  const std::string users = folder / "user.toml";
  const std::string sites = folder / "site.toml";
  std::ofstream(sites) << "timeout = 150\n";
  const ScopedEnvironment site{{"MEND_SITE_CONFIG", sites}};
  EXPECT_THAT(doctor({"--only", "recovery"}).findings,
              Contains(IsFinding("fail", "heartbeat", "the time-out of 150 ms is too short")));
  std::ofstream(users) << "[mend]\nheartbeat = 90\ntimeout = 160\n";
  const ScopedEnvironment both{{"MEND_CONFIG", users}, {"MEND_HEARTBEAT", "95"}};
  EXPECT_THAT(
      doctor({"--only", "recovery"}).findings,
      Contains(IsFinding("fail", "heartbeat", "the time-out of 160 ms is too short: with a heartbeat every 95 ms")));
  const ScopedEnvironment missing{{"MEND_CONFIG", (folder / "none.toml").string()}};
  MendProcess process({"doctor", "--only", "recovery"});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.errors(), HasSubstr("none.toml cannot be read"));
}

TEST(MendDoctor, tries_jobs_without_what_is_set_for_other_jobs) {
  const support::ScratchFolder folder;
  const fs::path trace = folder.path() / "process-0.json";
  std::ofstream(trace) << "the trace of another job";
  const std::string sites = folder / "site.toml";
  std::ofstream(sites) << "[mend]\ndisk = \"" << (folder / "disk").string()
                       << "\"\n[mend.run]\nmpi = \"--no-such-option\"\nnetwork = \"tcp\"\n";
  const ScopedEnvironment environment{
      {"MEND_REDUNDANCY", "rs:4+2"}, {"MEND_TRACE", folder.path().string()}, {"MEND_SITE_CONFIG", sites}};
  const Diagnosis diagnosis = doctor({"--only", "recovery"});
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("pass", "recovery", "a killed rank was replaced")));
  EXPECT_EQ(fs::file_size(trace), std::string_view("the trace of another job").size());
  EXPECT_FALSE(fs::exists(folder.path() / "disk"));
}

TEST(MendDoctor, tries_jobs_with_the_networks_of_files_of_options) {
  const support::ScratchFolder folder;
  const std::string sites = folder / "site.toml";
  std::ofstream(sites) << "[mend.run]\nnetwork = \"no-such-network\"\n";
  const ScopedEnvironment environment{{"MEND_SITE_CONFIG", sites}};
  EXPECT_THAT(doctor({"--only", "recovery"}).findings,
              Contains(IsFinding("fail", "recovery", "--network no-such-network")));
}

TEST(MendDoctor, says_of_a_throw_away_job_that_fails_what_is_no_note) {
  const support::ScratchFolder folder;
  const fs::path mpirun = folder.path() / "bin/mpirun";
  write_script(mpirun,
               "case $1 in --version) echo 'mpirun (Open MPI) 5.0.7'; exit;; esac\n"
               "echo 'mend[0] 12:00:00.000000: note: a spare is there' >&2; echo 'the reason' >&2; exit 1\n");
  const ScopedEnvironment environment{{"MEND_MPIRUN", mpirun}};
  EXPECT_THAT(doctor({"--only", "recovery"}).findings,
              Contains(IsFinding("fail", "recovery", "the throw-away job has failed: the reason")));
}

TEST(MendDoctor, finds_a_limit_that_is_missing) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit small{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &small);
  const Diagnosis diagnosis = doctor({"--only", "limits", "--processes", "32"});
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(diagnosis.code, 2);
  EXPECT_THAT(diagnosis.findings, Contains(IsFinding("fail", "open files", "ulimit -n allows 64")));
  EXPECT_THAT(doctor({"--only", "limits"}).findings, Contains(IsFinding("pass", "open files", "")));
}

TEST(MendDoctor, says_a_line_for_each_thing_about_the_machine) {
  MendProcess process({"doctor", "--only", "limits,network,clock,scheduler"});
  EXPECT_LE(process.wait(), 2);
  for (const char* subject :
       {"open files", "processes", "locked memory", "shared memory", "network", "clock", "scheduler"})
    EXPECT_THAT(process.output(), HasSubstr(subject));
  EXPECT_THAT(process.output(), testing::Not(HasSubstr("\033"))) << "no colour into a pipe";
  const ScopedEnvironment environment{{"SLURM_JOB_ID", "4711"}};
  EXPECT_THAT(doctor({"--only", "scheduler"}).findings, Contains(IsFinding("pass", "scheduler", "Slurm, in job 4711")));
}

TEST(MendDoctor, leaves_no_folder_behind_when_it_is_ended) {
  const support::ScratchFolder scratch;
  const ScopedEnvironment there{{"TMPDIR", scratch.path().string()}};
  for (const int signal : {SIGTERM, SIGINT}) {
    MendProcess doctor({"doctor", "--only", "recovery"});
    ASSERT_TRUE(support::soon([&] { return !fs::is_empty(scratch.path()); }));
    ::kill(doctor.pid(), signal);
    EXPECT_EQ(doctor.wait(), 1000 + signal);
    EXPECT_TRUE(support::soon([&] { return fs::is_empty(scratch.path()); }));
  }
}

TEST(MendDoctor, refuses_what_makes_no_sense_in_one_sentence) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"doctor", "--only", "feet"},
                                                    {"doctor", "--only", "limits", "--reproduce"},
                                                    {"doctor", "--timeout", "soon"},
                                                    {"doctor", "--processes", "0"}}) {
    MendProcess process(arguments);
    EXPECT_EQ(process.wait(), 2);
    EXPECT_THAT(process.output(), IsEmpty());
    EXPECT_EQ(std::count(process.errors().begin(), process.errors().end(), '\n'), 1) << process.errors();
  }
}

}  // namespace
