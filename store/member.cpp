#include "store/member.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mend::detail {

std::string shape_text(const char* kind, std::size_t element_bytes, std::span<const std::size_t> extents) {
  const std::string elements = fmt::format("{} of {} bytes", kind, element_bytes);
  return extents.empty() ? elements : fmt::format("{} [{}]", elements, fmt::join(extents, ","));
}

void refuse_range(std::size_t begin, std::size_t end, std::size_t size) {
  throw UsageError(fmt::format("indices {} to {} are not part of an array of {}", begin, end, size));
}

void PartMember::require_fit() const {
  member_.place.require_sense();
  if (member_.values->size() == member_.place.bytes()) return;
  throw UsageError(
      fmt::format("a {} has {} bytes, and its values have {}: give the extents of the part that the values are",
                  to_string(member_.place), member_.place.bytes(), member_.values->size()));
}

}  // namespace mend::detail
