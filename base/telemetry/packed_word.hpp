#pragma once

#include <cstdint>

namespace mend {

/// An enumerator and a number in one word, so that both are read and written atomically. The enumerator is in the low 8
/// bits.
template <class Enum>
struct PackedWord {
  static constexpr int enum_bits = 8;
  static_assert(sizeof(Enum) * 8 <= enum_bits);

  Enum what{};
  std::uint64_t number = 0;

  static PackedWord from(std::uint64_t word) {
    return {static_cast<Enum>(word & ((1U << enum_bits) - 1)), word >> enum_bits};
  }
  std::uint64_t packed() const { return number << enum_bits | static_cast<std::uint64_t>(what); }
};

}  // namespace mend
