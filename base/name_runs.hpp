// Ranks and processes in sentences: "rank 3", "ranks 0, 2-5", "processes 0-3".

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"

#include <string>
#include <vector>

namespace mend {

/// "rank 3", "ranks 0, 2-5". `ranks`: ascending, not empty. Pure.
std::string name_ranks(const std::vector<Rank>& ranks);

/// "process 3", "processes 0, 2-5". `processes`: not empty. Pure.
std::string name_processes(const ProcessSet& processes);

}  // namespace mend
