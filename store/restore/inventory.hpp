// The blocks that a process keeps, as numbers that all ranks can gather.

#pragma once

#include "store/restore/restore_plan.hpp"
#include "store/snapshot/version_slots.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace mend {

/// Appends the committed versions to `numbers`. Must come before all holdings.
void write_committed(const std::set<Version>& versions, std::vector<std::uint64_t>& numbers);
/// Appends a block that is kept to `numbers`.
void write_holding(const Block& block, const Kept& kept, std::vector<std::uint64_t>& numbers);

/// Adds the blocks that `holder` has written to `inventory`. Zeros may follow them.
void read_inventory(Rank holder, std::span<const std::uint64_t> numbers, Inventory& inventory);

}  // namespace mend
