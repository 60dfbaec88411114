// Which nodes the processes of a launch come to, also when some of the nodes are lost.

#pragma once

#include "jobs/allocation/nodes.hpp"
#include "jobs/run/mpirun_line.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

/// A number of ranks or spares beyond this is a mistake of typing.
inline constexpr int most_processes = 1'000'000;

/// Returns true if all processes of `launch` run on this machine. Pure.
bool all_here(const Launch& launch);

/// The number of spares in the program's own option. Nothing if there is no such option, or if its value is not a
/// number, which the program reports itself. Pure.
std::optional<int> spares_told(const std::vector<std::string>& program);

/// The spares that `text` asks for beside `ranks`: "3", or "10%" of them, rounded up. Pure. Throws UsageError for
/// anything else, and for more than `most_processes`.
int spares_for(std::string_view text, int ranks);

/// Decides which of `nodes` the processes of `launch` come to. Local. Throws UsageError if the ranks do not fit beside
/// the spare nodes.
void place(Launch& launch, const Nodes& nodes);

/// Leaves the nodes `lost` out of `launch` and of its `nodes`. If the other nodes have fewer slots than it has
/// processes, it gets fewer spares or spare nodes, unless there were too few slots before or the program itself names
/// its spares; the ranks stay as many as they were. Returns false, and changes nothing, if no node is left. Pure.
bool leave_out(const std::vector<std::string>& lost, Launch& launch, Nodes& nodes);

/// The command that starts a daemon on another node when the node's name and a command are appended, as mpirun has it
/// for `launch`: by the options for mpirun, by PRRTE's variable, or ssh. mpirun takes a list, of which this is the
/// first. Local.
std::string daemon_agent(const Launch& launch);

}  // namespace mend::jobs
