#include "transport/control/interfaces.hpp"

#include "base/error.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

namespace mend::transport {
namespace {

std::uint32_t host_order(const sockaddr* address) {
  sockaddr_in ipv4{};
  std::memcpy(&ipv4, address, sizeof ipv4);
  return ntohl(ipv4.sin_addr.s_addr);
}

/// Returns the address of `machine` in the network of `wanted`.
std::optional<Ipv4> address_in(const Interface& wanted, const std::vector<Interface>& machine) {
  const auto at = std::find_if(machine.begin(), machine.end(), [&](const Interface& interface) {
    return interface.prefix == wanted.prefix && interface.network() == wanted.network();
  });
  return at == machine.end() ? std::nullopt : std::optional(at->address);
}

bool joins(const Interface& wanted, std::span<const std::vector<Interface>> machines) {
  std::set<Ipv4> addresses;
  for (const auto& machine : machines) {
    const auto address = address_in(wanted, machine);
    if (!address || !addresses.insert(*address).second) return false;
  }
  return true;
}

}  // namespace

std::string to_string(Ipv4 address) {
  return fmt::format("{}.{}.{}.{}", address.value >> 24, address.value >> 16 & 255, address.value >> 8 & 255,
                     address.value & 255);
}

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    throw EnvironmentError(fmt::format("the machine's network interfaces cannot be listed: {}", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    const bool leads_to_others = (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_LOOPBACK) == 0;
    if (!leads_to_others || !at->ifa_addr || !at->ifa_netmask || at->ifa_addr->sa_family != AF_INET) continue;
    const auto prefix = static_cast<std::uint32_t>(std::popcount(host_order(at->ifa_netmask)));
    found.push_back({{host_order(at->ifa_addr)}, prefix});
  }
  return found;
}

std::optional<Ipv4> common_address(std::span<const std::vector<Interface>> machines, std::size_t which) {
  for (const Interface& candidate : machines.front()) {
    if (joins(candidate, machines)) return address_in(candidate, machines[which]);
  }
  return std::nullopt;
}

}  // namespace mend::transport
