// `mend doctor` as users call it, on a machine with planted faults.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using support::ScopedEnvironment;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(MendDoctor, finds_an_mpirun_that_is_none) {
  const ScopedEnvironment environment{{"MEND_MPIRUN", "/bin/nothing"}};
  const Diagnosis diagnosis = doctor({});
  EXPECT_EQ(diagnosis.code, 2);
  EXPECT_THAT(diagnosis.findings,
              Contains(IsFinding("fail", "MPI", "MEND_MPIRUN is '/bin/nothing', which cannot be run")));
  EXPECT_GT(diagnosis.findings.size(), 5U) << "the other checks are made all the same";
}

TEST(MendDoctor, finds_a_stock_library) {
  const support::ScratchFolder prefix;
  fs::create_directories(prefix.path() / "bin");
  const fs::path real = fs::path(MEND_MPI_PREFIX) / "bin";
  for (const char* tool : {"mpirun", "ompi_info"}) {
    const auto file = prefix.path() / "bin" / tool;
    std::ofstream(file) << "#!/bin/sh\nexec " << (real / tool).string() << " \"$@\"\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  const ScopedEnvironment environment{{"MEND_MPIRUN", prefix.path() / "bin/mpirun"}};
  const Diagnosis diagnosis = doctor({"--only", "mpi,corrections"});
  EXPECT_EQ(diagnosis.code, 1);
  EXPECT_THAT(
      diagnosis.findings,
      Contains(IsFinding("warn", "corrections", "lacks lost-daemon-is-survivable: the loss of a node ends the job")));
  EXPECT_THAT(diagnosis.findings.back().remedy, HasSubstr("jobs/setup.sh"));
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
                                                    {"doctor", "--timeout", "soon"},
                                                    {"doctor", "--processes", "0"}}) {
    MendProcess process(arguments);
    EXPECT_EQ(process.wait(), 2);
    EXPECT_THAT(process.output(), IsEmpty());
    EXPECT_EQ(std::count(process.errors().begin(), process.errors().end(), '\n'), 1) << process.errors();
  }
}

}  // namespace
