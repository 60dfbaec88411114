#include "transport/control/interfaces.hpp"

#include <gtest/gtest.h>

namespace {

using mend::transport::common_address;
using mend::transport::Interface;
using mend::transport::Ipv4;
using mend::transport::is_wanted;
using mend::transport::leading_to_others;
using mend::transport::objection_to_network;

constexpr Ipv4 ip(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return {a << 24 | b << 16 | c << 8 | d};
}
using Machines = std::vector<std::vector<Interface>>;

TEST(Addresses, are_written_as_people_do) { EXPECT_EQ(to_string(ip(10, 0, 255, 1)), "10.0.255.1"); }

TEST(Addresses, name_their_network) {
  EXPECT_EQ((Interface{ip(10, 1, 2, 3), 24}.network()), ip(10, 1, 2, 0));
  EXPECT_EQ((Interface{ip(10, 1, 2, 3), 32}.network()), ip(10, 1, 2, 3));
  EXPECT_EQ((Interface{ip(10, 1, 2, 3), 0}.network()), ip(0, 0, 0, 0));
}

TEST(CommonAddress, is_in_the_first_network_that_all_are_in) {
  const Machines machines{{{ip(192, 168, 5, 1), 24}, {ip(10, 0, 0, 1), 16}},
                          {{ip(10, 0, 7, 2), 16}},
                          {{ip(172, 16, 0, 1), 12}, {ip(10, 0, 9, 3), 16}}};
  EXPECT_EQ(common_address(machines, 0), ip(10, 0, 0, 1));
  EXPECT_EQ(common_address(machines, 1), ip(10, 0, 7, 2));
  EXPECT_EQ(common_address(machines, 2), ip(10, 0, 9, 3));
}

TEST(CommonAddress, is_not_that_of_a_network_each_machine_has_for_itself) {
  const Machines machines{{{ip(172, 17, 0, 1), 16}, {ip(10, 0, 0, 1), 8}},
                          {{ip(172, 17, 0, 1), 16}, {ip(10, 0, 0, 2), 8}}};
  EXPECT_EQ(common_address(machines, 1), ip(10, 0, 0, 2));
}

TEST(CommonAddress, needs_the_same_network_and_not_only_a_similar_one) {
  EXPECT_EQ(common_address(Machines{{{ip(10, 0, 0, 1), 24}}, {{ip(10, 0, 0, 2), 16}}}, 0), std::nullopt);
  EXPECT_EQ(common_address(Machines{{{ip(10, 0, 0, 1), 24}}, {{ip(10, 0, 1, 2), 24}}}, 0), std::nullopt);
  EXPECT_EQ(common_address(Machines{{}, {{ip(10, 0, 1, 2), 24}}}, 0), std::nullopt);
}

TEST(WantedInterfaces, are_named_by_their_name_or_their_network) {
  const Interface ib{ip(10, 4, 0, 7), 24};
  EXPECT_TRUE(is_wanted("ib0", "ib0", ib));
  EXPECT_FALSE(is_wanted("ib", "ib0", ib));
  EXPECT_TRUE(is_wanted("eth0,10.4.0.0/16", "ib0", ib));
  EXPECT_TRUE(is_wanted("10.4.0.9/24", "ib0", ib));
  EXPECT_FALSE(is_wanted("10.5.0.0/16,eth0", "ib0", ib));
}

TEST(WantedInterfaces, are_refused_where_a_network_is_none) {
  EXPECT_EQ(objection_to_network("ib0,10.0.0.0/8"), "");
  for (const char* none : {"10.0.0/8", "10.0.0.0/33", "10.0.0.0/", "/8", "ib0/x"})
    EXPECT_EQ(objection_to_network(none), std::string("'") + none + "' is no network such as 10.0.0.0/24");
  EXPECT_EQ(objection_to_network("ib0,"), "there is an empty name in it");
}

TEST(WantedInterfaces, are_the_only_ones_of_this_machine) {
  EXPECT_TRUE(mend::transport::interfaces("no-such-interface").empty());
}

TEST(WantedInterfaces, are_told_to_Open_MPI_without_the_loopback_interface) {
  EXPECT_EQ(leading_to_others("lo,127.0.0.0/8").for_mpi, "");
  EXPECT_EQ(leading_to_others("lo,127.0.0.0/8").for_daemons, "");
  EXPECT_EQ(leading_to_others("lo,nosuch0").for_mpi, "nosuch0") << "other machines may have it";
  EXPECT_EQ(leading_to_others("lo,nosuch0").for_daemons, "nosuch0");
}

TEST(WantedInterfaces, are_told_to_the_daemons_by_their_names) {
  const auto found = mend::transport::interfaces();
  if (found.empty()) GTEST_SKIP() << "this machine has no interface that leads to others";
  const std::string network = to_string(found.front().network()) + "/" + std::to_string(found.front().prefix);
  EXPECT_EQ(leading_to_others(network).for_mpi, network);
  const std::string names = leading_to_others(network).for_daemons;
  EXPECT_EQ(names.find('/'), std::string::npos);
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(leading_to_others(names).for_daemons, names);
}

TEST(Interfaces, of_this_machine_lead_to_others) {
  for (const Interface& interface : mend::transport::interfaces()) {
    EXPECT_NE(interface.address.value >> 24, 127U);
    EXPECT_LE(interface.prefix, 32U);
  }
}

}  // namespace
