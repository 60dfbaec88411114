// Parts of an array that all ranks share: which of its elements a rank has.
//
// An array is a box of elements, and each rank has a smaller box of them:
//
//    whole [4,6]      offset      A rank declares this when it protects its part, and it is kept with the part. So the
//    . . . . . .      [1,2]       array can be restored to another number of ranks.
//    . . x x x .
//    . . x x x .      extents
//    . . . . . .      [2,3]
//
// The last axis is the one along which elements are neighbours in memory.

#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mend {

/// A number for each axis.
using Extents = std::vector<std::size_t>;

/// Returns the number of elements in a box.
std::size_t elements_in(const Extents& extents);

/// Returns the size of an element with this name (ArrayPart::element); 0 for an unknown name.
ByteCount element_bytes(std::string_view name);

/// A box of elements in an array that all ranks share.
struct ArrayPart {
  std::string element;  ///< "float64", "int32", "uint8", ...; "bytes24" if it is not a number
  Extents extents;      ///< of the part
  Extents offset;       ///< of its first element, in the whole
  Extents whole;        ///< of the array
  bool operator==(const ArrayPart&) const = default;

  /// Throws UsageError when the box does not lie in the array.
  void require_sense() const;
  ByteCount element_bytes() const { return mend::element_bytes(element); }
  ByteCount bytes() const;
  bool is_whole() const { return extents == whole; }
};

/// Returns text such as "float64 array [2,3] at [1,2] of [4,6]".
std::string to_string(const ArrayPart& part);
namespace detail {

std::string element_name(bool floating, bool integral, bool is_signed, std::size_t bytes);

template <class T>
std::string element_name() {
  return element_name(std::is_floating_point_v<T>, std::is_integral_v<T> || std::is_enum_v<T>, std::is_signed_v<T>,
                      sizeof(T));
}

}  // namespace detail
}  // namespace mend
