#include "store/restore/inventory.hpp"

namespace mend {

void write_holding(const Block& block, const Kept& kept, std::vector<std::uint64_t>& numbers) {
  numbers.insert(numbers.end(),
                 {kept.version.value, static_cast<std::uint64_t>(block.row), kept.bytes.size(), block.owners.size()});
  for (const Rank owner : block.owners) numbers.push_back(static_cast<std::uint64_t>(owner.value));
  numbers.insert(numbers.end(), kept.sizes.begin(), kept.sizes.end());
}

void read_holdings(Rank keeper, std::span<const std::uint64_t> numbers, std::vector<Holding>& inventory) {
  while (!numbers.empty() && numbers[0] != 0) {
    Holding holding{keeper, Version{numbers[0]}, Block{{}, static_cast<int>(numbers[1])}, numbers[2], {}};
    const auto owners = numbers[3];
    for (const std::uint64_t owner : numbers.subspan(4, owners))
      holding.block.owners.push_back(Rank{static_cast<int>(owner)});
    const auto sizes = numbers.subspan(4 + owners, owners);
    holding.sizes.assign(sizes.begin(), sizes.end());
    numbers = numbers.subspan(4 + 2 * owners);
    inventory.push_back(std::move(holding));
  }
}

}  // namespace mend
