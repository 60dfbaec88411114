#pragma once

#include <cstdint>

namespace mend::transport {

/// A fingerprint of a state, of 128 bits. Equal states have equal fingerprints. The chance that any two different
/// states have equal ones is about the number of pairs of states divided by 2^128. The explorer compares states by it.
class Fingerprint {
 public:
  void add(std::uint64_t word) {
    low_ = mix(low_ ^ word);
    high_ = mix(high_ + (word * 0x9e3779b97f4a7c15U) + low_);
  }
  void add(const Fingerprint& other) {
    add(other.low_);
    add(other.high_);
  }

  std::uint64_t low() const { return low_; }
  std::uint64_t high() const { return high_; }
  bool operator==(const Fingerprint&) const = default;

 private:
  static std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64: a bijection
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }

  std::uint64_t low_ = 0x6a09e667f3bcc908U;
  std::uint64_t high_ = 0xbb67ae8584caa73bU;
};

struct FingerprintHash {
  std::size_t operator()(const Fingerprint& print) const noexcept { return print.low(); }
};

}  // namespace mend::transport
