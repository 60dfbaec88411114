// The elements of a member that a Fenix subset selects, without the C interface. Pure.

#pragma once

#include <cstddef>
#include <vector>

namespace mend::fenix {

/// Indices from `begin` up to, but not including, `end`.
struct Region {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Region&) const = default;
};

/// Regions in ascending order that do not touch.
class Regions {
 public:
  Regions() = default;
  /// The first `count` elements.
  static Regions first(std::size_t count);

  void add(Region region);
  void add(const Regions& others);

  const std::vector<Region>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  /// Returns the index after the last element.
  std::size_t end() const { return all_.empty() ? 0 : all_.back().end; }
  /// Returns the elements below `count`.
  Regions below(std::size_t count) const;
  bool operator==(const Regions&) const = default;

 private:
  std::vector<Region> all_;
};

}  // namespace mend::fenix
