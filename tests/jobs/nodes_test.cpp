// Which nodes a job runs on, by what the user and the batch system say.

#include "jobs/allocation/nodes.hpp"

#include "base/error.hpp"
#include "jobs/run/mpirun_line.hpp"
#include "jobs/run/placement.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace mend::jobs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Outside of every batch system.
class NodesOf : public testing::Test {
 protected:
  NodesOf() {
    for (const char* name :
         {"SLURM_JOB_ID", "SLURM_NO_KILL", "SLURMD_NODENAME", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "FLUX_URI",
          "PRTE_MCA_prte_default_hostfile", "OMPI_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile"})
      ::unsetenv(name);
  }

  std::filesystem::path file(const std::string& text) const {
    std::ofstream(folder_.path() / "hosts") << text;
    return folder_.path() / "hosts";
  }

  /// Makes a command that does as `script` says; returns PATH with it.
  std::string path_with(const char* command, const std::string& script) const {
    const auto file = folder_.path() / command;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return folder_.path().string() + ":" + std::getenv("PATH");
  }

  /// A job of Slurm whose scontrol does as `script` says.
  support::ScopedEnvironment slurm(const std::string& script, std::string tasks, std::string count) const {
    return {{"PATH", path_with("scontrol", script)},
            {"SLURM_JOB_ID", "17"},
            {"SLURM_JOB_NODELIST", "n[1-2]"},
            {"SLURM_TASKS_PER_NODE", std::move(tasks)},
            {"SLURM_JOB_NUM_NODES", std::move(count)}};
  }

 private:
  support::ScratchFolder folder_;
};

TEST_F(NodesOf, an_unnamed_place_is_this_machine) {
  const Nodes nodes = nodes_of({});
  EXPECT_TRUE(nodes.are_this_machine);
  EXPECT_THAT(nodes.list, IsEmpty());
}

TEST_F(NodesOf, a_user_are_those_he_names) {
  const Nodes nodes = nodes_of({.hosts = "a:4,b,c:2,b:3"});
  EXPECT_EQ(nodes.source, "--host");
  EXPECT_FALSE(nodes.are_this_machine);
  EXPECT_THAT(nodes.list, ElementsAre(Node{"a", 4}, Node{"b", 4}, Node{"c", 2}));
  EXPECT_EQ(host_list(nodes.list), "a:4,b:4,c:2");
}

TEST_F(NodesOf, a_file_have_slots_or_are_named_several_times) {
  const Nodes nodes = nodes_of({.hostfile = file("# mine\na slots=3 max_slots=4\n\nb # two\nb\n")});
  EXPECT_THAT(nodes.list, ElementsAre(Node{"a", 3}, Node{"b", 2}));
  EXPECT_THROW(nodes_of({.hostfile = "/no/such/file"}), UsageError);
  EXPECT_THROW(nodes_of({.hostfile = "/tmp"}), UsageError);
}

TEST_F(NodesOf, mpirun_by_default_are_in_the_file_that_a_variable_names) {
  const std::string hosts = file("a slots=2\nb\n").string();
  for (const char* variable : {"PRTE_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile"}) {
    const support::ScopedEnvironment set{{variable, hosts}};
    const Nodes nodes = nodes_of({});
    EXPECT_FALSE(nodes.are_this_machine) << variable;
    EXPECT_THAT(nodes.list, ElementsAre(Node{"a", 2}, Node{"b", Node::all_cores}));
    Launch launch{.ranks = 4};
    place(launch, nodes);
    EXPECT_FALSE(all_here(launch));
    EXPECT_EQ(launch.hostfile, hosts);
    EXPECT_EQ(nodes_of({.hosts = "c:4"}).source, "--host");
  }
  for (const std::string& none : {std::string("none"), file("# nobody\n").string()}) {
    const support::ScopedEnvironment set{{"PRTE_MCA_prte_default_hostfile", none}};
    EXPECT_TRUE(nodes_of({}).are_this_machine) << none;
  }
}

