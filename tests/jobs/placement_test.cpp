// Which nodes a launch gets when some of its nodes are lost, and how these are found.

#include "jobs/run/placement.hpp"

#include "base/error.hpp"
#include "jobs/allocation/silent_nodes.hpp"
#include "tests/support/job.hpp"
#include "tests/support/scoped_environment.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace mend::jobs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Nodes three_nodes() { return {"Slurm", {}, {{"n1", 4}, {"n2", 4}, {"n3", 4}}, false}; }

TEST(SparesFor, are_a_number_or_a_share_of_the_ranks_rounded_up) {
  EXPECT_EQ(spares_for("0", 64), 0);
  EXPECT_EQ(spares_for("3", 64), 3);
  EXPECT_EQ(spares_for("10%", 64), 7);
  EXPECT_EQ(spares_for("200%", 64), 128);
  for (const char* text : {"", "%", "-1", "1.5", "10%%", "ten", "1000001", "101%", "99999999999999999999"})
    EXPECT_THROW(spares_for(text, most_processes), UsageError) << text;
}

TEST(LeaveOut, keeps_what_the_other_nodes_have_slots_for) {
  Nodes nodes = three_nodes();
  Launch launch{.ranks = 6, .spares = 6, .hostfile = "nodes", .elsewhere = true};
  ASSERT_TRUE(leave_out({"n2"}, launch, nodes));
  EXPECT_EQ(launch.ranks, 6);
  EXPECT_EQ(launch.spares, 2);
  EXPECT_EQ(launch.hosts, "n1:4,n3:4");
  EXPECT_EQ(launch.hostfile, "");
  EXPECT_THAT(nodes.list, ElementsAre(Node{"n1", 4}, Node{"n3", 4}));
  ASSERT_TRUE(leave_out({"n1"}, launch, nodes));
  EXPECT_EQ(launch.ranks, 6) << "they share the cores that there are";
  EXPECT_EQ(launch.spares, 0);
}

TEST(LeaveOut, does_not_count_slots_that_were_too_few_before) {
  Nodes nodes{"--host", {}, {{"n1", 1}, {"n2", 1}}, false};
  Launch launch{.ranks = 4, .spares = 2, .hosts = "n1,n2", .elsewhere = true};
  ASSERT_TRUE(leave_out({"n1"}, launch, nodes));
  EXPECT_EQ(launch.spares, 2);
}

TEST(LeaveOut, keeps_the_spares_if_slots_are_not_known) {
  Nodes nodes{"--hostfile", {}, {{"n1", Node::all_cores}, {"n2", 4}, {"n3", 4}}, false};
  Launch launch{.ranks = 4, .spares = 2, .hostfile = "nodes", .elsewhere = true};
  ASSERT_TRUE(leave_out({"n2"}, launch, nodes));
  EXPECT_EQ(launch.spares, 2);
  EXPECT_EQ(launch.hosts, "n1:*,n3:4");
}

TEST(LeaveOut, does_not_contradict_the_program) {
  Nodes nodes = three_nodes();
  Launch launch{.ranks = 8, .spares = 4, .elsewhere = true, .program = {"./solver", "--mend-spares", "4"}};
  ASSERT_TRUE(leave_out({"n3"}, launch, nodes));
  EXPECT_EQ(launch.spares, 4);
}

TEST(LeaveOut, keeps_as_many_spare_nodes_as_it_can) {
  Nodes nodes = three_nodes();
  Launch launch{.ranks = 4, .spare_nodes = 2, .elsewhere = true};
  place(launch, nodes);
  ASSERT_EQ(launch.spares, 8);
  ASSERT_TRUE(leave_out({"n1"}, launch, nodes));
  EXPECT_EQ(launch.spare_nodes, 1);
  EXPECT_EQ(launch.spares, 4);
  EXPECT_EQ(launch.hosts, "n2:4,n3:4");
  ASSERT_TRUE(leave_out({"n2"}, launch, nodes));
  EXPECT_EQ(launch.spare_nodes, 0);
  EXPECT_EQ(launch.spares, 0);
  EXPECT_EQ(launch.hosts, "n3:4");
}

