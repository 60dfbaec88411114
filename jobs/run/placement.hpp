// Assigns the processes of a launch to nodes, also after the loss of some nodes.

#pragma once

#include "jobs/allocation/nodes.hpp"
#include "jobs/run/mpirun_line.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

/// A larger number of ranks or spares is a typing mistake.
inline constexpr int most_processes = 1'000'000;

/// Returns true if all processes of `launch` run on this machine. Pure.
bool all_here(const Launch& launch);

/// Returns the value of an option, such as "--mend-spares", among the program's words: the last one, up to a word "--".
/// Pure.
std::optional<std::string> told(std::string_view flag, const std::vector<std::string>& program);

/// Returns the number of spares in the program's own option. Returns nothing without this option, or if its value is
/// not a number, which the program reports itself. Pure.
std::optional<int> spares_told(const std::vector<std::string>& program);

/// Returns the number of spares that `text` asks for beside `ranks`: "3", or "10%" of them, rounded up. Pure. Throws
/// UsageError for anything else, and for more than `most_processes`.
int spares_for(std::string_view text, int ranks);

/// Decides on which of `nodes` the processes of `launch` run. Local. Throws UsageError if the ranks do not fit beside
/// the spare nodes.
void place(Launch& launch, const Nodes& nodes);

/// Removes the nodes `lost` from `launch` and from its `nodes`. If the other nodes have fewer slots than `launch` has
/// processes, `launch` gets fewer spares or spare nodes, unless there were too few slots before or the program itself
/// names its spares. The number of ranks does not change. Returns false, and changes nothing, if no node is left. Pure.
bool leave_out(const std::vector<std::string>& lost, Launch& launch, Nodes& nodes);

/// Returns the command that starts a daemon on another node when the node's name and a command are appended, as mpirun
/// uses it for `launch`: from the options for mpirun, from PRRTE's variable, or ssh. mpirun takes a list of commands;
/// this is the first of them. Local.
std::string daemon_agent(const Launch& launch);

}  // namespace mend::jobs
