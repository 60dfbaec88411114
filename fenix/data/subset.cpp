#include "fenix/data/subset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fenix {
namespace {

/// Returns the index after `index`; MAX for MAX.
std::size_t after(std::size_t index) { return index == DataSubset::MAX ? index : index + 1; }

}  // namespace

DataSubset::DataSubset(std::size_t end) : DataSubset(Block{0, end}) {}

DataSubset::DataSubset(Block block) { add(block); }

DataSubset::DataSubset(Block block, std::size_t count, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) add({block.first + i * stride, block.second + i * stride});
}

DataSubset::DataSubset(const std::vector<Block>& blocks) { add_all(blocks); }

DataSubset::DataSubset(int count, const int* first, const int* last) {
  std::vector<Block> blocks;
  for (int i = 0; i < count; ++i) {
    if (first[i] < 0 || last[i] < 0) throw std::invalid_argument("the indices of a subset begin with 0");
    blocks.emplace_back(first[i], last[i]);
  }
  add_all(std::move(blocks));
}

DataSubset::DataSubset(const DataSubset& a, const DataSubset& b) : DataSubset(a) { *this += b; }

void DataSubset::add(Block block) {
  if (block.second < block.first) throw std::invalid_argument("a block of a subset ends before it begins");
  if (blocks_.empty() || after(blocks_.back().second) < block.first) return blocks_.push_back(block);
  // Blocks that touch the new one are merged with it.
  const auto from =
      std::ranges::partition_point(blocks_, [&](const Block& b) { return after(b.second) < block.first; });
  const auto to =
      std::partition_point(from, blocks_.end(), [&](const Block& b) { return b.first <= after(block.second); });
  if (from != to) {
    block.first = std::min(block.first, from->first);
    block.second = std::max(block.second, std::prev(to)->second);
  }
  blocks_.insert(blocks_.erase(from, to), block);
}

/// In ascending order, so that each block is appended, or merged with the last.
void DataSubset::add_all(std::vector<Block> blocks) {
  std::ranges::sort(blocks);
  for (const Block& block : blocks) add(block);
}

DataSubset DataSubset::operator+(const DataSubset& other) const { return {*this, other}; }

DataSubset& DataSubset::operator+=(const DataSubset& other) {
  std::vector<Block> more = other.blocks_;
  const bool are_all_behind = empty() || other.empty() || other.start() > end();
  if (!are_all_behind) {
    more.insert(more.end(), blocks_.begin(), blocks_.end());
    blocks_.clear();
  }
  add_all(std::move(more));
  if (other.type == PrestagedSubset) type = PrestagedSubset;
  return *this;
}

DataSubset DataSubset::operator+(const Fenix_Data_subset& other) const { return DataSubset(*this) += other; }

DataSubset& DataSubset::operator+=(const Fenix_Data_subset& other) {
  return *this += *static_cast<const DataSubset*>(other.impl);
}

DataSubset DataSubset::operator-(const DataSubset& other) const {
  DataSubset left;
  left.type = type;
  auto next = other.blocks_.begin();
  for (Block block : blocks_) {
    while (next != other.blocks_.end() && next->second < block.first) ++next;
    bool some_left = true;
    for (auto taken = next; taken != other.blocks_.end() && taken->first <= block.second; ++taken) {
      if (taken->first > block.first) left.add({block.first, taken->first - 1});
      some_left = taken->second < block.second;
      if (!some_left) break;
      block.first = taken->second + 1;
    }
    if (some_left) left.add(block);
  }
  return left;
}

std::size_t DataSubset::count(std::size_t max_index) const {
  std::size_t found = 0;
  for (const Block& block : bounded(max_index).blocks_) {
    if (block.second == MAX) return 0;
    found += block.second - block.first + 1;
  }
  return found;
}

std::size_t DataSubset::max_count() const { return empty() || !is_bounded() ? 0 : end() + 1; }

bool DataSubset::includes(std::size_t index) const {
  return std::ranges::any_of(blocks_, [&](const Block& b) { return b.first <= index && index <= b.second; });
}

bool DataSubset::includes_all(std::size_t end) const {
  return !empty() && blocks_.front().first == 0 && blocks_.front().second >= end;
}

DataSubset DataSubset::bounded(std::size_t max_index) const {
  DataSubset part;
  part.type = type;
  for (const Block& block : blocks_) {
    if (block.first <= max_index) part.add({block.first, std::min(block.second, max_index)});
  }
  return part;
}

DataSubset& DataSubset::bound(std::size_t max_index) { return *this = bounded(max_index); }

std::string DataSubset::str() const {
  if (type == PrestagedSubset) return "prestaged";
  std::string text;
  for (const Block& block : blocks_) {
    if (!text.empty()) text += ' ';
    text += block.second == MAX ? fmt::format("[{}, ...]", block.first)
                                : fmt::format("[{}, {}]", block.first, block.second);
  }
  return text;
}

}  // namespace fenix
