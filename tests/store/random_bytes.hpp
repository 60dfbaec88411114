// Random data for tests.

#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

/// Bytes in memory of their own. mend::Bytes are in the memory of the store.
using PlainBytes = std::vector<std::byte>;

/// Returns bytes that are drawn from `seed`.
inline PlainBytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  PlainBytes bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}
