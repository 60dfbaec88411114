#include "jobs/run/placement.hpp"

#include "base/error.hpp"
#include "jobs/allocation/slurm_agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace mend::jobs {
namespace {

int slots_of(const std::vector<Node>& nodes) { return slots_of_last(nodes, static_cast<int>(nodes.size())); }

/// Returns the largest number of spare nodes, up to `wanted`, that leaves slots for all ranks on the other nodes.
int possible_spare_nodes(const std::vector<Node>& nodes, int ranks, int wanted) {
  const auto fits = [&](int spare) { return slots_of(nodes) - slots_of_last(nodes, spare) >= ranks; };
  int spare = std::min(wanted, static_cast<int>(nodes.size()));
  while (spare > 0 && !fits(spare)) --spare;
  return spare;
}

/// Returns true if some of the processes certainly run on this machine: mpirun fills the nodes in their order.
bool come_here(const std::vector<Node>& nodes, int processes) {
  for (const Node& node : nodes) {
    if (processes <= 0) return false;
    if (is_this_machine(node)) return true;
    if (node.slots == Node::all_cores) return false;
    processes -= node.slots;
  }
  return false;
}

}  // namespace

bool all_here(const Launch& launch) { return !launch.elsewhere; }

std::optional<std::string> told(std::string_view flag, const std::vector<std::string>& program) {
  std::optional<std::string> value;
  const auto end = std::ranges::find(program, "--");
  for (auto word = program.begin(); word != end; ++word) {
    if (!word->starts_with(flag)) continue;
    const std::string_view rest = std::string_view(*word).substr(flag.size());
    if (rest.starts_with('=')) value = rest.substr(1);
    if (rest.empty() && word + 1 != end) value = *(word + 1);
  }
  return value;
}

std::optional<int> spares_told(const std::vector<std::string>& program) {
  const auto text = told("--mend-spares", program);
  if (!text) return std::nullopt;
  int spares = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, spares);
  return error == std::errc{} && rest == end ? std::optional(spares) : std::nullopt;
}

int spares_for(std::string_view text, int ranks) {
  const bool is_share = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (is_share ? 1 : 0));
  long long number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0 && number <= most_processes) {
    const long long spares = is_share ? (number * ranks + 99) / 100 : number;
    if (spares <= most_processes) return static_cast<int>(spares);
  }
  throw UsageError(fmt::format("--spares {}: give a number from 0 to {}, or a share of the ranks such as 10%", text,
                               most_processes));
}

void place(Launch& launch, const Nodes& nodes) {
  std::vector<Node> placed = nodes.list;
  launch.elsewhere = !nodes.are_this_machine;
  if (nodes.are_of_slurm && launch.elsewhere)
    launch.agent = std::filesystem::read_symlink("/proc/self/exe").string() + " " + slurm_agent_command;
  if (launch.spare_nodes > 0) {
    if (nodes.list.empty()) {
      throw UsageError(
          "--spare-nodes: no nodes are known; run inside an allocation of Slurm, PBS, LSF or Flux, or name them with "
          "--host "
          "or --hostfile");
    }
    placed = with_spare_nodes(nodes.list, launch.ranks, launch.spare_nodes, nodes.source);
    launch.spares = slots_of_last(placed, launch.spare_nodes);
    launch.hosts = host_list(placed);
    launch.hostfile.clear();
  } else if (nodes.source == "Flux" && launch.elsewhere) {
    launch.hosts = host_list(nodes.list);  // mpirun does not ask Flux
  } else if (launch.hostfile.empty() && launch.elsewhere) {
    launch.hostfile = nodes.file;
  }
  launch.is_here_too = nodes.are_this_machine || come_here(placed, launch.processes());
}

bool leave_out(const std::vector<std::string>& lost, Launch& launch, Nodes& nodes) {
  std::vector<Node> left = nodes.list;
  std::erase_if(left, [&](const Node& node) { return std::ranges::find(lost, node.name) != lost.end(); });
  if (left.empty()) return false;
  const bool had_slots = are_slots_known(nodes.list) && slots_of(nodes.list) >= launch.processes();
  nodes.list = std::move(left);
  launch.hosts = host_list(nodes.list);
  launch.hostfile.clear();
  launch.spare_nodes = possible_spare_nodes(nodes.list, launch.ranks, launch.spare_nodes);
  if (launch.spare_nodes > 0) {
    place(launch, nodes);
  } else if (had_slots && !spares_told(launch.program)) {
    launch.spares = std::clamp(slots_of(nodes.list) - launch.ranks, 0, launch.spares);
  }
  return true;
}

std::string daemon_agent(const Launch& launch) {
  constexpr std::string_view parameter = "plm_ssh_agent";
  const auto first = [](const std::string& agents) { return agents.substr(0, agents.find(':')); };
  // The last of several options counts, as for mpirun.
  const auto& options = launch.mpirun_options;
  const auto named = std::find(options.rbegin(), options.rend(), parameter);
  if (named != options.rend() && named != options.rbegin()) return first(*std::prev(named));
  if (!launch.agent.empty()) return launch.agent;
  if (const char* const value = std::getenv("PRTE_MCA_plm_ssh_agent"); value != nullptr) return first(value);
  return "ssh -o BatchMode=yes";
}

}  // namespace mend::jobs
