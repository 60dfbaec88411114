// What the store does with parts of arrays (store/array_part.hpp): writes them down, finds what two of them have in
// common, and where that lies in memory.

#pragma once

#include "store/array_part.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// Whether the part lies in its array, and the three extents have as many axes.
bool makes_sense(const ArrayPart& part);

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

}  // namespace mend
