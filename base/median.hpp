#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mend {

/// Returns the median; for an even number of values, the upper one of the two in the middle. `values` must not be
/// empty.
template <class Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace mend
