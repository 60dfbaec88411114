#include "apps/minife/mesh/partition.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace apps::minife {
namespace {

int longest_axis(const Box& box) {
  int longest = 0;
  for (int axis = 1; axis < 3; ++axis) {
    if (box.length(axis) > box.length(longest)) longest = axis;
  }
  return longest;
}

/// Returns how many layers of `area` places are needed to give each of `parts` at least one place.
int layers_for(int parts, std::int64_t area) { return static_cast<int>((parts + area - 1) / area); }

/// Appends the pieces to `pieces`. Returns false if a piece would have to be empty.
bool bisect_into(const Box& box, int parts, std::vector<Box>& pieces) {
  if (parts == 1) {
    pieces.push_back(box);
    return !box.empty();
  }
  const int axis = longest_axis(box);
  const int length = box.length(axis);
  const std::int64_t area = length == 0 ? 0 : box.volume() / length;
  if (area == 0) return false;

  const int left_parts = parts / 2;
  const int fewest = layers_for(left_parts, area);
  const int most = length - layers_for(parts - left_parts, area);
  if (fewest > most) return false;
  const auto fair = static_cast<int>(std::lround(static_cast<double>(length) * left_parts / parts));
  const int cut = box.lo[axis] + std::clamp(fair, fewest, most);

  Box left = box;
  Box right = box;
  left.hi[axis] = cut;
  right.lo[axis] = cut;
  return bisect_into(left, left_parts, pieces) && bisect_into(right, parts - left_parts, pieces);
}

}  // namespace

std::vector<Box> bisect(const Box& whole, int parts) {
  if (parts < 1) throw mend::UsageError(fmt::format("a mesh cannot be cut into {} parts: ask for one at least", parts));
  std::vector<Box> pieces;
  pieces.reserve(static_cast<std::size_t>(parts));
  if (!bisect_into(whole, parts, pieces)) {
    throw mend::UsageError(
        fmt::format("a mesh of {} x {} x {} nodes cannot be cut for {} ranks: use fewer ranks or more "
                    "elements (--nx, --ny, --nz)",
                    whole.length(0), whole.length(1), whole.length(2), parts));
  }
  return pieces;
}

}  // namespace apps::minife
