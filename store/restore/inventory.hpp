// What a process keeps, as numbers that can be gathered by all.

#pragma once

#include "store/restore/restore_plan.hpp"
#include "store/snapshot/version_slots.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace mend {

/// Appends to `numbers` which versions were committed; before any holding.
void write_committed(const std::set<Version>& versions, std::vector<std::uint64_t>& numbers);
/// Appends to `numbers` that a block is kept.
void write_holding(const Block& block, const Kept& kept, std::vector<std::uint64_t>& numbers);

/// Adds to `inventory` what `keeper` has written; zeros may follow that.
void read_inventory(Rank keeper, std::span<const std::uint64_t> numbers, Inventory& inventory);

}  // namespace mend
