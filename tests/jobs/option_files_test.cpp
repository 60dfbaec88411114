// What files of options set for mend run: the table [mend.run] of the user's file, and of the site's.

#include "tests/support/mend_process.hpp"
#include "tests/support/scoped_environment.hpp"
#include "tests/support/scratch_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <vector>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Two files of options, in force for the processes that a test starts.
class OptionFiles : public testing::Test {
 protected:
  const support::ScratchFolder folder;
  const std::string users = (folder / "user.toml").string();
  const std::string sites = (folder / "site.toml").string();
  const support::ScopedEnvironment environment{{"MEND_CONFIG", users}, {"MEND_SITE_CONFIG", sites}};

  void write(const std::string& user, const std::string& site) const {
    std::ofstream(users) << user;
    std::ofstream(sites) << site;
  }
};

struct Tried {
  int code;
  std::string output;
  std::string errors;
};

Tried dry_run(std::vector<std::string> options) {
  options.insert(options.begin(), {"run", "--dry-run", "-n", "4"});
  options.insert(options.end(), {"--", "/bin/true"});
  MendProcess process(options);
  const int code = process.wait();
  return {code, process.output(), process.errors()};
}

TEST_F(OptionFiles, are_overridden_by_variables_and_flags_and_the_sites_by_the_users) {
  write("[mend.run]\nspares = 2\n", "[mend.run]\nspares = 3\nnetwork = \"tcp\"\nmpi = \"--bind-to none\"\n");
  const auto files = dry_run({});
  EXPECT_EQ(files.code, 0) << files.errors;
  EXPECT_THAT(files.output, HasSubstr("-np 6 "));
  EXPECT_THAT(files.output, HasSubstr("btl self,sm,tcp"));
  EXPECT_THAT(files.output, HasSubstr("--bind-to none"));
  EXPECT_THAT(dry_run({"--spares", "1"}).output, HasSubstr("-np 5 "));
  const support::ScopedEnvironment variable{{"MEND_SPARES", "4"}};
  EXPECT_THAT(dry_run({}).output, HasSubstr("-np 8 "));
}

TEST_F(OptionFiles, are_overridden_by_what_the_user_sets_for_the_program) {
  write("", "[mend.run]\non-term = \"kill\"\ncheck-determinism = true\n");
  EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("MEND_ON_TERM=kill"), HasSubstr("MEND_ROLLBACK=local,strict")));
  EXPECT_THAT(dry_run({"--on-term", "checkpoint"}).output, HasSubstr("MEND_ON_TERM=checkpoint"));
  write("[mend]\non-term = \"checkpoint\"\n", "[mend.run]\non-term = \"kill\"\n");
  EXPECT_THAT(dry_run({}).output, Not(HasSubstr("MEND_ON_TERM"))) << "processes read it in the user's file";
  write("[mend.run]\non-term = \"kill\"\n", "[mend.run]\ncheck-determinism = true\n");
  const support::ScopedEnvironment variables{{"MEND_ON_TERM", "checkpoint"}};
  EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("MEND_ON_TERM=checkpoint"), HasSubstr("MEND_ROLLBACK=local,strict")));
  const support::ScopedEnvironment unchecked{{"MEND_CHECK_DETERMINISM", "false"}};
  EXPECT_THAT(dry_run({}).output, Not(HasSubstr("MEND_ROLLBACK=local,strict")));
}

TEST_F(OptionFiles, set_a_network_that_parameter_files_of_the_user_override) {
  write("", "[mend.run]\nnetwork = \"tcp,lo\"\n");
  const support::ScratchFolder home;
  std::filesystem::create_directories(home.path() / ".openmpi");
  std::ofstream(home.path() / ".openmpi/mca-params.conf") << "btl_tcp_if_exclude = docker0\nbtl = ^ofi\n";
  const support::ScopedEnvironment variables{{"HOME", home.path().string()}};
  EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("--mca btl self,sm,tcp"), Not(HasSubstr("btl_tcp_if_include"))));
}

