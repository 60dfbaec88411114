#include "jobs/allocation/nodes.hpp"

#include "base/error.hpp"
#include "jobs/allocation/scheduler_answer.hpp"
#include "jobs/run/mpirun_line.hpp"
#include "jobs/shell_words.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <sstream>
#include <utility>

namespace mend::jobs {
namespace {

std::optional<int> positive_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Adds to the slots of a node that is in the list already.
void add(std::vector<Node>& nodes, std::string_view name, int slots) {
  const auto known = std::ranges::find(nodes, name, &Node::name);
  if (known == nodes.end()) {
    nodes.push_back({std::string(name), slots});
  } else {
    known->slots += slots;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Returns the number that a command of the batch system prints first.
std::optional<int> number_from(const std::string& command) {
  const auto words = words_of(scheduler_answer(command));
  return words.empty() ? std::nullopt : positive_number(words.front());
}

Nodes nodes_in_slurm() {
  Nodes nodes{.source = "Slurm", .are_of_slurm = true};
  const std::vector<std::string> names =
      lines_of(scheduler_answer("scontrol show hostnames " + in_single_quotes(variable("SLURM_JOB_NODELIST"))));
  const std::vector<int> tasks = parse_slurm_tasks(variable("SLURM_TASKS_PER_NODE"));
  for (std::size_t i = 0; i < names.size(); ++i) nodes.list.push_back({names[i], i < tasks.size() ? tasks[i] : 1});
  const auto count = positive_number(variable("SLURM_JOB_NUM_NODES"));
  const std::string own = variable("SLURMD_NODENAME");  // not set on the machine where salloc was typed
  nodes.are_this_machine = count == 1 && (!own.empty() || (!names.empty() && is_this_machine(nodes.list.front())));
  return nodes;
}

/// Returns the nodes that the user has named.
Nodes named_by(const char* option, std::vector<Node> list) {
  Nodes nodes{.source = option, .list = std::move(list), .are_this_machine = false};
  if (variable("SLURM_JOB_ID").empty()) return nodes;
  const Nodes all = nodes_in_slurm();
  nodes.are_of_slurm = std::ranges::all_of(nodes.list, [&](const Node& node) {
    return std::ranges::find(all.list, node.name, &Node::name) != all.list.end();
  });
  return nodes;
}

/// Returns the nodes of the Flux instance that this process runs in, each with its share of the cores. Returns nothing
/// if it is the system instance, which is not an allocation, or if Flux does not answer.
std::optional<Nodes> nodes_in_flux() {
  if (!number_from("flux getattr instance-level")) return std::nullopt;
  const std::vector<std::string> list = words_of(scheduler_answer("flux hostlist --expand instance"));
  if (list.empty()) return std::nullopt;
  const auto cores = number_from("flux resource list -s all -n -o {ncores}");
  Nodes nodes{.source = "Flux"};
  for (const std::string& name : list)
    add(nodes.list, name, std::max(1, cores.value_or(1) / static_cast<int>(list.size())));
  nodes.are_this_machine = nodes.list.size() == 1 && is_this_machine(nodes.list.front());
  return nodes;
}

/// Returns nothing if the file cannot be read.
std::optional<std::vector<Node>> read_hostfile(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file, ignored)) return std::nullopt;
  return parse_hostfile(std::string{std::istreambuf_iterator<char>(stream), {}});
}

/// Returns nothing if the file names no node.
std::optional<Nodes> nodes_in_file(const char* source, const std::string& file) {
  const auto list = read_hostfile(file);
  if (!list || list->empty()) return std::nullopt;
  return Nodes{.source = source,
               .file = file,
               .list = *list,
               .are_this_machine = list->size() == 1 && is_this_machine(list->front())};
}

/// The same for the file of a batch system, which has a line for each slot.
std::optional<Nodes> nodes_of_batch_system(const char* source, const std::string& file) {
  auto nodes = nodes_in_file(source, file);
  if (!nodes) return std::nullopt;
  for (Node& node : nodes->list) node.slots = std::max(node.slots, 1);
  return nodes;
}

/// Returns the nodes of the file that mpirun uses if it is told of no others; nothing if the user has named none.
std::optional<Nodes> nodes_in_default_file() {
  for (const char* name :
       {"PRTE_MCA_prte_default_hostfile", "OMPI_MCA_prte_default_hostfile", "OMPI_MCA_orte_default_hostfile"}) {
    const std::string file = variable(name);
    if (!file.empty()) return nodes_in_file("the default host file", file);
  }
  return std::nullopt;
}

/// Returns the number of slots in the words of a line of a host file, of which each equals sign is one.
std::optional<int> slots_in(const std::vector<std::string>& words) {
  std::optional<int> slots;
  for (std::size_t i = 1; i + 2 < words.size(); ++i) {
    const bool is_number = words[i] == "slots" || words[i] == "cpu" || words[i] == "count";
    if (is_number && words[i + 1] == "=") slots = positive_number(words[i + 2]);
  }
  return slots;
}

}  // namespace

bool is_this_machine(const Node& node) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return false;
  const std::string_view own(host.data());
  return node.name == "localhost" || node.name == own || node.name == variable("SLURMD_NODENAME") ||
         node.name == own.substr(0, own.find('.')) || node.name.substr(0, node.name.find('.')) == own;
}

