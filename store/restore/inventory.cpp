#include "store/restore/inventory.hpp"

#include "base/assert.hpp"

namespace mend {
namespace {

/// Removes `count` numbers from the front and returns them.
std::span<const std::uint64_t> take(std::span<const std::uint64_t>& numbers, std::uint64_t count) {
  require(count <= numbers.size(), "a rank tells of what it keeps as long as it says");
  const auto taken = numbers.first(count);
  numbers = numbers.subspan(count);
  return taken;
}

}  // namespace

void write_committed(const std::set<Version>& versions, std::vector<std::uint64_t>& numbers) {
  numbers.push_back(versions.size());
  for (const Version version : versions) numbers.push_back(version.value);
}

void write_holding(const Block& block, const Kept& kept, std::vector<std::uint64_t>& numbers) {
  require(!block.owners.empty() && kept.sizes.size() == block.owners.size(), "a block knows the sizes of its owners");
  numbers.insert(numbers.end(),
                 {kept.version.value, static_cast<std::uint64_t>(block.row), kept.bytes.size(), block.owners.size()});
  for (const Rank owner : block.owners) numbers.push_back(static_cast<std::uint64_t>(owner.value));
  numbers.insert(numbers.end(), kept.sizes.begin(), kept.sizes.end());
}

void read_inventory(Rank holder, std::span<const std::uint64_t> numbers, Inventory& inventory) {
  for (const std::uint64_t version : take(numbers, take(numbers, 1).front()))
    inventory.committed.insert(Version{version});
  while (!numbers.empty() && numbers.front() != 0) {
    const auto head = take(numbers, 4);
    Holding holding{holder, Version{head[0]}, Block{{}, static_cast<int>(head[1])}, head[2], {}};
    for (const std::uint64_t owner : take(numbers, head[3]))
      holding.block.owners.push_back(Rank{static_cast<int>(owner)});
    const auto sizes = take(numbers, head[3]);
    holding.sizes.assign(sizes.begin(), sizes.end());
    inventory.holdings.push_back(std::move(holding));
  }
}

}  // namespace mend
