#include "jobs/network/network_choice.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>

namespace mend::jobs {
namespace {

constexpr std::string_view of_environment = "OMPI_MCA_";

constexpr std::array<std::pair<std::string_view, Transport>, 4> transports{
    {{"auto", Transport::automatic}, {"tcp", Transport::tcp}, {"ofi", Transport::ofi}, {"uct", Transport::uct}}};

std::optional<Transport> transport_named(std::string_view name) {
  const auto* const found = std::ranges::find(transports, name, &std::pair<std::string_view, Transport>::first);
  return found == transports.end() ? std::nullopt : std::optional(found->second);
}

std::string_view name_of(Transport transport) {
  return std::ranges::find(transports, transport, &std::pair<std::string_view, Transport>::second)->first;
}

/// Returns true for an option of mpirun that is followed by the name and the value of a setting.
bool is_option_for_library(std::string_view option) {
  constexpr std::array<std::string_view, 5> all{"--mca", "-mca", "--omca", "--gmca", "--gomca"};
  return std::ranges::find(all, option) != all.end();
}

/// Returns the components of `kind` that the list chooses and that are not fault tolerant. A list like ^han leaves
/// components out, so it may choose any of the others.
std::vector<std::string> chosen_of(const std::set<std::string>& kind, const std::string& list) {
  const bool leaves_out = list.starts_with('^');
  const auto named = launch::names_in(std::string_view(list).substr(leaves_out ? 1 : 0));
  std::vector<std::string> chosen;
  for (const std::string& component : kind) {
    if ((std::ranges::find(named, component) != named.end()) != leaves_out) chosen.push_back(component);
  }
  return chosen;
}

/// Returns true if the list chooses this component by its name.
bool names(const std::string& list, const std::string& component) {
  return !list.starts_with('^') && !chosen_of({component}, list).empty();
}

constexpr std::string_view included = "btl_tcp_if_include";
constexpr std::string_view excluded = "btl_tcp_if_exclude";

bool is_of_interfaces(std::string_view name) { return name == included || name == excluded; }

/// Returns the interfaces that MPI uses over TCP.
std::string interfaces_of(const NetworkChoice& choice, const Settings& user) {
  if (!choice.interfaces.empty()) return choice.interfaces;
  if (const auto names = value_of(user, included); names && !names->empty()) return *names;
  const auto others = value_of(user, excluded);
  return others && !others->empty() ? fmt::format("all but {}", *others) : "all";
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Returns true if a list of memory domains of UCX has one for TCP.
bool has_tcp(const std::string& domains) {
  return std::ranges::any_of(launch::names_in(domains), [](std::string_view one) { return one.starts_with("tcp"); });
}

/// Returns true if the list has the one for messages of a process to itself.
bool has_self(const std::string& domains) {
  return std::ranges::any_of(launch::names_in(domains),
                             [](std::string_view one) { return one == "all" || one == "self"; });
}

}  // namespace

NetworkChoice read_network(std::string_view text) {
  NetworkChoice choice;
  if (text.empty()) return choice;
  std::optional<std::string_view> named;
  std::vector<std::string_view> interfaces;
  for (const std::string_view part : launch::names_in(text)) {
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

std::optional<std::string> value_of(const Settings& settings, std::string_view name) {
  const auto last =
      std::find_if(settings.rbegin(), settings.rend(), [&](const auto& one) { return one.first == name; });
  return last == settings.rend() ? std::nullopt : std::optional(last->second);
}

std::string component_of(Transport transport) {
  if (transport == Transport::ofi) return "ofi";
  return transport == Transport::uct ? "uct" : "";
}

Settings settings_of_user(const NetworkChoice& choice, const std::map<std::string, std::string>& environment,
                          const std::vector<std::string>& mpirun_options) {
  Settings settings;
  for (std::size_t i = 0; i + 2 < mpirun_options.size(); ++i) {
    if (is_option_for_library(mpirun_options[i])) settings.emplace_back(mpirun_options[i + 1], mpirun_options[i + 2]);
  }
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(of_environment)) continue;
    const std::string name = variable.substr(of_environment.size());
    if (value.empty() && std::ranges::find(frameworks_for_messages, name) != frameworks_for_messages.end()) continue;
    const bool is_overridden = (name == "btl" && choice.transport != Transport::automatic) ||
                               (is_of_interfaces(name) && !choice.interfaces.empty());
    if (!is_overridden && !value_of(settings, name)) settings.emplace_back(name, value);
  }
  return settings;
}

NetworkChoice unless_set_by(const Settings& user, NetworkChoice choice) {
  const auto is_set = [&](std::string_view name) { return !value_of(user, name).value_or("").empty(); };
  if (is_set("btl")) choice.transport = Transport::automatic;
  if (are_interfaces_in(user)) choice.interfaces.clear();
  return choice;
}

bool are_interfaces_in(const Settings& settings) {
  return !value_of(settings, included).value_or("").empty() || !value_of(settings, excluded).value_or("").empty();
}

Settings settings_in_file(std::string_view text) {
  Settings settings;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::string_view words = trimmed(line);
    const auto equals = words.find('=');
    if (words.starts_with('#') || equals == std::string_view::npos) continue;
    settings.emplace_back(trimmed(words.substr(0, equals)), trimmed(words.substr(equals + 1)));
  }
  return settings;
}

Settings with_files(Settings user, const Settings& in_files, const NetworkChoice& choice) {
  const Settings ours = settings_for(choice, user);
  for (const auto& [name, value] : in_files) {
    const bool counts = name.starts_with("btl_") && !value_of(ours, name) && !value_of(user, name);
    if (counts) user.emplace_back(name, *value_of(in_files, name));
  }
  return user;
}

Settings settings_for(const NetworkChoice& choice, const Settings& user) {
  Settings settings{{"pml", "ob1"}, {"coll", launch::collectives_by_default}};
  switch (choice.transport) {
    case Transport::automatic: settings.emplace_back("btl", launch::transports_by_default); break;
    case Transport::tcp: settings.emplace_back("btl", "self,sm,tcp"); break;
    case Transport::ofi: settings.emplace_back("btl", "self,sm,ofi"); break;
    case Transport::uct: settings.emplace_back("btl", "self,sm,uct"); break;
  }
  if (choice.transport == Transport::ofi || names(value_of(user, "btl").value_or(""), "ofi")) {
    settings.emplace_back("btl_ofi_mode", "2");  // by default it cannot send messages, and the first one crashes
    // It refuses messages while it connects, and without mend's correction MPIX_Comm_agree loses a refused message;
    // first messages that both ends send at once may not arrive. So all processes connect in MPI_Init.
    settings.emplace_back("mpi_preconnect_mpi", "1");
  }
  if (!choice.for_mpi.empty()) settings.emplace_back("btl_tcp_if_include", choice.for_mpi);
  std::erase_if(settings, [&](const auto& one) { return value_of(user, one.first).has_value(); });
  return settings;
}

Objections objections_to(const NetworkChoice& choice, const Settings& user) {
  Objections objections;
  const auto refuse = [&](std::string sentence, std::string_view unless_corrected = {}) {
    objections.refusal = std::move(sentence);
    objections.unless_corrected = unless_corrected;
  };
  const auto contradicts = [&](std::string_view what, const std::string& name, const std::string& value) {
    refuse(fmt::format("--network {} contradicts {} {}, which is set for Open MPI: leave one of them out", what, name,
                       value));
  };
  const std::string transports_in_use =
      value_of(user, "btl").value_or(value_of(settings_for(choice, user), "btl").value_or(""));
  const auto domains = value_of(user, "btl_uct_memory_domains");
  const bool uses_uct = domains && !chosen_of({"uct"}, transports_in_use).empty();
  if (uses_uct && has_tcp(*domains)) {
    refuse(
        fmt::format("btl_uct_memory_domains {} is set for Open MPI, and its btl uct loses data of messages over TCP: "
                    "use --network tcp, or name other domains",
                    *domains),
        "fragments-are-sent-once");
  }
  if (uses_uct && has_self(*domains)) {
    refuse(
        fmt::format("btl_uct_memory_domains {} is set for Open MPI, and its btl uct then sends messages for others to "
                    "the process itself: name the domains of the network, such as mlx5_0",
                    *domains));
  }
  for (const auto& [name, value] : user) {
    if (name == "pml" && !value.empty() && value != "ob1") {
      refuse(
          fmt::format("pml {} is set for Open MPI, and only ob1 survives failures: leave it out, and choose the "
                      "network by --network",
                      value));
    }
    if (name == "mtl" && !value.empty() && !value.starts_with('^')) {
      refuse(
          fmt::format("mtl {} is set for Open MPI, and none of these survives failures: leave it out, and choose the "
                      "network by --network",
                      value));
    }
    if (name == "btl" && choice.transport != Transport::automatic) contradicts(name_of(choice.transport), name, value);
    if (is_of_interfaces(name) && !choice.interfaces.empty()) contradicts(choice.interfaces, name, value);
    const auto warn_of = [&](const std::set<std::string>& kind, std::string_view why) {
      const auto chosen = chosen_of(kind, value);
      if (!chosen.empty())
        objections.warnings.push_back(
            fmt::format("{} {} is set for Open MPI, which allows {}: {}", name, value, fmt::join(chosen, ", "), why));
    };
    if (name == "coll")
      warn_of({"accelerator", "cuda", "han", "hcoll", "portals4"}, "these collective calls do not survive failures");
    if (name == "btl")
      warn_of({"ofi", "portals4", "smcuda", "uct", "usnic"},
              "these transports were not tried with failures, or on one machine only");
  }
  if (choice.transport == Transport::ofi || choice.transport == Transport::uct) {
    objections.warnings.push_back(fmt::format(
        "--network {} was tried with failures on one machine only (docs/open-mpi.md)", name_of(choice.transport)));
  }
  return objections;
}

std::string slow_choice(const NetworkChoice& choice, const Settings& user, const std::vector<std::string>& devices) {
  const bool is_chosen =
      choice.transport != Transport::automatic || !choice.interfaces.empty() || value_of(user, "btl");
  if (devices.empty() || is_chosen) return {};
  return fmt::format(
      "MPI uses InfiniBand ({}) through TCP: --network uct uses it directly, and --network tcp leaves out this line",
      fmt::join(devices, ", "));
}

std::string describe(const NetworkChoice& choice, const Settings& user) {
  Settings all = settings_for(choice, user);
  all.insert(all.end(), user.begin(), user.end());
  const auto value = [&](std::string_view name) { return value_of(all, name).value_or(""); };
  return fmt::format("MPI: {} over {}, collective calls {}; interfaces: {}", value("pml"), value("btl"), value("coll"),
                     interfaces_of(choice, user));
}

}  // namespace mend::jobs
