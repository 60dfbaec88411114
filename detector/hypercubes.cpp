#include "detector/hypercubes.hpp"

#include <algorithm>
#include <bit>

namespace mend::detector {
namespace {

/// One of the two hypercubes.
class Hypercube {
 public:
  Hypercube(std::uint32_t count, bool backwards) : count_(count), backwards_(backwards) {}

  /// Returns the corner of `label`. The function is its own inverse.
  std::uint32_t corner(Label label) const { return backwards_ && label != 0 ? count_ - label : label; }
  bool holds(Label label) const { return corner(label) < 1U << dimension(count_); }

 private:
  std::uint32_t count_;
  bool backwards_;
};

/// Returns the dimension to begin with: the one after the dimension in which the two corners differ, if they are
/// neighbours.
std::uint32_t first_dimension(std::uint32_t corner, std::uint32_t from) {
  const std::uint32_t apart = corner ^ from;
  return std::has_single_bit(apart) ? static_cast<std::uint32_t>(std::countr_zero(apart)) + 1 : 0;
}

}  // namespace

std::uint32_t dimension(std::uint32_t count) { return static_cast<std::uint32_t>(std::bit_width(count)) - 1; }

std::uint32_t deaths_tolerated(std::uint32_t count) { return std::max(dimension(count), 1U) - 1; }

Labels neighbours(std::uint32_t count, Label self, std::optional<Label> from) {
  const std::uint32_t dimensions = dimension(count);
  Labels found;
  for (const bool backwards : {false, true}) {
    const Hypercube cube(count, backwards);
    if (!cube.holds(self)) continue;
    const std::uint32_t here = cube.corner(self);
    const std::uint32_t first = from && cube.holds(*from) ? first_dimension(here, cube.corner(*from)) : 0;
    for (std::uint32_t turn = 0; turn < dimensions; ++turn) {
      const Label next = cube.corner(here ^ 1U << (first + turn) % dimensions);
      if (next != from) found.add(next);
    }
  }
  return found;
}

}  // namespace mend::detector