TEST(Place, tells_whether_processes_come_on_this_machine) {
  const auto is_here = [](std::vector<Node> list) {
    Launch launch{.ranks = 3, .spares = 1};
    place(launch, {"--host", {}, std::move(list), false});
    EXPECT_TRUE(launch.elsewhere);
    return launch.is_here_too;
  };
  EXPECT_TRUE(is_here({{"localhost", 2}, {"n2", 4}}));
  EXPECT_TRUE(is_here({{"n2", 3}, {"localhost", 2}}));
  EXPECT_FALSE(is_here({{"n2", 4}, {"localhost", 4}})) << "the first node has slots for all";
  EXPECT_FALSE(is_here({{"n1", 2}, {"n2", 2}}));
  EXPECT_TRUE(is_here({{"localhost", Node::all_cores}, {"n2", 4}}));
  EXPECT_FALSE(is_here({{"n2", Node::all_cores}, {"localhost", 4}})) << "the first node may have slots for all";
}

TEST(LeaveOut, refuses_to_leave_no_node) {
  Nodes nodes = three_nodes();
  Launch launch{.ranks = 4, .hosts = "as before", .elsewhere = true};
  EXPECT_FALSE(leave_out({"n1", "n2", "n3"}, launch, nodes));
  EXPECT_EQ(launch.hosts, "as before");
  EXPECT_EQ(nodes.list.size(), 3U);
}

TEST(DaemonAgent, is_that_of_mpirun) {
  Launch launch;
  EXPECT_EQ(daemon_agent(launch), "ssh -o BatchMode=yes");
  const support::ScopedEnvironment variable{{"PRTE_MCA_plm_ssh_agent", "rsh : ssh"}};
  EXPECT_EQ(daemon_agent(launch), "rsh ");
  launch.agent = "mend slurm-agent";
  EXPECT_EQ(daemon_agent(launch), "mend slurm-agent");
  launch.mpirun_options = {"--prtemca", "plm_ssh_agent", "first", "--prtemca", "plm_ssh_agent", "second -x"};
  EXPECT_EQ(daemon_agent(launch), "second -x");
  launch.mpirun_options = {"plm_ssh_agent"};
  EXPECT_EQ(daemon_agent(launch), "mend slurm-agent");
}

/// A remote shell: it fails for the node "away", does not end for "frozen", and runs the command for all others.
class SilentNodes : public testing::Test {
 protected:
  SilentNodes() {
    std::ofstream(agent()) << "#!/bin/sh\n"
                              "case $1 in away) exit 255 ;; frozen) setsid sleep 1000 & wait ;; esac\n"
                              "shift; exec \"$@\"\n";
    std::filesystem::permissions(agent(), std::filesystem::perms::owner_all);
  }

  std::string agent() const { return (folder_.path() / "agent").string(); }

 private:
  support::ScratchFolder folder_;
};

TEST_F(SilentNodes, are_those_where_nothing_can_be_started) {
  EXPECT_THAT(silent_nodes({{"n1"}, {"away"}, {"n2"}}, agent(), 100s), ElementsAre("away"));
  EXPECT_THAT(silent_nodes({{"n1"}, {"n2"}}, agent(), 100s), IsEmpty());
}

TEST_F(SilentNodes, are_waited_for_no_longer_than_said_and_nothing_is_left_behind) {
  EXPECT_THAT(silent_nodes({{"frozen"}, {"n1"}, {"away"}}, agent(), 1s), ElementsAre("away", "frozen"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
}

TEST_F(SilentNodes, never_are_this_machine) {
  EXPECT_THAT(silent_nodes({{"localhost"}}, "/bin/false", 100s), IsEmpty());
}

}  // namespace
}  // namespace mend::jobs
