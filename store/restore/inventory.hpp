// What a process keeps, as numbers that can be gathered by all.

#pragma once

#include "store/restore/restore_plan.hpp"
#include "store/snapshot/version_slots.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mend {

/// Appends to `numbers` that a block is kept.
void write_holding(const Block& block, const Kept& kept, std::vector<std::uint64_t>& numbers);

/// Appends to `inventory` what `keeper` has written; zeros may follow that.
void read_holdings(Rank keeper, std::span<const std::uint64_t> numbers, std::vector<Holding>& inventory);

}  // namespace mend
