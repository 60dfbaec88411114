// Which components of Open MPI carry a job's messages, and which are refused.

#include "jobs/network/network_choice.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace mend::jobs {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

TEST(Network, is_a_transport_and_interfaces_in_any_order) {
  EXPECT_EQ(read_network("").transport, Transport::automatic);
  EXPECT_EQ(read_network("auto").transport, Transport::automatic);
  EXPECT_EQ(read_network("ib0,10.0.0.0/24").interfaces, "ib0,10.0.0.0/24");
  EXPECT_EQ(read_network("ib0").transport, Transport::automatic);
  const NetworkChoice both = read_network("ib0,tcp,eth1");
  EXPECT_EQ(both.transport, Transport::tcp);
  EXPECT_EQ(both.interfaces, "ib0,eth1");
  EXPECT_EQ(read_network("uct").transport, Transport::uct);
  EXPECT_EQ(read_network("ofi").interfaces, "");
}

TEST(Network, of_two_transports_or_an_empty_name_is_refused) {
  EXPECT_THROW(read_network("tcp,uct"), UsageError);
  EXPECT_THROW(read_network("ib0,"), UsageError);
  EXPECT_THROW(read_network(",tcp"), UsageError);
  EXPECT_EQ(read_network("tcp,tcp").transport, Transport::tcp);
}

Settings settings_of(Transport transport, const Settings& user = {}) {
  NetworkChoice choice;
  choice.transport = transport;
  return settings_for(choice, user);
}

TEST(Network, is_always_driven_by_the_layer_that_survives_failures) {
  for (const Transport transport : {Transport::automatic, Transport::tcp, Transport::ofi, Transport::uct}) {
    EXPECT_THAT(settings_of(transport), Contains(Pair("pml", "ob1")));
    EXPECT_THAT(settings_of(transport), Contains(Pair("coll", "^han,hcoll,portals4,cuda,accelerator")));
  }
  EXPECT_THAT(settings_of(Transport::automatic), Contains(Pair("btl", "^ofi,uct,usnic,smcuda,portals4")));
  EXPECT_THAT(settings_of(Transport::tcp), Contains(Pair("btl", "self,sm,tcp")));
  EXPECT_THAT(settings_of(Transport::ofi),
              AllOf(Contains(Pair("btl", "self,sm,ofi")), Contains(Pair("btl_ofi_mode", "2")),
                    Contains(Pair("mpi_preconnect_mpi", "1"))));
  EXPECT_THAT(settings_of(Transport::uct), Contains(Pair("btl", "self,sm,uct")));
}

TEST(Network, leaves_out_what_the_user_has_set) {
  const Settings user{{"coll", "^han"}, {"btl", "self,sm,tcp"}};
  EXPECT_THAT(settings_of(Transport::automatic, user), ElementsAre(Pair("pml", "ob1")));
  EXPECT_THAT(settings_of(Transport::automatic, {{"btl", "self,ofi"}}), Contains(Pair("btl_ofi_mode", "2")));
  EXPECT_THAT(settings_of(Transport::automatic, {{"btl", "^ofi"}}), Not(Contains(Pair("btl_ofi_mode", "2"))));
}

