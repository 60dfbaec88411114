// Some elements of a member of a data group: what programs for Fenix in C++ name them by. In C the same thing is behind
// a Fenix_Data_subset.

#pragma once

#include "fenix/fenix_subset.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace fenix {

/// Indices of elements. Blocks are given by their first and their last index; a last index of MAX means all from the
/// first on. A value: it can be copied, compared, added.
struct DataSubset {
  static constexpr std::size_t MAX = std::numeric_limits<std::size_t>::max();
  using Block = std::pair<std::size_t, std::size_t>;

  enum SubsetType { BasicSubset, PrestagedSubset };

  /// No elements.
  DataSubset() = default;
  /// Elements 0 to `end`.
  explicit DataSubset(std::size_t end);
  DataSubset(Block block);
  /// `count` blocks, each `stride` after the one before.
  DataSubset(Block block, std::size_t count, std::size_t stride);
  DataSubset(const std::vector<Block>& blocks);
  /// `count` blocks: first[i] to last[i].
  DataSubset(int count, const int* first, const int* last);
  DataSubset(const DataSubset& a, const DataSubset& b);
  /// What Fenix_Data_member_stage has taken already, or nothing.
  explicit DataSubset(SubsetType special_type) : type(special_type) {}

  DataSubset operator+(const DataSubset& other) const;
  DataSubset& operator+=(const DataSubset& other);
  DataSubset operator+(const Fenix_Data_subset& other) const;
  DataSubset& operator+=(const Fenix_Data_subset& other);
  DataSubset operator-(const DataSubset& other) const;
  bool operator==(const DataSubset& other) const { return type == other.type && blocks_ == other.blocks_; }
  bool operator!=(const DataSubset& other) const { return !(*this == other); }

  bool empty() const { return blocks_.empty(); }
  /// The first and the last index; 0 and 0 if it is empty.
  Block range() const { return {start(), end()}; }
  std::size_t start() const { return empty() ? 0 : blocks_.front().first; }
  std::size_t end() const { return empty() ? 0 : blocks_.back().second; }
  /// How many of the elements 0 to `max_index` are in it; 0 if that is without end.
  std::size_t count(std::size_t max_index) const;
  /// How many elements there are from 0 to the last of it; 0 if it is empty or without end.
  std::size_t max_count() const;
  bool includes(std::size_t index) const;
  bool includes_all(std::size_t end) const;
  bool is_bounded() const { return end() != MAX; }
  /// What of it lies in 0 to `max_index`.
  DataSubset bounded(std::size_t max_index) const;
  DataSubset& bound(std::size_t max_index);
  /// "[0, 4] [8, 9]"
  std::string str() const;

  /// In ascending order, without neighbours that touch.
  const std::vector<Block>& blocks() const { return blocks_; }

  SubsetType type = BasicSubset;

 private:
  void add(Block block);
  std::vector<Block> blocks_;
};

}  // namespace fenix

namespace Fenix {
using ::fenix::DataSubset;
namespace Data {
using ::fenix::DataSubset;
}
}  // namespace Fenix
