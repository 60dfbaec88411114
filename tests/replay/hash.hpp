// The hash of the messages in the tests of replay: short, and not the one of production.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mend::replay {

inline std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 31U) * 0x9e3779b97f4a7c15U;
  return value ^ value >> 29U;
}

inline std::uint64_t hash(std::span<const std::byte> bytes) {
  std::uint64_t sum = bytes.size();
  for (const std::byte byte : bytes) sum = mixed(sum ^ static_cast<std::uint64_t>(byte));
  return sum;
}

}  // namespace mend::replay
