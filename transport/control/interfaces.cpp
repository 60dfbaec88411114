#include "transport/control/interfaces.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <ranges>
#include <set>
#include <utility>

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

/// Passes each address of each interface that is up to `visit`.
template <class Visit>
void for_each_address(const Visit& visit) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    throw EnvironmentError(fmt::format("the machine's network interfaces cannot be listed: {}", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &::freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next)
    if ((at->ifa_flags & IFF_UP) != 0) visit(*at);
}

bool has_ipv4(const ifaddrs& one) {
  return one.ifa_addr != nullptr && one.ifa_netmask != nullptr && one.ifa_addr->sa_family == AF_INET;
}

Interface interface_of(const ifaddrs& one) {
  return {{host_order(one.ifa_addr)}, static_cast<std::uint32_t>(std::popcount(host_order(one.ifa_netmask)))};
}

/// A network, as "10.0.0.0/24" names it.
struct Network {
  Ipv4 address;
  std::uint32_t prefix = 0;

  bool holds(const Interface& interface) const {
    return Interface{interface.address, prefix}.network() == Interface{address, prefix}.network();
  }
};

/// Returns nothing for other words.
std::optional<Network> network_in(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  in_addr address{};
  if (::inet_pton(AF_INET, std::string(text.substr(0, slash)).c_str(), &address) != 1) return std::nullopt;
  const std::string_view bits = text.substr(slash + 1);
  std::uint32_t prefix = 0;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), prefix);
  if (error != std::errc{} || end != bits.data() + bits.size() || prefix > 32) return std::nullopt;
  return Network{{ntohl(address.s_addr)}, prefix};
}

}  // namespace

std::string to_string(Ipv4 address) {
  return fmt::format("{}.{}.{}.{}", address.value >> 24, address.value >> 16 & 255, address.value >> 8 & 255,
                     address.value & 255);
}

bool is_wanted(std::string_view wanted, std::string_view name, const Interface& interface) {
  return std::ranges::any_of(launch::names_in(wanted), [&](std::string_view one) {
    const auto network = network_in(one);
    return network ? network->holds(interface) : one == name;
  });
}

std::string objection_to_network(std::string_view wanted) {
  for (const std::string_view one : launch::names_in(wanted)) {
    if (one.empty()) return "there is an empty name in it";
    if (one.find('/') != std::string_view::npos && !network_in(one))
      return fmt::format("'{}' is no network such as 10.0.0.0/24", one);
  }
  return {};
}

std::vector<Interface> interfaces(std::string_view wanted) {
  std::vector<Interface> found;
  for_each_address([&](const ifaddrs& one) {
    const bool leads_to_others = (one.ifa_flags & IFF_LOOPBACK) == 0;
    if (!leads_to_others || !has_ipv4(one)) return;
    const Interface interface = interface_of(one);
    if (wanted.empty() || is_wanted(wanted, one.ifa_name, interface)) found.push_back(interface);
  });
  return found;
}

std::string obstacle_to_network(std::string_view wanted) {
  const auto names = launch::names_in(wanted);
  bool is_there = false;
  std::vector<std::string> known;
  for_each_address([&](const ifaddrs& one) {
    const bool is_named = std::ranges::find(names, std::string_view(one.ifa_name)) != names.end();
    if (is_named || (has_ipv4(one) && is_wanted(wanted, one.ifa_name, interface_of(one)))) is_there = true;
    if (!has_ipv4(one)) return;
    const Interface interface = interface_of(one);
    known.push_back(fmt::format("{} ({}/{})", one.ifa_name, to_string(interface.address), interface.prefix));
  });
  if (is_there) return {};
  return fmt::format("this machine has no such network; it has {}",
                     known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

LeadingToOthers leading_to_others(std::string_view wanted) {
  std::vector<std::string> for_mpi;
  std::vector<std::string> for_daemons;
  const auto append = [](std::vector<std::string>& to, std::string name) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(std::move(name));
  };
  for (const std::string_view one : launch::names_in(wanted)) {
    bool is_loopback = false;
    std::vector<std::string> leading;
    for_each_address([&](const ifaddrs& address) {
      const bool is_meant =
          one == address.ifa_name || (has_ipv4(address) && is_wanted(one, address.ifa_name, interface_of(address)));
      if (!is_meant) return;
      if ((address.ifa_flags & IFF_LOOPBACK) == 0) {
        append(leading, address.ifa_name);
      } else {
        is_loopback = true;
      }
    });
    if (is_loopback && leading.empty()) continue;
    append(for_mpi, std::string(one));
    if (!network_in(one)) leading = {std::string(one)};  // other machines may have it
    for (std::string& name : leading) append(for_daemons, std::move(name));
  }
  return {fmt::format("{}", fmt::join(for_mpi, ",")), fmt::format("{}", fmt::join(for_daemons, ","))};
}

std::optional<Ipv4> common_address(std::span<const std::vector<Interface>> machines, std::size_t which) {
  for (const Interface& candidate : machines.front()) {
    if (joins(candidate, machines)) return address_in(candidate, machines[which]);
  }
  return std::nullopt;
}

}  // namespace mend::transport
