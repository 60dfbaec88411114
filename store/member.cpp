#include "store/member.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mend::detail {

std::string shape_text(const char* kind, std::size_t element_bytes, std::span<const std::size_t> extents) {
  return fmt::format("{} of {} bytes [{}]", kind, element_bytes, fmt::join(extents, ","));
}

}  // namespace mend::detail