bool may_end_with_a_node(const Nodes& nodes) {
  if (!nodes.are_of_slurm || nodes.list.size() < 2 || !variable("SLURM_NO_KILL").empty()) return false;
  const auto job = positive_number(variable("SLURM_JOB_ID"));
  const std::string script = job ? scheduler_answer(fmt::format("scontrol write batch_script {} -", *job)) : "";
  return std::ranges::none_of(lines_of(script), [](const std::string& line) {
    if (!line.starts_with("#SBATCH")) return false;
    return std::ranges::any_of(words_of(line),
                               [](const std::string& word) { return word == "--no-kill" || word == "-k"; });
  });
}

std::vector<Node> parse_hosts(std::string_view text) {
  std::vector<Node> nodes;
  for (const auto part : text | std::views::split(',')) {
    const std::string_view one(part.begin(), part.end());
    const auto colon = one.rfind(':');
    const std::string_view number = colon == std::string_view::npos ? "" : one.substr(colon + 1);
    const bool is_all = number == "*" || number == "auto";
    const auto slots = is_all ? std::optional(Node::all_cores) : positive_number(number);
    if (!one.empty()) add(nodes, slots ? one.substr(0, colon) : one, slots.value_or(1));
  }
  return nodes;
}

std::vector<Node> parse_hostfile(std::string_view text) {
  std::vector<Node> nodes;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::string spaced;
    for (const char letter : line.substr(0, line.find('#')))
      spaced += letter == '=' ? std::string(" = ") : std::string(1, letter);
    const std::vector<std::string> words = words_of(spaced);
    if (words.empty()) continue;
    const auto slots = slots_in(words);
    const auto known = std::ranges::find(nodes, words.front(), &Node::name);
    if (known == nodes.end()) {
      nodes.push_back({words.front(), slots.value_or(Node::all_cores)});
    } else {
      known->slots = std::max(known->slots, 1) + slots.value_or(1);  // without a number, each line is a slot
    }
  }
  return nodes;
}

std::vector<int> parse_slurm_tasks(std::string_view text) {
  std::vector<int> tasks;
  for (const auto part : text | std::views::split(',')) {
    const std::string_view one(part.begin(), part.end());
    const auto open = one.find("(x");
    const auto slots = positive_number(one.substr(0, open));
    std::optional<int> times = 1;
    if (open != std::string_view::npos)
      times = one.ends_with(')') ? positive_number(one.substr(open + 2, one.size() - open - 3)) : std::nullopt;
    if (!slots || !times) return {};
    tasks.insert(tasks.end(), static_cast<std::size_t>(*times), *slots);
  }
  return tasks;
}

bool are_slots_known(const std::vector<Node>& nodes) {
  return std::ranges::find(nodes, Node::all_cores, &Node::slots) == nodes.end();
}

std::string host_list(const std::vector<Node>& nodes) {
  std::string list;
  for (const Node& node : nodes) {
    const std::string slots = node.slots == Node::all_cores ? "*" : std::to_string(node.slots);
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", node.name, slots);
  }
  return list;
}

int slots_of_last(const std::vector<Node>& nodes, int count) {
  return std::accumulate(nodes.end() - count, nodes.end(), 0,
                         [](int sum, const Node& node) { return sum + node.slots; });
}

std::vector<Node> with_spare_nodes(std::vector<Node> nodes, int ranks, int spare_nodes, const std::string& source) {
  const auto unknown = std::ranges::find(nodes, Node::all_cores, &Node::slots);
  if (unknown != nodes.end()) {
    throw UsageError(
        fmt::format("--spare-nodes needs the number of slots of each node, and {} has none for {}: name it, as in "
                    "--host {}:4, or slots=4 in a host file",
                    source, unknown->name, unknown->name));
  }
  const auto all = static_cast<int>(nodes.size());
  const int for_ranks = spare_nodes < all ? slots_of_last(nodes, all) - slots_of_last(nodes, spare_nodes) : 0;
  if (for_ranks < ranks) {
    throw UsageError(fmt::format(
        "--spare-nodes {} leaves {} of the {} node{} of {} for ranks, with place for {} of the {} ranks: ask for more "
        "nodes, or for fewer spare ones",
        spare_nodes, std::max(0, all - spare_nodes), all, all == 1 ? "" : "s", source, for_ranks, ranks));
  }
  const auto first_spare = nodes.end() - spare_nodes;
  for (auto node = nodes.begin(); node != first_spare; ++node) {
    node->slots = std::min(node->slots, ranks);
    ranks -= node->slots;
  }
  std::erase_if(nodes, [](const Node& node) { return node.slots == 0; });
  return nodes;
}

Nodes nodes_of(const Launch& launch) {
  if (!launch.hosts.empty()) return named_by("--host", parse_hosts(launch.hosts));
  if (!launch.hostfile.empty()) {
    const auto list = read_hostfile(launch.hostfile);
    if (!list) throw UsageError(fmt::format("the host file {} cannot be read", launch.hostfile.string()));
    return named_by("--hostfile", *list);
  }
  if (!variable("SLURM_JOB_ID").empty()) return nodes_in_slurm();
  for (const auto& [source, name] : {std::pair{"PBS", "PBS_NODEFILE"}, std::pair{"LSF", "LSB_DJOB_HOSTFILE"}}) {
    const std::string file = variable(name);
    if (file.empty()) continue;
    if (const auto nodes = nodes_of_batch_system(source, file)) return *nodes;
  }
  if (!variable("FLUX_URI").empty()) {
    if (const auto nodes = nodes_in_flux()) return *nodes;
  }
  return nodes_in_default_file().value_or(Nodes{});
}

}  // namespace mend::jobs
