// Collective steps that several rooms need.

#pragma once

#include "transport/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// The lowest rank of `comm` on which `has` is true; nothing when it is true on none. Collective over `comm`. Throws as
/// check_mpi.
std::optional<int> lowest_rank_with(MPI_Comm comm, bool has);

/// What gather_padded has gathered: the values of each rank, all as long as the longest.
template <class T>
struct Gathered {
  std::vector<T> all;
  std::size_t length = 0;  ///< of each rank's
  std::span<const T> of(int rank) const {
    return std::span<const T>(all).subspan(static_cast<std::size_t>(rank) * length, length);
  }
};

/// The values of all ranks, by rank, with `padding` behind those that are shorter than the longest. They have equal
/// length because Open MPI's MPI_Allgatherv may return success without the data when a failure interrupts it
/// (docs/open-mpi.md). Collective over `comm`. Throws as check_mpi.
template <class T>
Gathered<T> gather_padded(MPI_Comm comm, std::vector<T> mine, T padding = {}) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  auto longest = static_cast<int>(mine.size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  mine.resize(static_cast<std::size_t>(longest), padding);
  Gathered<T> gathered{std::vector<T>(mine.size() * static_cast<std::size_t>(ranks)), mine.size()};
  const auto bytes = static_cast<int>(mine.size() * sizeof(T));
  check_mpi(MPI_Allgather(mine.data(), bytes, MPI_BYTE, gathered.all.data(), bytes, MPI_BYTE, comm), "MPI_Allgather");
  return gathered;
}

/// Each rank's text, by rank, with `padding` behind those that are shorter than the longest. Collective over `comm`.
/// Throws as check_mpi.
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine, char padding = '\0');

/// The lines of each rank's text, by rank, but for empty ones. Collective over `comm`. Throws as check_mpi.
std::vector<std::vector<std::string>> gather_lines(MPI_Comm comm, const std::string& mine);

/// Gives all ranks the bytes that rank `root` has, and their number. `bytes` (a std::string or a vector of bytes) is
/// the source on `root` and is replaced on the others. Collective over `comm`. Throws as check_mpi.
template <class Container>
void broadcast_bytes(MPI_Comm comm, int root, Container& bytes) {
  static_assert(sizeof(typename Container::value_type) == 1);
  std::uint64_t size = bytes.size();
  check_mpi(MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm), "MPI_Bcast");
  bytes.resize(size);
  check_mpi(MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, root, comm), "MPI_Bcast");
}

/// Shrinks `comm` to its living members, and has them do `attempt` in that communicator, whose errors are returned,
/// until all agree that they have: every round in vain has met a death. Returns the communicator; none if the library
/// cannot make one though nobody dies. `attempt` returns whether it has succeeded. Collective over the living members
/// of `comm`.
Communicator shrink_until_agreed(MPI_Comm comm, const std::function<bool(MPI_Comm)>& attempt);

}  // namespace mend
