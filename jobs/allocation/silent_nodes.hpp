// Finds out on which nodes nothing can be started any more, before a job is launched anew.

#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace mend::jobs {

struct Node;

/// Returns the names of those of `nodes` on which no command can be started: "`agent` NODE true" fails, or has not
/// ended within `patience`. All nodes are asked at the same time; this machine is not asked. Commands that still run
/// after that are killed. Main thread. This process must have no other children, because they would be killed too.
/// Throws EnvironmentError if no process can be started.
std::vector<std::string> silent_nodes(const std::vector<Node>& nodes, const std::string& agent,
                                      std::chrono::seconds patience);

}  // namespace mend::jobs
