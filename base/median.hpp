#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mend {

/// Of an even number of values, the upper of the two in the middle. There must be one.
template <class Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace mend
