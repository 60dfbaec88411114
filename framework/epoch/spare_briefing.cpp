#include "framework/epoch/spare_briefing.hpp"

#include "store/snapshot/memory/block_reserve.hpp"

#include <algorithm>
#include <utility>

namespace mend {

void SpareBriefing::begin_epoch() {
  announced_ = false;
  advised_.clear();
}

void SpareBriefing::tell(Version version, std::vector<ByteCount> block_sizes) {
  if (!std::exchange(announced_, true)) witness_.announce(version);
  if (!prepare_) return;
  std::erase_if(block_sizes, [](ByteCount size) { return size < large_page; });
  std::ranges::transform(block_sizes, block_sizes.begin(), with_room_to_grow);
  if (block_sizes == advised_) return;
  advised_ = std::move(block_sizes);
  witness_.advise(advised_);
}

}  // namespace mend