TEST(Nodes, in_a_file_have_the_slots_that_mpirun_reads) {
  EXPECT_THAT(parse_hostfile("a slots = 3\nb cpu=2\nc count=4\nd max_slots=8 slots =5 # slots=6\n"),
              ElementsAre(Node{"a", 3}, Node{"b", 2}, Node{"c", 4}, Node{"d", 5}));
  const auto once = parse_hostfile("a slots=3\nb\nb\nc\na\n");
  EXPECT_THAT(once, ElementsAre(Node{"a", 4}, Node{"b", 2}, Node{"c", Node::all_cores}));
  EXPECT_EQ(host_list(once), "a:4,b:2,c:*");
}

TEST(Nodes, that_the_user_names_may_have_all_their_cores) {
  const auto nodes = parse_hosts("a:*,b:auto,c:2,d");
  EXPECT_THAT(nodes, ElementsAre(Node{"a", Node::all_cores}, Node{"b", Node::all_cores}, Node{"c", 2}, Node{"d", 1}));
  EXPECT_EQ(host_list(nodes), "a:*,b:*,c:2,d:1");
  EXPECT_FALSE(are_slots_known(nodes));
  EXPECT_TRUE(are_slots_known(parse_hosts("c:2,d")));
}

TEST_F(NodesOf, an_allocation_of_pbs_and_lsf_are_in_its_file) {
  const std::string hosts = file("a\na\nb\n").string();
  for (const auto& [variable, source] : {std::pair{"PBS_NODEFILE", "PBS"}, std::pair{"LSB_DJOB_HOSTFILE", "LSF"}}) {
    const support::ScopedEnvironment job{{variable, hosts}};
    const Nodes nodes = nodes_of({});
    EXPECT_EQ(nodes.source, source);
    EXPECT_EQ(nodes.file, hosts);
    EXPECT_FALSE(nodes.are_this_machine);
    EXPECT_THAT(nodes.list, ElementsAre(Node{"a", 2}, Node{"b", 1}));
  }
}

TEST_F(NodesOf, an_allocation_of_this_machine_alone_are_no_others) {
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const support::ScopedEnvironment job{{"PBS_NODEFILE", file(std::string(host.data()) + "\n").string()}};
  EXPECT_TRUE(nodes_of({}).are_this_machine);
}

TEST_F(NodesOf, an_allocation_of_slurm_are_asked_of_scontrol) {
  const auto job = slurm("[ \"$*\" = 'show hostnames n[1-2]' ] && printf 'n1\\nn2\\n'", "3(x2)", "2");
  const Nodes nodes = nodes_of({});
  EXPECT_EQ(nodes.source, "Slurm");
  EXPECT_EQ(nodes.file, "") << "mpirun asks Slurm by itself";
  EXPECT_FALSE(nodes.are_this_machine);
  EXPECT_THAT(nodes.list, ElementsAre(Node{"n1", 3}, Node{"n2", 3}));
}

TEST_F(NodesOf, a_user_may_be_some_of_the_allocation_of_slurm) {
  const auto job = slurm("printf 'n1\\nn2\\nn3\\n'", "3(x3)", "3");
  for (const auto& [hosts, are_of_slurm] :
       {std::pair{"n1:2,n3", true}, std::pair{"n1:*,n2:auto", true}, std::pair{"n1,elsewhere", false}}) {
    const Nodes nodes = nodes_of({.hosts = hosts});
    Launch launch{.ranks = 2, .hosts = hosts};
    place(launch, nodes);
    EXPECT_EQ(nodes.are_of_slurm, are_of_slurm) << hosts;
    EXPECT_EQ(launch.agent.ends_with(" slurm-agent"), are_of_slurm) << hosts;
  }
}

TEST_F(NodesOf, an_allocation_of_flux_are_asked_of_flux) {
  for (const char* level : {"0", "1"}) {
    const support::ScopedEnvironment job{
        {"PATH", path_with("flux", std::string("case \"$*\" in 'getattr instance-level') echo ") + level +
                                       " ;; 'hostlist --expand instance') echo n1 n2 ;; 'resource list -s all -n -o "
                                       "{ncores}') echo 16 ;; *) exit 1 ;; esac")},
        {"FLUX_URI", "local:///run/flux/local"}};
    const Nodes nodes = nodes_of({});
    if (*level == '0') {
      EXPECT_THAT(nodes.list, IsEmpty()) << "the system's own instance is no allocation";
      continue;
    }
    EXPECT_EQ(nodes.source, "Flux");
    EXPECT_FALSE(nodes.are_this_machine);
    EXPECT_THAT(nodes.list, ElementsAre(Node{"n1", 8}, Node{"n2", 8}));
    Launch launch{.ranks = 4};
    place(launch, nodes);
    EXPECT_EQ(launch.hosts, "n1:8,n2:8");
    EXPECT_EQ(nodes_of({.hosts = "a:4"}).source, "--host");
  }
}

