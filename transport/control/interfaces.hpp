// The networks of the machines, and the selection of one that a job can use.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend::transport {

/// An IPv4 address, its first byte the highest.
struct Ipv4 {
  std::uint32_t value = 0;
  auto operator<=>(const Ipv4&) const = default;
  static constexpr Ipv4 loopback() { return {0x7f000001}; }
};
std::string to_string(Ipv4 address);

/// An address of a machine, and the number of leading bits that identify its network.
struct Interface {
  Ipv4 address;
  std::uint32_t prefix = 0;

  Ipv4 network() const { return {prefix == 0 ? 0 : address.value & ~std::uint32_t{0} << (32 - prefix)}; }
  bool operator==(const Interface&) const = default;
};

/// Returns this machine's interfaces that are up and are not loopback, in the system's order: those that `wanted`
/// names, or all if it is empty. Local. Throws EnvironmentError if the system does not list them.
std::vector<Interface> interfaces(std::string_view wanted = {});

/// Returns true if `wanted` names the interface: by its name or by a network that it is in, in a list such as
/// "ib0,10.0.0.0/24". Pure.
bool is_wanted(std::string_view wanted, std::string_view name, const Interface& interface);

/// Returns why no interface of this machine fits `wanted`; empty if one does. The loopback interface counts. Local.
/// Throws EnvironmentError if the system does not list the interfaces.
std::string obstacle_to_network(std::string_view wanted);

/// The part of `wanted` that leads to other machines, in the forms that Open MPI takes. Both are empty if no part does.
struct LeadingToOthers {
  std::string for_mpi;      ///< without the names and networks that this machine has for its loopback interface alone
  std::string for_daemons;  ///< the same, with this machine's interfaces in the place of networks
};

/// Returns the part of `wanted` that leads to other machines. The daemons (PRRTE 3.0) do not recognise networks ("Did
/// not find interface matching this subnet") and do not start with the loopback interface alone. A network that this
/// machine is not in is left out for them. Local. Throws EnvironmentError if the system does not list the interfaces.
LeadingToOthers leading_to_others(std::string_view wanted);

/// Returns what is wrong with `wanted` as a list of interfaces and networks; empty if it is correct. Pure.
std::string objection_to_network(std::string_view wanted);

/// Returns the address that machine `which` should use. `machines`: the interfaces of each machine. Selects the first
/// network of machine 0 that all machines are in with different addresses, so that a private network of a machine is
/// not treated as a common one. Returns nothing if there is no such network.
std::optional<Ipv4> common_address(std::span<const std::vector<Interface>> machines, std::size_t which);

}  // namespace mend::transport
