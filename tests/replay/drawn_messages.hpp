// Jobs whose messages are drawn at random.

#pragma once

#include <random>

namespace mend::replay {

/// Returns a number from `least` to `most`.
inline int drawn(std::mt19937_64& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

/// One action of a rank.
struct Step {
  bool sends;  ///< otherwise it receives
  int peer;
  int tag;
};

}  // namespace mend::replay
