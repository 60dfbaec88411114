// What a test needs to damage data where the store keeps it.

#pragma once

#include "store/member.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

/// A member that remembers where in the store's memory it was put, so that a test can damage it there.
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
