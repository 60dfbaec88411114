// Parts of arrays (store/array_part.hpp): their text form, the overlap of two parts, and where a box lies in memory.

#pragma once

#include "store/array_part.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// Returns true if the part lies in its array, and the three extents have the same number of axes.
bool makes_sense(const ArrayPart& part);

/// Reads the text of to_string; returns nothing for any other text.
std::optional<ArrayPart> parse_array_part(std::string_view text);

/// A rank's parts, by the names of the members.
using Parts = std::map<std::string, ArrayPart, std::less<>>;

/// Writes one line for each part. parse_parts reads them; zeros may follow the lines.
std::string to_text(const Parts& parts);
Parts parse_parts(std::string_view text);

/// The elements that two parts have in common.
struct Overlap {
  Extents extents;
  Extents in_first;   ///< where they begin in the first part
  Extents in_second;  ///< where they begin in the second part
  bool operator==(const Overlap&) const = default;
};
/// Returns nothing if the parts have no elements in common. Both must be parts of the same array.
std::optional<Overlap> overlap(const ArrayPart& first, const ArrayPart& second);

/// The elements of a part that have not been found yet in other parts, which may overlap. They are stored as boxes that
/// do not overlap.
class Unfound {
 public:
  explicit Unfound(const ArrayPart& wanted);

  /// Removes the elements of `part`, a part of the same array, which have been found.
  void take_out(const ArrayPart& part);
  std::size_t elements() const;

 private:
  std::vector<ArrayPart> boxes_;
};

/// A box of elements within a part, in memory: the longest runs of contiguous bytes, in order.
struct Runs {
  ByteCount length = 0;            ///< of each
  std::vector<ByteCount> offsets;  ///< from the part's first byte
};
Runs runs_of(const ArrayPart& part, const Extents& begin, const Extents& extents);

}  // namespace mend
