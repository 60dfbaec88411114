#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace mend {

/// A process: an identity that is given once and never reused, not even after its death.
/// The processes of the first launch are numbered by their rank in MPI_COMM_WORLD.
struct ProcessId {
  std::uint32_t value = 0;
  auto operator<=>(const ProcessId&) const = default;
};

/// A position in the application's communicator, 0 to size-1. Different processes may hold it one after another.
struct Rank {
  int value = 0;
  auto operator<=>(const Rank&) const = default;
};

/// A machine (or whatever fails as one): processes with equal NodeId share their fate when a node is lost.
struct NodeId {
  std::uint32_t value = 0;
  auto operator<=>(const NodeId&) const = default;
};

/// Counts recoveries: 0 until the first failure has been recovered from.
struct Epoch {
  std::uint32_t value = 0;
  auto operator<=>(const Epoch&) const = default;
  Epoch next() const { return {value + 1}; }
};

/// Counts commits: 0 means "nothing was ever committed".
struct Version {
  std::uint64_t value = 0;
  auto operator<=>(const Version&) const = default;
  Version next() const { return {value + 1}; }
};

/// A number of bytes.
using ByteCount = std::size_t;

}  // namespace mend

template <>
struct std::hash<mend::ProcessId> {
  std::size_t operator()(mend::ProcessId id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
