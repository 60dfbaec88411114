// Boxes of integers, for nodes and elements. They describe which rank owns which part of the mesh. Every rank can
// compute the box of any other rank without a message.

#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace apps::minife {

/// Three integers, one for each axis: a node's or an element's place in the grid, or the grid's size.
struct Triple {
  int x = 0;
  int y = 0;
  int z = 0;
  bool operator==(const Triple&) const = default;

  KOKKOS_INLINE_FUNCTION int operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  KOKKOS_INLINE_FUNCTION int& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
};

/// The places p with lo <= p < hi on every axis, counted with x running fastest.
struct Box {
  Triple lo;
  Triple hi;
  bool operator==(const Box&) const = default;

  KOKKOS_INLINE_FUNCTION int length(int axis) const { return hi[axis] > lo[axis] ? hi[axis] - lo[axis] : 0; }
  KOKKOS_INLINE_FUNCTION std::int64_t volume() const {
    return static_cast<std::int64_t>(length(0)) * length(1) * length(2);
  }
  KOKKOS_INLINE_FUNCTION bool empty() const { return volume() == 0; }
  KOKKOS_INLINE_FUNCTION bool contains(Triple place) const {
    return lo.x <= place.x && place.x < hi.x && lo.y <= place.y && place.y < hi.y && lo.z <= place.z && place.z < hi.z;
  }

  /// Returns the index of `place`, which must be inside.
  KOKKOS_INLINE_FUNCTION std::int64_t index(Triple place) const {
    return (static_cast<std::int64_t>(place.z - lo.z) * length(1) + (place.y - lo.y)) * length(0) + (place.x - lo.x);
  }
  /// Returns the place with this index.
  KOKKOS_INLINE_FUNCTION Triple at(std::int64_t index) const {
    const std::int64_t row = index / length(0);
    return {lo.x + static_cast<int>(index % length(0)), lo.y + static_cast<int>(row % length(1)),
            lo.z + static_cast<int>(row / length(1))};
  }
};

/// Returns the places that are in both boxes; possibly an empty box.
inline Box intersection(const Box& a, const Box& b) {
  Box both;
  for (int axis = 0; axis < 3; ++axis) {
    both.lo[axis] = a.lo[axis] > b.lo[axis] ? a.lo[axis] : b.lo[axis];
    both.hi[axis] = a.hi[axis] < b.hi[axis] ? a.hi[axis] : b.hi[axis];
  }
  return both;
}

/// Returns `box` with one more layer on every side.
inline Box with_one_layer(const Box& box) {
  return {{box.lo.x - 1, box.lo.y - 1, box.lo.z - 1}, {box.hi.x + 1, box.hi.y + 1, box.hi.z + 1}};
}

}  // namespace apps::minife
