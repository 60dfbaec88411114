// Identities and counters have types of their own, so that a rank cannot be used as a process by mistake. Each type
// converts to its number, to be passed to MPI, printed, or compared with a number. A number does not convert to one of
// these types unless the type is named, and values of two different types cannot be compared.

#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace mend {

/// A process: an identity that is given once and never reused, not even after its death. The processes of the first
/// launch are numbered by their rank in MPI_COMM_WORLD.
struct ProcessId {
  std::uint32_t value = 0;
  auto operator<=>(const ProcessId&) const = default;
  constexpr operator std::uint32_t() const { return value; }
};

/// A position in the application's communicator, 0 to size-1. Different processes may hold it one after another.
struct Rank {
  int value = 0;
  auto operator<=>(const Rank&) const = default;
  constexpr operator int() const { return value; }
};

/// A machine, or another unit that fails as a whole. When a node is lost, all processes with its NodeId are lost.
struct NodeId {
  std::uint32_t value = 0;
  auto operator<=>(const NodeId&) const = default;
  constexpr operator std::uint32_t() const { return value; }
};

/// Counts recoveries: 0 until the first failure has been recovered from.
struct Epoch {
  std::uint32_t value = 0;
  auto operator<=>(const Epoch&) const = default;
  constexpr operator std::uint32_t() const { return value; }
  Epoch next() const { return {value + 1}; }
};

/// Counts commits; 0 means that there was no commit.
struct Version {
  std::uint64_t value = 0;
  auto operator<=>(const Version&) const = default;
  constexpr operator std::uint64_t() const { return value; }
  Version next() const { return {value + 1}; }
};

template <class T>
concept Identity = std::same_as<T, ProcessId> || std::same_as<T, Rank> || std::same_as<T, NodeId> ||
    std::same_as<T, Epoch> || std::same_as<T, Version>;

template <Identity A, Identity B>
requires(!std::same_as<A, B>) bool operator==(A, B) = delete;
template <Identity A, Identity B>
requires(!std::same_as<A, B>) std::partial_ordering operator<=>(A, B) = delete;

/// A number of bytes.
using ByteCount = std::size_t;

}  // namespace mend

template <>
struct std::hash<mend::ProcessId> {
  std::size_t operator()(mend::ProcessId id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
