#pragma once

#include <cmath>
#include <vector>

namespace mend {

/// Rounds each of `parts` to a multiple of `unit`, so that the results add up to the rounded sum. No non-negative part
/// becomes negative.
inline std::vector<double> round_parts(std::vector<double> parts, double unit) {
  double sum = 0;
  double rounded_sum = 0;
  for (double& part : parts) {
    sum += part;
    const double before = rounded_sum;
    rounded_sum = std::round(sum / unit) * unit;
    part = rounded_sum - before;
  }
  return parts;
}

}  // namespace mend
