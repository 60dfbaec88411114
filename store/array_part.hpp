// Parts of an array that all ranks share: which of its elements a rank has.
//
// An array is a box of elements, and each rank has a smaller box of them:
//
//    whole [4,6]      offset      a rank says so when it protects its part, and the part says so wherever it is kept.
//    . . . . . .      [1,2]       So it can be given to others than those who had it: fewer ranks, or more
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

using Extents = std::vector<std::size_t>;

/// How many elements a box has.
std::size_t elements_in(const Extents& extents);

/// How many bytes an element of that name has (ArrayPart::element); 0 for a name that nobody gives.
ByteCount element_bytes(std::string_view name);

struct ArrayPart {
  std::string element;  ///< "float64", "int32", "uint8", ...; "bytes24" for what is no number
  Extents extents;      ///< of the part
  Extents offset;       ///< of its first element, in the whole
  Extents whole;        ///< of the array
  bool operator==(const ArrayPart&) const = default;

  /// Throws UsageError when that is no part of an array.
  void require_sense() const;
  ByteCount element_bytes() const { return mend::element_bytes(element); }
  ByteCount bytes() const;
  bool is_whole() const { return extents == whole; }
};

/// "float64 array [2,3] at [1,2] of [4,6]".
std::string to_string(const ArrayPart& part);
/// What to_string has written; nothing for any other text.
std::optional<ArrayPart> parse_array_part(std::string_view text);

/// A rank's parts, by the names of the members.
using Parts = std::map<std::string, ArrayPart, std::less<>>;

/// A line for each, and what such lines say; zeros may follow them.
std::string to_text(const Parts& parts);
Parts parse_parts(std::string_view text);

/// The elements that two parts have in common.
struct Overlap {
  Extents extents;
  Extents in_first;   ///< where they begin, in the first part
  Extents in_second;  ///< and in the second
  bool operator==(const Overlap&) const = default;
};
/// Nothing when they have none. Both must be of the same array.
std::optional<Overlap> overlap(const ArrayPart& first, const ArrayPart& second);

/// The elements of a part that have not been found yet, while others are looked through in which they may be; these may
/// overlap. What is left is kept as boxes of which no two do.
class Unfound {
 public:
  explicit Unfound(const ArrayPart& wanted);

  /// Those of `part`, of the same array, have been found.
  void take_out(const ArrayPart& part);
  std::size_t elements() const;

 private:
  std::vector<ArrayPart> boxes_;
};

/// A box of elements within a part, as it lies in memory: runs of bytes, in order, that are as long as can be.
struct Runs {
  ByteCount length = 0;            ///< of each
  std::vector<ByteCount> offsets;  ///< from the part's first byte
};
Runs runs_of(const ArrayPart& part, const Extents& begin, const Extents& extents);

namespace detail {

std::string element_name(bool floating, bool integral, bool is_signed, std::size_t bytes);

template <class T>
std::string element_name() {
  return element_name(std::is_floating_point_v<T>, std::is_integral_v<T> || std::is_enum_v<T>, std::is_signed_v<T>,
                      sizeof(T));
}

}  // namespace detail
}  // namespace mend
