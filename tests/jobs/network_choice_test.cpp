// Which components of Open MPI carry a job's messages, and which are refused.

#include "jobs/network/network_choice.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

namespace mend::jobs {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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

TEST(Network, is_always_driven_by_the_layer_that_survives_failures) {
  for (const Transport transport : {Transport::automatic, Transport::tcp, Transport::ofi, Transport::uct}) {
    EXPECT_THAT(settings_for(transport), Contains(Pair("pml", "ob1")));
    EXPECT_THAT(settings_for(transport), Contains(Pair("coll", "^han,hcoll,portals4,cuda")));
  }
  EXPECT_THAT(settings_for(Transport::automatic), Contains(Pair("btl", "^ofi,usnic,smcuda,portals4")));
  EXPECT_THAT(settings_for(Transport::tcp), Contains(Pair("btl", "self,sm,tcp")));
  EXPECT_THAT(settings_for(Transport::ofi),
              AllOf(Contains(Pair("btl", "self,sm,ofi")), Contains(Pair("btl_ofi_mode", "2")),
                    Contains(Pair("mpi_preconnect_mpi", "1"))));
  EXPECT_THAT(settings_for(Transport::uct), Contains(Pair("btl", "self,sm,uct")));
}

TEST(SettingsOfTheUser, are_read_from_the_environment_and_from_options_for_mpirun) {
  EXPECT_THAT(settings_of_user({{"OMPI_MCA_btl", "self,tcp"}, {"PATH", "/bin"}},
                               {"--bind-to", "none", "--mca", "pml", "cm", "-mca", "mtl", "ofi"}),
              ElementsAre(Pair("btl", "self,tcp"), Pair("pml", "cm"), Pair("mtl", "ofi")));
  EXPECT_THAT(settings_of_user({}, {"--mca", "pml"}), IsEmpty());
}

TEST(ALayerThatDoesNotSurviveFailures, is_refused) {
  EXPECT_THAT(objections_to({{"pml", "ucx"}}).refusal, HasSubstr("pml ucx is set for Open MPI, and only ob1 survives"));
  EXPECT_THAT(objections_to({{"pml", "^ucx"}}).refusal, HasSubstr("only ob1 survives")) << "this allows cm";
  EXPECT_THAT(objections_to({{"mtl", "ofi"}}).refusal, HasSubstr("mtl ofi"));
  EXPECT_THAT(objections_to({{"pml", "ob1"}, {"mtl", "^ofi"}, {"btl", "self,sm,tcp"}}).refusal, IsEmpty());
}

TEST(AComponentThatWasNotTriedWithFailures, is_warned_of) {
  EXPECT_THAT(objections_to({{"btl", "self,sm,usnic"}}).warnings,
              ElementsAre("btl self,sm,usnic is set for Open MPI, which allows usnic: these transports were not tried "
                          "with failures"));
  EXPECT_THAT(objections_to({{"coll", "^han"}}).warnings, ElementsAre(HasSubstr("allows cuda, hcoll, portals4: ")));
  EXPECT_THAT(
      objections_to({{"coll", "^han,hcoll,portals4,cuda"}, {"btl", "self,tcp"}, {"btl_tcp_links", "2"}}).warnings,
      IsEmpty());
}

TEST(Network, is_described_with_what_the_user_overrides) {
  EXPECT_EQ(describe({Transport::tcp, "ib0"}, {}),
            "MPI: ob1 over self,sm,tcp, collective calls ^han,hcoll,portals4,cuda; interfaces: ib0");
  EXPECT_EQ(describe({}, {{"btl", "self,tcp"}}),
            "MPI: ob1 over self,tcp, collective calls ^han,hcoll,portals4,cuda; interfaces: all");
}

}  // namespace
}  // namespace mend::jobs
