// The nodes that a job runs on: those that the user names, or those that the batch system has allocated to it.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

struct Launch;

/// A node, and the number of processes that it is meant for.
struct Node {
  static constexpr int all_cores = 0;  ///< as its slots: as many as it has cores; mend run does not know how many
  std::string name;
  int slots = 1;
  bool operator==(const Node&) const = default;
};

/// The nodes of a job, in the order in which mpirun fills them.
struct Nodes {
  /// Who named them: "--host", "--hostfile", "Slurm", "PBS", "LSF", "Flux", "the default host file"; empty: nobody.
  std::string source{};
  std::filesystem::path file{};  ///< the list for mpirun, if mpirun does not ask the batch system for it by itself
  std::vector<Node> list{};      ///< empty: this machine alone
  bool are_this_machine = true;  ///< there is no other
  bool are_of_slurm = false;     ///< of the allocation of Slurm that this process runs in
};

/// Returns the nodes of `launch`: its hosts or its file, or else those of the allocation of Slurm, PBS, LSF or Flux
/// that this process runs in, or else those of the file that the user has made mpirun's default by a variable. Local.
/// Throws UsageError if the file of `launch` cannot be read.
Nodes nodes_of(const Launch& launch);

/// Returns true if the batch system is known to end the job when the first of its nodes fails: Slurm does so for jobs
/// of several nodes that were not submitted with --no-kill. Asks Slurm for the job's script, five seconds at most.
/// Local.
bool may_end_with_a_node(const Nodes& nodes);

/// Returns true if `node` is the machine that this process runs on. Local.
bool is_this_machine(const Node& node);

/// Parses the argument of `mpirun --host`: "node1:4,node2,node3:*". Pure.
std::vector<Node> parse_hosts(std::string_view text);

/// Parses a host file, which has one node per line: "node1 slots=4"; a node that is named several times has that many
/// slots, and one that is named once and without a number all its cores, as for mpirun. Pure.
std::vector<Node> parse_hostfile(std::string_view text);

/// Returns the slots of Slurm's nodes in order: "3(x2),1" is 3, 3, 1. Empty for other words. Pure.
std::vector<int> parse_slurm_tasks(std::string_view text);

/// Returns false if a node has all its cores as slots. Pure.
bool are_slots_known(const std::vector<Node>& nodes);

/// Returns the list for `mpirun --host`. Pure.
std::string host_list(const std::vector<Node>& nodes);

/// Divides `nodes` between `ranks` ranks and their spares: the last `spare_nodes` nodes are for spares alone, and the
/// slots that the ranks do not need are left out. Pure. Throws UsageError if the slots of a node are not known, or,
/// with `source` in it, if the ranks do not fit on the others.
std::vector<Node> with_spare_nodes(std::vector<Node> nodes, int ranks, int spare_nodes, const std::string& source);

/// Returns the number of processes that fit on the last `count` nodes, whose slots are known. Pure.
int slots_of_last(const std::vector<Node>& nodes, int count);

}  // namespace mend::jobs
