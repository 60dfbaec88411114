// The value that is agreed on, and the operations that combine two values.
//
// Contributions meet at every process of the tree and are combined pairwise, in the order of their arrival. A
// contribution may be counted twice when a failure makes a process send its own again. So an operation must be
// associative, commutative and idempotent: and, or, minimum, maximum, union, but not a sum.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace mend::agreement {

/// 256 bits: flags, four numbers, or any trivially copyable type of up to 32 bytes (value_of, value_as).
struct Value {
  std::array<std::uint64_t, 4> words{};
  bool operator==(const Value&) const = default;
};

template <class T>
concept FitsInValue = std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(Value);

template <FitsInValue T>
Value value_of(const T& object) {
  Value value;
  std::memcpy(value.words.data(), &object, sizeof(T));
  return value;
}

template <FitsInValue T>
T value_as(const Value& value) {
  T object;
  std::memcpy(&object, value.words.data(), sizeof(T));
  return object;
}

/// The operation that combines values. Its number goes over the wire.
enum class Operation : std::uint8_t {
  bitwise_and,  ///< of all 256 bits
  bitwise_or,   ///< of all 256 bits; also the union of sets with up to 256 elements
  minimum,      ///< of each of the four words, unsigned
  maximum,      ///< of each of the four words, unsigned
  first_user,   ///< the first operation that Operations::add returns; the next ones follow
};

/// Combines `from` into `into`. Must be associative, commutative and idempotent; otherwise the decisions are
/// meaningless.
using Combine = void (*)(Value& into, const Value& from);

/// For Operations::add: applies T's own `combine(const T&, const T&) -> T` to values.
template <FitsInValue T, T (*combine)(const T&, const T&)>
void combine_as(Value& into, const Value& from) {
  into = value_of(combine(value_as<T>(into), value_as<T>(from)));
}

/// The operations of one group: the built-in ones and those its user has added, in the same order at every member.
class Operations {
 public:
  /// Throws UsageError when all 252 numbers are taken.
  Operation add(Combine function);

  /// Throws UsageError if `operation` was never added here.
  void combine(Operation operation, Value& into, const Value& from) const;

 private:
  std::vector<Combine> user_;
};

}  // namespace mend::agreement