TEST_F(OptionFiles, set_a_network_that_settings_of_the_user_override) {
  write("", "[mend.run]\nnetwork = \"tcp,lo\"\n");
  EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("--mca btl self,sm,tcp"), HasSubstr("btl_tcp_if_include lo"),
                                        HasSubstr("MEND_NETWORK=lo")));
  {
    const support::ScopedEnvironment transports{{"OMPI_MCA_btl", "self,tcp"}};
    EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("btl_tcp_if_include lo"), Not(HasSubstr("--mca btl "))));
    EXPECT_THAT(dry_run({"--network", "tcp"}).output, HasSubstr("--mca btl self,sm,tcp"));
  }
  {
    const support::ScopedEnvironment interfaces{{"OMPI_MCA_btl_tcp_if_include", "eth0"}};
    EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("--mca btl self,sm,tcp"), Not(HasSubstr("btl_tcp_if_include")),
                                          Not(HasSubstr("MEND_NETWORK"))));
    EXPECT_THAT(dry_run({"--verbose"}).errors, HasSubstr("interfaces: eth0\n"));
  }
  {
    const support::ScopedEnvironment of_mend{{"MEND_NETWORK", "eth0"}};
    EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("btl_tcp_if_include lo"), HasSubstr("MEND_NETWORK=eth0")));
    EXPECT_THAT(dry_run({"--network", "lo"}).output, HasSubstr("MEND_NETWORK=lo"));
  }
  EXPECT_THAT(dry_run({"--mpi", "--mca btl self,sm"}).errors, IsEmpty()) << "no contradiction";
  write("[mend]\nnetwork = \"eth0\"\n", "[mend.run]\nnetwork = \"tcp,lo\"\n");
  EXPECT_THAT(dry_run({}).output, AllOf(HasSubstr("btl_tcp_if_include lo"), Not(HasSubstr("MEND_NETWORK"))));
}

TEST_F(OptionFiles, have_tables_for_programs_too_which_mend_run_leaves_alone) {
  write("spares = 7\n[mend]\nversions = 3\n", "versions = 3\n[solver]\nsteps = 3\n");
  const auto run = dry_run({});
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_THAT(run.errors, IsEmpty());
  EXPECT_THAT(run.output, HasSubstr("-np 4 "));
}

TEST_F(OptionFiles, set_flags_and_leave_out_what_a_given_option_excludes) {
  write("[mend.run]\nverbose = true\nspares = 2\n", "");
  EXPECT_THAT(dry_run({}).errors, HasSubstr("mend: MPI: ob1 over"));
  const auto run = dry_run({"--spare-nodes", "1", "--host", "a:4,b:4"});
  EXPECT_EQ(run.code, 0) << run.errors;
  write("[mend.run]\nhostfile = \"/nonexistent\"\n", "");
  EXPECT_EQ(dry_run({"--host", "a:4"}).code, 0);
  write("[mend.run]\nverbose = false\n", "[mend.run]\nverbose = true\n");
  EXPECT_THAT(dry_run({}).errors, IsEmpty());
}

TEST_F(OptionFiles, and_flags_say_how_many_spares_there_are_before_and_after_the_variable) {
  write("[mend.run]\nspare-nodes = 1\n", "");
  const support::ScopedEnvironment variable{{"MEND_SPARES", "3"}};
  EXPECT_THAT(dry_run({"--host", "a:4,b:4"}).output, HasSubstr("-np 7 "));
  EXPECT_THAT(dry_run({"--host", "a:4,b:4", "--spares", "1"}).output, HasSubstr("-np 5 "));
  const auto nodes = dry_run({"--host", "a:4,b:4", "--spare-nodes", "1"});
  EXPECT_EQ(nodes.code, 0) << nodes.errors;
  EXPECT_THAT(nodes.output, HasSubstr("-np 8 "));
  const support::ScopedEnvironment wrong{{"MEND_SPARES", "many"}};
  EXPECT_EQ(dry_run({}).code, 2);
}

TEST_F(OptionFiles, that_make_no_sense_are_refused_by_name) {
  const auto expect_refusal = [&](const std::string& user, const std::string& site, const std::string& sentence) {
    write(user, site);
    const auto run = dry_run({});
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.errors, fmt::format("mend: {}\n", sentence));
  };
  expect_refusal("[mend.run]\nspare = 2\n", "",
                 fmt::format("--mend-config: {}: 'spare' is not an option of mend run", users));
  expect_refusal(
      "", "[mend.run]\nranks = 2\n",
      fmt::format("--mend-site-config: {}: 'ranks' is of one job, and not for files: give it to mend run", sites));
  expect_refusal(
      "[mend.rum]\nspares = 2\n", "",
      fmt::format("--mend-config: {}: [mend.rum] is not a table of mend: there are [mend] and [mend.run]", users));
  expect_refusal("[mend.run]\nspares = 2\nspare-nodes = 1\n", "",
                 fmt::format("--mend-config: {}: 'spare-nodes' and 'spares' exclude each other", users));
  write("[mend.run]\nstart-limit = \"soon\"\n", "");
  const auto wrong = dry_run({});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr(users));
  EXPECT_THAT(wrong.errors, HasSubstr("soon"));
}

TEST_F(OptionFiles, may_be_named_by_the_programs_own_flag) {
  write("", "");
  const std::string other = (folder / "other.toml").string();
  std::ofstream(other) << "[mend.run]\nspares = 2\n";
  MendProcess process({"run", "--dry-run", "-n", "4", "--", "/bin/true", "--mend-config", other});
  EXPECT_EQ(process.wait(), 0) << process.errors();
  EXPECT_THAT(process.output(), HasSubstr("-np 6 "));
}

}  // namespace
