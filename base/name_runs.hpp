// Names ranks, processes and counts in sentences: "rank 3", "ranks 0, 2-5", "processes 0-3", "1 spare".

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// "rank 3", "ranks 0, 2-5". `ranks`: ascending, not empty. Pure.
std::string name_ranks(const std::vector<Rank>& ranks);

/// "process 3", "processes 0, 2-5". `processes`: not empty. Pure.
std::string name_processes(const ProcessSet& processes);

/// "1 spare", "3 spares": `one` with an s unless `count` is 1. Pure.
std::string counted(std::size_t count, std::string_view one);
/// "1 recovery", "3 recoveries". Pure.
std::string counted(std::size_t count, std::string_view one, std::string_view several);

}  // namespace mend
