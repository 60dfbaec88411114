// A subset of the elements of a member, for programs in C++. In C, a Fenix_Data_subset points to one.

#pragma once

#include "fenix/fenix_subset.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace fenix {

/// Indices of elements, in blocks from a first to a last index, both included. A last index of MAX means all elements
/// from the first on. Throws std::invalid_argument for a block that ends before it begins, and for a negative
/// index.
struct DataSubset {
  static constexpr std::size_t MAX = std::numeric_limits<std::size_t>::max();
  using Block = std::pair<std::size_t, std::size_t>;

  enum SubsetType { BasicSubset, PrestagedSubset };

  /// No elements.
  DataSubset() = default;
  /// Elements 0 to `end`.
  explicit DataSubset(std::size_t end);
  /// One block.
  DataSubset(Block block);
  /// `count` blocks, each `stride` elements after the one before.
  DataSubset(Block block, std::size_t count, std::size_t stride);
  /// These blocks, which may overlap, in any order.
  DataSubset(const std::vector<Block>& blocks);
  /// `count` blocks: first[i] to last[i].
  DataSubset(int count, const int* first, const int* last);
  /// The union of two subsets.
  DataSubset(const DataSubset& a, const DataSubset& b);
  /// The elements that Fenix_Data_member_stage has staged, or none.
  explicit DataSubset(SubsetType special_type) : type(special_type) {}

  /// The union.
  DataSubset operator+(const DataSubset& other) const;
  DataSubset& operator+=(const DataSubset& other);
  DataSubset operator+(const Fenix_Data_subset& other) const;
  DataSubset& operator+=(const Fenix_Data_subset& other);
  /// Returns the elements that are not in `other`.
  DataSubset operator-(const DataSubset& other) const;
  bool operator==(const DataSubset& other) const { return type == other.type && blocks_ == other.blocks_; }
  bool operator!=(const DataSubset& other) const { return !(*this == other); }

  bool empty() const { return blocks_.empty(); }
  /// Returns the first and the last index; 0 and 0 if it is empty.
  Block range() const { return {start(), end()}; }
  std::size_t start() const { return empty() ? 0 : blocks_.front().first; }
  std::size_t end() const { return empty() ? 0 : blocks_.back().second; }
  /// Returns the number of its elements from 0 to `max_index`; 0 if `max_index` is MAX and the subset is unbounded.
  std::size_t count(std::size_t max_index) const;
  /// Returns the number of elements from 0 to its last one; 0 if it is empty or unbounded.
  std::size_t max_count() const;
  /// Returns true if it has this element.
  bool includes(std::size_t index) const;
  /// Returns true if it has all elements from 0 to `end`.
  bool includes_all(std::size_t end) const;
  /// Returns false if its last index is MAX.
  bool is_bounded() const { return end() != MAX; }
  /// Returns its elements from 0 to `max_index`.
  DataSubset bounded(std::size_t max_index) const;
  /// Removes its elements after `max_index`.
  DataSubset& bound(std::size_t max_index);
  /// "[0, 4] [8, 9]"
  std::string str() const;

  /// Returns the blocks in ascending order; adjacent ones are merged.
  const std::vector<Block>& blocks() const { return blocks_; }

  SubsetType type = BasicSubset;

 private:
  void add(Block block);
  void add_all(std::vector<Block> blocks);
  std::vector<Block> blocks_;
};

}  // namespace fenix

namespace Fenix {
using ::fenix::DataSubset;
namespace Data {
using ::fenix::DataSubset;
}
}  // namespace Fenix