TEST(SettingsOfTheUser, are_read_from_options_for_mpirun_and_from_the_environment) {
  EXPECT_THAT(settings_of_user({}, {{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_pml", "ob1"}, {"PATH", "/bin"}},
                               {"--bind-to", "none", "--mca", "pml", "cm", "-mca", "mtl", "ofi", "--gmca", "a", "b"}),
              ElementsAre(Pair("pml", "cm"), Pair("mtl", "ofi"), Pair("a", "b"), Pair("btl", "self,tcp")));
  EXPECT_THAT(settings_of_user({}, {}, {"--mca", "pml"}), IsEmpty());
}

TEST(SettingsOfTheUser, are_not_empty_lists_of_components_which_the_library_takes_for_none) {
  EXPECT_THAT(
      settings_of_user(
          {}, {{"OMPI_MCA_pml", ""}, {"OMPI_MCA_btl", ""}, {"OMPI_MCA_coll", ""}, {"OMPI_MCA_mtl", ""}, {"MEND_X", ""}},
          {}),
      IsEmpty());
  EXPECT_THAT(settings_of_user({}, {{"OMPI_MCA_async_mpi_finalize", ""}}, {}),
              ElementsAre(Pair("async_mpi_finalize", "")))
      << "an empty number is 0";
}

TEST(SettingsOfTheUser, give_way_to_a_network_that_is_named_if_they_are_in_the_environment) {
  const std::map<std::string, std::string> environment{
      {"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_btl_tcp_if_include", "eth0"}, {"OMPI_MCA_coll", "^han"}};
  EXPECT_THAT(settings_of_user(read_network("uct"), environment, {}),
              ElementsAre(Pair("btl_tcp_if_include", "eth0"), Pair("coll", "^han")));
  EXPECT_THAT(settings_of_user(read_network("ib0"), environment, {}),
              ElementsAre(Pair("btl", "self,tcp"), Pair("coll", "^han")));
  EXPECT_THAT(settings_of_user(read_network("uct"), environment, {"--mca", "btl", "self,sm"}),
              Contains(Pair("btl", "self,sm")));
}

TEST(ANetworkOfAFile, gives_way_to_settings_of_the_user) {
  const NetworkChoice of_file = read_network("uct,ib0");
  EXPECT_EQ(unless_set_by({{"coll", "^han"}, {"btl", ""}}, of_file).transport, Transport::uct);
  EXPECT_EQ(unless_set_by({{"coll", "^han"}, {"btl_tcp_if_include", ""}}, of_file).interfaces, "ib0");
  const NetworkChoice interfaces = unless_set_by({{"btl", "self,tcp"}}, of_file);
  EXPECT_EQ(interfaces.transport, Transport::automatic);
  EXPECT_EQ(interfaces.interfaces, "ib0");
  for (const char* name : {"btl_tcp_if_include", "btl_tcp_if_exclude"}) {
    const NetworkChoice transport = unless_set_by({{name, "eth0"}}, of_file);
    EXPECT_EQ(transport.transport, Transport::uct);
    EXPECT_EQ(transport.interfaces, "") << name;
  }
}

TEST(ParameterFiles, have_a_setting_in_each_line) {
  EXPECT_THAT(
      settings_in_file("# btl = sm\nbtl_tcp_if_exclude=lo,docker0\n\n  pml =  ucx \r\nno setting\nbtl_tcp_links =\n"),
      ElementsAre(Pair("btl_tcp_if_exclude", "lo,docker0"), Pair("pml", "ucx"), Pair("btl_tcp_links", "")));
}

TEST(ParameterFiles, count_where_neither_the_user_nor_mend_overrides_them) {
  const Settings in_files{{"pml", "ucx"},
                          {"btl_tcp_if_exclude", "lo"},
                          {"btl_tcp_if_include", "eth0"},
                          {"btl_tcp_if_exclude", "docker0"},
                          {"btl_tcp_links", "2"}};
  NetworkChoice choice = read_network("ib0");
  choice.for_mpi = "ib0";
  const Settings in_force = with_files({{"btl_tcp_links", "1"}}, in_files, choice);
  EXPECT_THAT(in_force, ElementsAre(Pair("btl_tcp_links", "1"), Pair("btl_tcp_if_exclude", "docker0")));
  EXPECT_THAT(objections_to(choice, in_force).refusal,
              HasSubstr("--network ib0 contradicts btl_tcp_if_exclude docker0"));
  EXPECT_THAT(objections_to({}, with_files({}, in_files, {})).refusal, IsEmpty());
}

TEST(ALayerThatDoesNotSurviveFailures, is_refused) {
  EXPECT_THAT(objections_to({}, {{"pml", "ucx"}}).refusal,
              HasSubstr("pml ucx is set for Open MPI, and only ob1 survives"));
  EXPECT_THAT(objections_to({}, {{"pml", "^ucx"}}).refusal, HasSubstr("only ob1 survives")) << "this allows cm";
  EXPECT_THAT(objections_to({}, {{"mtl", "ofi"}}).refusal, HasSubstr("mtl ofi"));
  EXPECT_THAT(objections_to({}, {{"pml", "ob1"}, {"mtl", "^ofi"}, {"btl", "self,sm,tcp"}}).refusal, IsEmpty());
}

TEST(UctOverTcp, is_refused_because_it_loses_data) {
  EXPECT_THAT(objections_to(read_network("uct"), {{"btl_uct_memory_domains", "tcp"}}).refusal,
              HasSubstr("loses data of messages over TCP"));
  EXPECT_THAT(objections_to({}, {{"btl_uct_memory_domains", "all"}, {"btl", "self,uct"}}).refusal,
              HasSubstr("to the process itself"));
  EXPECT_THAT(objections_to(read_network("uct"), {{"btl_uct_memory_domains", "posix,tcp:1"}}).refusal,
              HasSubstr("loses data"));
  const Settings over_tcp{{"btl_uct_memory_domains", "tcp"}, {"pml", "ob1"}};
  EXPECT_EQ(objections_to(read_network("uct"), over_tcp).unless_corrected, "fragments-are-sent-once");
  Settings and_more = over_tcp;
  and_more.emplace_back("pml", "ucx");
  EXPECT_EQ(objections_to(read_network("uct"), and_more).unless_corrected, "") << "this is refused in any case";
  EXPECT_THAT(objections_to(read_network("uct"), {{"btl_uct_memory_domains", "mlx5_0"}}).refusal, IsEmpty());
  EXPECT_THAT(objections_to({}, {{"btl_uct_memory_domains", "all"}}).refusal, IsEmpty()) << "uct is left out";
}

TEST(ANetworkThatIsNamed, contradicts_settings_of_the_user) {
  EXPECT_EQ(objections_to(read_network("uct"), {{"btl", "self,tcp"}}).refusal,
            "--network uct contradicts btl self,tcp, which is set for Open MPI: leave one of them out");
  EXPECT_THAT(objections_to(read_network("ib0"), {{"btl_tcp_if_include", "eth1"}}).refusal,
              HasSubstr("--network ib0 contradicts btl_tcp_if_include eth1"));
  EXPECT_THAT(objections_to(read_network("ib0"), {{"btl_tcp_if_exclude", "lo"}}).refusal, HasSubstr("contradicts"));
  EXPECT_THAT(objections_to(read_network("ib0"), {{"btl", "self,tcp"}}).refusal, IsEmpty());
}

TEST(AComponentThatWasNotTriedWithFailures, is_warned_of) {
  EXPECT_THAT(objections_to({}, {{"btl", "self,sm,usnic"}}).warnings,
              ElementsAre("btl self,sm,usnic is set for Open MPI, which allows usnic: these transports were not tried "
                          "with failures, or on one machine only"));
  EXPECT_THAT(objections_to({}, {{"coll", "^han"}}).warnings,
              ElementsAre(HasSubstr("allows accelerator, cuda, hcoll, portals4: ")));
  EXPECT_THAT(
      objections_to({}, {{"coll", "^han,hcoll,portals4,cuda,accelerator"}, {"btl", "self,tcp"}, {"btl_tcp_links", "2"}})
          .warnings,
      IsEmpty());
  EXPECT_THAT(objections_to(read_network("ofi"), {}).warnings,
              ElementsAre("--network ofi was tried with failures on one machine only (docs/open-mpi.md)"));
  EXPECT_THAT(objections_to(read_network("tcp"), {}).warnings, IsEmpty());
}

TEST(InfiniBand, is_not_left_to_tcp_in_silence) {
  EXPECT_EQ(
      slow_choice({}, {}, {"mlx5_0", "mlx5_1"}),
      "MPI uses InfiniBand (mlx5_0, mlx5_1) through TCP: --network uct uses it directly, and --network tcp leaves "
      "out this line");
  EXPECT_THAT(slow_choice({}, {}, {}), IsEmpty());
  EXPECT_THAT(slow_choice(read_network("tcp"), {}, {"mlx5_0"}), IsEmpty());
  EXPECT_THAT(slow_choice(read_network("eth0"), {}, {"mlx5_0"}), IsEmpty());
  EXPECT_THAT(slow_choice({}, {{"btl", "self,sm,uct"}}, {"mlx5_0"}), IsEmpty());
}

TEST(Network, is_described_with_what_the_user_overrides) {
  EXPECT_EQ(describe(read_network("tcp,ib0"), {}),
            "MPI: ob1 over self,sm,tcp, collective calls ^han,hcoll,portals4,cuda,accelerator; interfaces: ib0");
  EXPECT_EQ(describe({}, {{"btl", "self,tcp"}}),
            "MPI: ob1 over self,tcp, collective calls ^han,hcoll,portals4,cuda,accelerator; interfaces: all");
  EXPECT_THAT(describe({}, {{"btl_tcp_if_include", "eth1"}}), EndsWith("; interfaces: eth1"));
  EXPECT_THAT(describe({}, {{"btl_tcp_if_exclude", "eth1"}}), EndsWith("; interfaces: all but eth1"));
  EXPECT_THAT(describe({}, {{"btl_tcp_if_include", ""}}), EndsWith("; interfaces: all"));
}

}  // namespace
}  // namespace mend::jobs
