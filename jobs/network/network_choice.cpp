#include "jobs/network/network_choice.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace mend::jobs {
namespace {

constexpr std::string_view of_environment = "OMPI_MCA_";
constexpr std::string_view left_out_collectives = "^han,hcoll,portals4,cuda";
constexpr std::string_view untested_transports = "^ofi,usnic,smcuda,portals4";

std::optional<Transport> transport_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Transport>, 4> all{
      {{"auto", Transport::automatic}, {"tcp", Transport::tcp}, {"ofi", Transport::ofi}, {"uct", Transport::uct}}};
  const auto* const found = std::ranges::find(all, name, &std::pair<std::string_view, Transport>::first);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns the components of `kind` that the list chooses and that are not fault tolerant. A list like ^han leaves
/// components out, so it may choose any of the others.
std::vector<std::string> chosen_of(const std::set<std::string>& kind, const std::string& list) {
  const bool leaves_out = list.starts_with('^');
  const std::vector<std::string> named = parts_of(leaves_out ? list.substr(1) : list);
  std::vector<std::string> chosen;
  for (const std::string& component : kind) {
    if ((std::ranges::find(named, component) != named.end()) != leaves_out) chosen.push_back(component);
  }
  return chosen;
}

}  // namespace

NetworkChoice read_network(std::string_view text) {
  NetworkChoice choice;
  if (text.empty()) return choice;
  std::optional<std::string> named;
  std::vector<std::string> interfaces;
  for (const std::string& part : parts_of(text)) {
    if (part.empty()) throw UsageError(fmt::format("--network {}: there is an empty name in it", text));
    const auto transport = transport_named(part);
    if (!transport) {
      interfaces.push_back(part);
      continue;
    }
    if (named && *named != part)
      throw UsageError(fmt::format("--network {}: name {} or {}, not both", text, *named, part));
    named = part;
    choice.transport = *transport;
  }
  choice.interfaces = fmt::format("{}", fmt::join(interfaces, ","));
  return choice;
}

Settings settings_for(Transport transport) {
  Settings settings{{"pml", "ob1"}, {"coll", std::string(left_out_collectives)}};
  switch (transport) {
    case Transport::automatic: settings.emplace_back("btl", untested_transports); break;
    case Transport::tcp: settings.emplace_back("btl", "self,sm,tcp"); break;
    case Transport::ofi:
      settings.emplace_back("btl", "self,sm,ofi");
      settings.emplace_back("btl_ofi_mode", "2");  // by default it cannot send messages, and the first one crashes
      // It refuses messages while it connects, and MPIX_Comm_agree loses a refused message. So all processes connect in
      // MPI_Init.
      settings.emplace_back("mpi_preconnect_mpi", "1");
      break;
    case Transport::uct: settings.emplace_back("btl", "self,sm,uct"); break;
  }
  return settings;
}

std::string component_of(Transport transport) {
  if (transport == Transport::ofi) return "ofi";
  return transport == Transport::uct ? "uct" : "";
}

Settings settings_of_user(const std::map<std::string, std::string>& environment,
                          const std::vector<std::string>& mpirun_options) {
  Settings settings;
  for (const auto& [name, value] : environment) {
    if (name.starts_with(of_environment)) settings.emplace_back(name.substr(of_environment.size()), value);
  }
  for (std::size_t i = 0; i + 2 < mpirun_options.size(); ++i) {
    const std::string& option = mpirun_options[i];
    if (option == "--mca" || option == "-mca" || option == "--omca")
      settings.emplace_back(mpirun_options[i + 1], mpirun_options[i + 2]);
  }
  return settings;
}

Objections objections_to(const Settings& user) {
  Objections objections;
  for (const auto& [name, value] : user) {
    if (name == "pml" && value != "ob1") {
      objections.refusal = fmt::format(
          "pml {} is set for Open MPI, and only ob1 survives failures: leave it out, and choose the network by "
          "--network",
          value);
    }
    if (name == "mtl" && !value.empty() && !value.starts_with('^')) {
      objections.refusal = fmt::format(
          "mtl {} is set for Open MPI, and none of these survives failures: leave it out, and choose the network by "
          "--network",
          value);
    }
    const auto warn_of = [&](const std::set<std::string>& kind, std::string_view why) {
      const auto chosen = chosen_of(kind, value);
      if (!chosen.empty())
        objections.warnings.push_back(
            fmt::format("{} {} is set for Open MPI, which allows {}: {}", name, value, fmt::join(chosen, ", "), why));
    };
    if (name == "coll") warn_of({"cuda", "han", "hcoll", "portals4"}, "these collective calls do not survive failures");
    if (name == "btl") warn_of({"ofi", "portals4", "smcuda", "usnic"}, "these transports were not tried with failures");
  }
  return objections;
}

std::string describe(const NetworkChoice& choice, const Settings& user) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : settings_for(choice.transport)) all[name] = value;
  for (const auto& [name, value] : user) all[name] = value;
  return fmt::format("MPI: {} over {}, collective calls {}; interfaces: {}", all["pml"], all["btl"], all["coll"],
                     choice.interfaces.empty() ? "all" : choice.interfaces);
}

}  // namespace mend::jobs
