// A member with which tests damage data in the store's memory.

#pragma once

#include "store/member.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

/// A member that remembers its place in the store's memory, so that a test can damage it there.
class Marked final : public mend::Member {
 public:
  std::string shape() const override { return "marked"; }
  mend::ByteCount size() const override { return 8; }
  void pack(std::span<std::byte> to) const override {
    std::fill(to.begin(), to.end(), std::byte{42});
    last_place = to.data();
  }
  void unpack(std::span<const std::byte> from) override { got = from.front(); }
  static inline std::byte* last_place = nullptr;
  static inline std::byte got{};
};
