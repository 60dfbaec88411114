// Endpoints over all of MPI_COMM_WORLD. The processes are numbered 10, 20, 30, ..., unlike the ranks.

#pragma once

#include "tests/support/world.hpp"
#include "transport/mpi_endpoint.hpp"

#include <cstring>
#include <vector>

namespace endpoints {

inline mend::ProcessId process_of(int rank) { return {static_cast<std::uint32_t>(10 * (rank + 1))}; }

inline std::vector<mend::ProcessId> everyone() {
  std::vector<mend::ProcessId> all;
  for (int rank = 0; rank < support::world_size(); ++rank) all.push_back(process_of(rank));
  return all;
}

/// Returns a message that begins with its number and has `size` bytes.
inline std::vector<std::byte> numbered(std::uint32_t number, std::size_t size) {
  std::vector<std::byte> bytes(std::max(size, sizeof number), static_cast<std::byte>(number));
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

inline std::uint32_t number_of(std::span<const std::byte> bytes) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

}  // namespace endpoints
