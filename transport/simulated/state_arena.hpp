// Stores many states as bytes, each once, numbered in the order of insertion.

#pragma once

#include "transport/simulated/fingerprint.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace mend::transport {

class StateArena {
 public:
  /// Returns the state's number, and true if it is new.
  std::pair<std::uint32_t, bool> insert(std::span<const std::uint8_t> state) {
    if (slots_.size() < 2 * (size() + 1)) grow();
    const std::size_t slot = find_slot(state);
    if (slots_[slot] != free_slot) return {slots_[slot], false};
    const auto number = static_cast<std::uint32_t>(size());
    slots_[slot] = number;
    bytes_.insert(bytes_.end(), state.begin(), state.end());
    ends_.push_back(bytes_.size());
    return {number, true};
  }

  std::size_t size() const { return ends_.size(); }

  /// Returns the bytes of a state. Valid until the next insert().
  std::span<const std::uint8_t> operator[](std::uint32_t number) const {
    const std::uint64_t begin = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + begin, ends_[number] - begin};
  }

 private:
  static constexpr std::uint32_t free_slot = 0xffffffff;

  static std::uint64_t hash(std::span<const std::uint8_t> bytes) {
    Fingerprint print;
    std::uint64_t word = bytes.size();
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      print.add(word);
      std::memcpy(&word, bytes.data() + i, 8);
    }
    print.add(word);
    word = 0;
    std::memcpy(&word, bytes.data() + i, bytes.size() - i);
    print.add(word);
    return print.low();
  }

  std::size_t find_slot(std::span<const std::uint8_t> state) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash(state) & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == free_slot) return slot;
      const auto known = (*this)[slots_[slot]];
      if (std::equal(known.begin(), known.end(), state.begin(), state.end())) return slot;
    }
  }

  void grow() {
    slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, free_slot);
    for (std::uint32_t number = 0; number < size(); ++number) slots_[find_slot((*this)[number])] = number;
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace mend::transport
