// What `mend run --dry-run` makes of what is set for Open MPI, in the environment and in its parameter files, and by an
// outer job.

#include "tests/support/mend_process.hpp"
#include "tests/support/scoped_environment.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using support::ScopedEnvironment;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Printed {
  int code;
  std::string line;
  std::string errors;
};

Printed printed_for(std::vector<std::string> options) {
  options.insert(options.begin(), {"run", "--dry-run", "-n", "2"});
  options.insert(options.end(), {"--", "/bin/true"});
  MendProcess process(options);
  const int code = process.wait();
  return {code, process.output(), process.errors()};
}

/// Makes an mpirun that does as `script` says; returns its name.
std::string mpirun_in(const std::filesystem::path& prefix, const std::string& script) {
  std::filesystem::create_directories(prefix / "bin");
  const std::filesystem::path file = prefix / "bin/mpirun";
  std::ofstream(file) << "#!/bin/bash\n[[ $1 != --version ]] || { echo 'mpirun (Open MPI) 5.0.7'; exit; }\n" << script;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

TEST(TheLine, has_the_loopback_interface_on_one_machine) {
  EXPECT_THAT(printed_for({"--network", "lo"}).line,
              AllOf(HasSubstr("--mca btl_tcp_if_include lo "), HasSubstr("MEND_NETWORK=lo "),
                    Not(HasSubstr("prte_if_include"))));
  EXPECT_THAT(printed_for({"--network", "lo,127.0.0.0/8"}).line, HasSubstr("--mca btl_tcp_if_include lo,127.0.0.0/8 "));
  const std::vector<std::string> two_machines{"--network", "lo,nosuch0", "--host", "a:1,b:1"};
  EXPECT_THAT(printed_for(two_machines).line, HasSubstr("--mca btl_tcp_if_include nosuch0 "));
}

TEST(TheLine, names_the_file_of_reports_for_every_working_directory) {
  const support::ScratchFolder folder;
  const ScopedEnvironment relative{{"TMPDIR", std::filesystem::proximate(folder.path()).string()}};
  EXPECT_THAT(printed_for({}).line, HasSubstr("MEND_STATUS_FILE=/"));
}

TEST(TheLine, has_mends_components_where_the_users_lists_are_empty) {
  const ScopedEnvironment empty{{"OMPI_MCA_pml", ""}, {"OMPI_MCA_btl", ""}, {"OMPI_MCA_coll", ""}};
  EXPECT_THAT(printed_for({}).line,
              AllOf(HasSubstr("--mca pml ob1 "), HasSubstr("--mca btl ^ofi,"), HasSubstr("--mca coll ^han,")));
}

TEST(TheLine, has_nothing_of_an_outer_job) {
  const ScopedEnvironment variables{{"MEND_SPARES", "2"},       {"MEND_RESULT", "/x"},      {"MEND_NETWORK", "nosuch0"},
                                    {"MEND_ON_TERM", "kill"},   {"MEND_SPARE_NODES", "1"},  {"MEND_LAUNCH", "2"},
                                    {"MEND_ROLLBACK", "local"}, {"MEND_REDUNDANCY", "none"}};
  EXPECT_THAT(printed_for({}).line, AllOf(HasSubstr("-np 4 "), HasSubstr("MEND_RESULT=/x "))) << "without one";
  {
    const ScopedEnvironment outer{{"MEND_PROCESSES", "3"}};
    const Printed inner = printed_for({});
    EXPECT_THAT(inner.line, AllOf(HasSubstr("-np 2 "), HasSubstr("MEND_PROCESSES=2 "), HasSubstr("MEND_SPARES=0 "),
                                  HasSubstr("MEND_ROLLBACK=local "), HasSubstr("MEND_REDUNDANCY=none ")))
        << inner.errors;
    for (const char* variable : {"MEND_RESULT", "MEND_NETWORK", "MEND_ON_TERM", "MEND_SPARE_NODES", "MEND_LAUNCH"})
      EXPECT_THAT(inner.line, Not(HasSubstr(variable)));
  }
  {
    const ScopedEnvironment outer{{"MEND_PROCESSES", "3"},
                                  {"OMPI_MEND_SETTINGS",
                                   "btl=self,sm,tcp|btl_tcp_if_include=nosuch0|mpi_add_procs_cutoff=7|pml=ob1|"
                                   "btl_sm_free_list_max=-1"},
                                  {"OMPI_MCA_btl", "self,sm,tcp"},
                                  {"OMPI_MCA_btl_tcp_if_include", "nosuch0"},
                                  {"OMPI_MCA_mpi_add_procs_cutoff", "7"},
                                  {"OMPI_MCA_btl_sm_free_list_max", "64"},
                                  {"OMPI_MCA_async_mpi_finalize", "0"}};
    const Printed inner = printed_for({"--verbose"});
    EXPECT_THAT(inner.errors, HasSubstr("interfaces: all\n"));
    EXPECT_THAT(inner.line, AllOf(HasSubstr("--mca btl ^ofi,"), HasSubstr("--mca mpi_add_procs_cutoff 1024 "),
                                  HasSubstr("--mca pml ob1 "), Not(HasSubstr("--mca btl_sm_free_list_max")),
                                  Not(HasSubstr("--mca async_mpi_finalize"))))
        << "the last two are settings of the user";
  }
  const ScopedEnvironment checks{{"MEND_PROCESSES", "3"}, {"MEND_CHECK_DETERMINISM", "1"}};
  EXPECT_THAT(printed_for({}).line, AllOf(Not(HasSubstr("MEND_ROLLBACK")), Not(HasSubstr("MEND_CHECK_DETERMINISM"))));
}

TEST(AParameterFile, must_not_contradict_the_network) {
  const support::ScratchFolder home;
  std::filesystem::create_directories(home / ".openmpi");
  const ScopedEnvironment there{{"HOME", home.path().string()},
                                {"MEND_MPIRUN", mpirun_in(home.path() / "without-corrections", "")}};
  const auto write = [&](const char* text) { std::ofstream(home / ".openmpi/mca-params.conf") << text; };
  write("pml = ucx\nbtl = self,ofi\nbtl_tcp_if_exclude = docker0\n");
  EXPECT_EQ(printed_for({}).code, 0) << "mend's own settings override the others";
  EXPECT_THAT(printed_for({"--verbose"}).errors, HasSubstr("interfaces: all but docker0\n"));
  const Printed excluded = printed_for({"--network", "lo"});
  EXPECT_EQ(excluded.code, 2);
  EXPECT_EQ(excluded.errors,
            "mend: --network lo contradicts btl_tcp_if_exclude docker0, which is set for Open MPI: leave one of them "
            "out\n");
  write("btl_uct_memory_domains = tcp\nbtl_tcp_if_include = docker0\n");
  EXPECT_EQ(printed_for({"--network", "lo"}).code, 0) << "it overrides the file";
  EXPECT_THAT(printed_for({"--network", "uct"}).errors, HasSubstr("loses data of messages over TCP"));
}

TEST(AParameterFile, of_the_system_counts_too) {
  const support::ScratchFolder prefix;
  const ScopedEnvironment there{{"MEND_MPIRUN", mpirun_in(prefix.path(), "")}};
  std::filesystem::create_directories(prefix / "etc");
  std::ofstream(prefix / "etc/openmpi-mca-params.conf") << "btl_tcp_if_exclude = docker0\n";
  EXPECT_THAT(printed_for({"--network", "lo"}).errors, HasSubstr("contradicts btl_tcp_if_exclude docker0"));
}

TEST(Mpirun, does_not_inherit_other_interfaces_or_empty_lists) {
  const support::ScratchFolder prefix;
  const ScopedEnvironment there{{"MEND_MPIRUN", mpirun_in(prefix.path(), "env | grep -E '_if_|MCA_pml'\necho seen\n")},
                                {"PRTE_MCA_prte_if_exclude", "docker0"},
                                {"OMPI_MCA_oob_tcp_if_include", "docker0"},
                                {"OMPI_MCA_btl_tcp_if_exclude", "docker0"},
                                {"OMPI_MCA_pml", ""}};
  const auto inherited = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "-n", "2", "--host", "a:1,b:1"});
    options.insert(options.end(), {"--", "/bin/true"});
    MendProcess process(options);
    process.wait();
    return process.output();
  };
  EXPECT_THAT(inherited({"--network", "lo,nosuch0"}),
              AllOf(HasSubstr("seen\n"), Not(HasSubstr("_if_")), Not(HasSubstr("MCA_pml"))));
  EXPECT_THAT(inherited({}), AllOf(HasSubstr("PRTE_MCA_prte_if_exclude=docker0\n"),
                                   HasSubstr("OMPI_MCA_btl_tcp_if_exclude=docker0\n"), Not(HasSubstr("MCA_pml"))));
}

}  // namespace