TEST_F(NodesOf, an_allocation_of_flux_without_an_answer_is_this_machine) {
  const support::ScopedEnvironment job{{"PATH", path_with("flux", "exit 1")}, {"FLUX_URI", "local:///run/flux/local"}};
  EXPECT_TRUE(nodes_of({}).are_this_machine);
}

TEST_F(NodesOf, an_allocation_of_slurm_may_be_this_machine_alone) {
  const auto job = slurm("echo n1", "4", "1");
  EXPECT_FALSE(nodes_of({}).are_this_machine) << "salloc was typed elsewhere";
  const support::ScopedEnvironment inside{{"SLURMD_NODENAME", "n1"}};
  EXPECT_TRUE(nodes_of({}).are_this_machine);
}

TEST_F(NodesOf, slurm_end_the_job_unless_its_script_says_no_kill) {
  const std::string names = "case $1 in show) printf 'n1\\nn2\\n' ;; write) echo '#SBATCH";
  for (const auto& [line, ends] :
       {std::pair{" --nodes=2", true}, std::pair{" --nodes=2 --no-kill", false}, std::pair{" -k", false},
        std::pair{" -k -N 2", false}, std::pair{" --no-kill=off", true}, std::pair{" --kill-on-bad-exit", true}}) {
    const auto job = slurm(names + line + "' ;; esac", "1(x2)", "2");
    EXPECT_EQ(may_end_with_a_node(nodes_of({})), ends) << line;
  }
  const auto job = slurm(names + "' ;; esac", "1(x2)", "2");
  const support::ScopedEnvironment no_kill{{"SLURM_NO_KILL", "1"}};
  EXPECT_FALSE(may_end_with_a_node(nodes_of({})));
}

TEST(SlurmTasks, are_read_as_slurm_writes_them) {
  EXPECT_THAT(parse_slurm_tasks("3"), ElementsAre(3));
  EXPECT_THAT(parse_slurm_tasks("3(x2),1"), ElementsAre(3, 3, 1));
  for (const char* none : {"", "x", "3(x", "3(x0)", "0", "3,,1", "3(2)"})
    EXPECT_THAT(parse_slurm_tasks(none), IsEmpty());
}

TEST(SpareNodes, are_the_last_ones_and_the_ranks_fill_the_others) {
  const std::vector<Node> nodes{{"a", 4}, {"b", 4}, {"c", 4}, {"d", 2}};
  const auto placed = with_spare_nodes(nodes, 6, 1, "--host");
  EXPECT_EQ(host_list(placed), "a:4,b:2,d:2");
  EXPECT_EQ(slots_of_last(placed, 1), 2);
  EXPECT_EQ(slots_of_last(with_spare_nodes(nodes, 8, 2, "--host"), 2), 6);
}

TEST(SpareNodes, are_refused_where_the_slots_of_a_node_are_not_known) {
  try {
    with_spare_nodes({{"a", 4}, {"b", Node::all_cores}}, 2, 1, "--hostfile");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("and --hostfile has none for b: name it, as in --host b:4"));
  }
}

TEST(SpareNodes, leave_enough_for_the_ranks_or_are_refused) {
  try {
    with_spare_nodes({{"a", 4}, {"b", 4}}, 6, 1, "Slurm");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--spare-nodes 1 leaves 1 of the 2 nodes of Slurm for ranks"),
                                    HasSubstr("place for 4 of the 6 ranks")));
  }
  EXPECT_THROW(with_spare_nodes({{"a", 4}}, 1, 1, "--host"), UsageError);
  EXPECT_THROW(with_spare_nodes({{"a", 4}}, 1, 5, "--host"), UsageError);
}

}  // namespace
}  // namespace mend::jobs
