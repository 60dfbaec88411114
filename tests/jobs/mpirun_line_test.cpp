#include "jobs/run/mpirun_line.hpp"

#include "jobs/run/find_mpirun.hpp"
#include "jobs/run/process_limits.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace mend::jobs {
namespace {

using testing::_;
using testing::Contains;
using testing::Not;
using testing::Pair;

/// The word that follows `flag`, or that follows `key` after it: {"--mca", "coll"} gives coll's value.
std::string value_of(const std::vector<std::string>& line, const std::vector<std::string>& flag) {
  const auto at = std::search(line.begin(), line.end(), flag.begin(), flag.end());
  return line.end() - at > std::ptrdiff_t(flag.size()) ? *(at + std::ptrdiff_t(flag.size())) : "";
}

Launch four_and_two() {
  Launch launch;
  launch.ranks = 4;
  launch.spares = 2;
  launch.program = {"./solver", "--steps", "60"};
  return launch;
}

std::vector<std::string> line_of(const Launch& launch) {
  return mpirun_line("/opt/bin/mpirun", launch, job_environment(launch, "/tmp/job/status", false, false));
}

TEST(MpirunLine, carries_every_flag_that_fault_tolerance_needs) {
  const auto line = line_of(four_and_two());
  EXPECT_EQ(line.front(), "/opt/bin/mpirun");
  EXPECT_EQ(value_of(line, {"--with-ft"}), "ulfm");
  EXPECT_EQ(value_of(line, {"--map-by"}), "slot:OVERSUBSCRIBE");
  EXPECT_EQ(value_of(line, {"--mca", "mpi_event_tick_rate"}), "100");
  EXPECT_EQ(value_of(line, {"--mca", "btl_sm_free_list_max"}), "-1");
  EXPECT_EQ(value_of(line, {"--mca", "btl_tcp_disable_family"}), "6");
  EXPECT_EQ(value_of(line, {"--mca", "coll"}), "^han,hcoll,portals4,cuda,accelerator");
  EXPECT_EQ(value_of(line, {"--mca", "pml"}), "ob1");
  EXPECT_EQ(value_of(line, {"--mca", "btl"}), "^ofi,uct,usnic,smcuda,portals4");
  EXPECT_EQ(value_of(line, {"--mca", "async_mpi_finalize"}), "1");
  EXPECT_EQ(value_of(line, {"--prtemca", "state_base_recoverable"}), "1");
}

TEST(MpirunLine, launches_ranks_and_spares_and_ends_with_the_program) {
  const auto line = line_of(four_and_two());
  EXPECT_EQ(value_of(line, {"-np"}), "6");
  const std::vector<std::string> tail(line.end() - 3, line.end());
  EXPECT_EQ(tail, four_and_two().program);
}

TEST(MpirunLine, has_endpoints_made_at_once_however_large_the_job) {
  auto launch = four_and_two();
  EXPECT_EQ(value_of(line_of(launch), {"--mca", "mpi_add_procs_cutoff"}), "1024");
  launch.ranks = 5000;
  EXPECT_EQ(value_of(line_of(launch), {"--mca", "mpi_add_procs_cutoff"}), "5003");
}

TEST(MpirunLine, tells_processes_on_every_node_what_they_need) {
  const auto line = line_of(four_and_two());
  EXPECT_THAT(line, Contains("MEND_SPARES=2"));
  EXPECT_THAT(line, Contains("MEND_TERMINAL=0"));
  EXPECT_THAT(line, Contains("MEND_STATUS_FILE=/tmp/job/status"));
  EXPECT_THAT(line, Not(Contains("MEND_RESTART=1")));
  auto again = four_and_two();
  again.restarts = true;
  EXPECT_THAT(line_of(again), Contains("MEND_RESTART=1"));
}

TEST(MpirunLine, has_the_users_own_options_instead_of_its_own) {
  auto launch = four_and_two();
  launch.hosts = "a:2,b:4";
  launch.mpirun_options = {"--mca", "coll", "^han"};
  const auto line = line_of(launch);
  EXPECT_EQ(value_of(line, {"--host"}), "a:2,b:4");
  EXPECT_EQ(value_of(line, {"--mca", "coll"}), "^han");
  EXPECT_EQ(std::ranges::count(line, "coll"), 1) << "mpirun refuses one that is set twice";
}

TEST(MpirunLine, leaves_to_the_environment_what_the_user_has_set_there) {
  auto launch = four_and_two();
  launch.inherited = {{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_async_mpi_finalize", "0"}};
  const auto line = line_of(launch);
  EXPECT_THAT(line, Not(Contains("btl"))) << "mpirun's options override the environment";
  EXPECT_THAT(line, Not(Contains("async_mpi_finalize")));
  launch.network = read_network("uct");
  EXPECT_EQ(value_of(line_of(launch), {"--mca", "btl"}), "self,sm,uct");
}

TEST(MpirunLine, names_its_own_settings_for_a_mend_run_inside_of_the_job) {
  auto launch = four_and_two();
  launch.inherited = {{"OMPI_MCA_btl", "self,tcp"}};
  launch.mpirun_options = {"--mca", "coll", "^han"};
  const auto line = line_of(launch);
  const std::string prefix = "OMPI_MEND_SETTINGS=";
  const auto own = std::ranges::find_if(line, [&](const std::string& word) { return word.starts_with(prefix); });
  ASSERT_NE(own, line.end());
  EXPECT_EQ(*(own - 1), "-x");
  const Settings settings = own_settings_in(std::string_view(*own).substr(prefix.size()));
  EXPECT_THAT(settings, testing::IsSupersetOf({Pair("mpi_event_tick_rate", "100"), Pair("pml", "ob1"),
                                               Pair("mpi_add_procs_cutoff", "1024")}));
  EXPECT_THAT(settings, testing::AllOf(Not(Contains(Pair("btl", _))), Not(Contains(Pair("coll", _)))));
}

TEST(ComponentsOfTheUser, leave_out_those_of_mend_too) {
  EXPECT_EQ(launch::components("^hcoll,ml", "^han,hcoll,cuda"), "^hcoll,ml,han,cuda");
  EXPECT_EQ(launch::components("^han", "^han"), "^han");
  EXPECT_EQ(launch::components("self,tcp", "^ofi"), "self,tcp");
}

TEST(MpirunLine, hands_on_what_the_user_has_set_for_mend) {
  auto launch = four_and_two();
  launch.inherited = {{"MEND_REDUNDANCY", "replicas:2"}, {"MEND_SPARES", "9"}, {"MEND_NETWORK", "ib1"}, {"HOME", "/"}};
  const auto line = line_of(launch);
  EXPECT_THAT(line, Contains("MEND_REDUNDANCY=replicas:2")) << "daemons on other nodes do not inherit it";
  EXPECT_THAT(line, Contains("MEND_SPARES=2"));
  EXPECT_THAT(line, Contains("MEND_NETWORK=ib1"));
  launch.network.for_mend = "ib0";  // named by --network
  EXPECT_THAT(line_of(launch), Contains("MEND_NETWORK=ib0"));
}

TEST(JobEnvironment, lets_root_run_only_when_it_is_root) {
  const auto launch = four_and_two();
  EXPECT_THAT(job_environment(launch, "s", true, true), Contains(Pair("OMPI_ALLOW_RUN_AS_ROOT", "1")));
  EXPECT_THAT(job_environment(launch, "s", true, false), Not(Contains(Pair("OMPI_ALLOW_RUN_AS_ROOT", "1"))));
}

TEST(JobEnvironment, has_spawned_processes_tolerate_failures_too) {
  EXPECT_THAT(job_environment(four_and_two(), "s", true, true), Contains(Pair("OMPI_MCA_mpi_ft_enable", "1")));
}

TEST(FindMpirun, a_name_that_cannot_be_run_is_an_error_not_passed_over) {
  setenv("MEND_MPIRUN", "/nonexistent/mpirun", 1);
  EXPECT_THROW(find_mpirun(), UsageError);
  setenv("MEND_MPIRUN", "/bin/true", 1);
  EXPECT_THROW(find_mpirun(), UsageError) << "that is no mpirun";
  unsetenv("MEND_MPIRUN");
}

TEST(ProcessLimits, are_told_with_what_sets_them_and_how_many_there_could_be) {
  EXPECT_THAT(objection_to(6, {.tasks = 32768, .tasks_from = "kernel.pid_max", .open_files = 1024}),
              testing::IsEmpty());
  EXPECT_THAT(objection_to(6, {}), testing::IsEmpty());
  EXPECT_THAT(objection_to(1'000'004, {.tasks = 32768, .tasks_from = "kernel.pid_max", .open_files = 1024}),
              testing::AllOf(testing::HasSubstr("1000004 processes cannot be started on this machine, only about 6553"),
                             testing::HasSubstr("kernel.pid_max allows 32768")));
  EXPECT_THAT(objection_to(400, {.tasks = {}, .open_files = 1024}),
              testing::HasSubstr("only about 248: mpirun needs 4 open files for each, and ulimit -n allows 1024"));
}

}  // namespace
}  // namespace mend::jobs
