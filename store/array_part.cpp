#include "store/array_part.hpp"

#include "base/error.hpp"
#include "store/snapshot/part_boxes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

namespace mend {
std::size_t elements_in(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

ByteCount element_bytes(std::string_view name) {
  const auto digits = std::min(name.find_first_of("0123456789"), name.size());
  const std::string_view kind = name.substr(0, digits);
  ByteCount count = 0;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), count);
  if (error != std::errc{} || end != name.data() + name.size()) return 0;
  if (kind == "bytes") return count;
  const bool is_number = kind == "float" || kind == "int" || kind == "uint";
  return is_number && count % 8 == 0 ? count / 8 : 0;
}

void ArrayPart::require_sense() const {
  if (makes_sense(*this)) return;
  throw UsageError(
      fmt::format("a part [{}] at [{}] is not part of an array [{}]: all three need as many numbers, and the part "
                  "must lie within the array",
                  fmt::join(extents, ","), fmt::join(offset, ","), fmt::join(whole, ",")));
}

ByteCount ArrayPart::bytes() const { return element_bytes() * elements_in(extents); }

std::string to_string(const ArrayPart& part) {
  return fmt::format("{} array [{}] at [{}] of [{}]", part.element, fmt::join(part.extents, ","),
                     fmt::join(part.offset, ","), fmt::join(part.whole, ","));
}

std::string detail::element_name(bool floating, bool integral, bool is_signed, std::size_t bytes) {
  if (floating && bytes <= 8) return fmt::format("float{}", 8 * bytes);
  if (integral && bytes <= 8) return fmt::format("{}{}", is_signed ? "int" : "uint", 8 * bytes);
  return fmt::format("bytes{}", bytes);
}

}  // namespace mend
