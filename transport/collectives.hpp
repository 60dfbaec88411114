// Collective steps that are used in several folders.

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

/// Returns the lowest rank of `comm` on which `has` is true; nothing if it is true on no rank. Collective over `comm`.
/// Throws as check_mpi.
std::optional<int> lowest_rank_with(MPI_Comm comm, bool has);

/// The result of gather_padded: the values of each rank, padded to the length of the longest.
template <class T>
struct Gathered {
  std::vector<T> all;
  std::size_t length = 0;  ///< of each rank's part
  std::span<const T> of(int rank) const {
    return std::span<const T>(all).subspan(static_cast<std::size_t>(rank) * length, length);
  }
};

/// Gathers the values of all ranks, by rank. Values shorter than the longest are extended with `padding`: they have
/// equal length because Open MPI's MPI_Allgatherv may return success without the data when a failure interrupts it
/// (docs/open-mpi.md). Collective over `comm`. Throws as check_mpi.
template <class T>
Gathered<T> gather_padded(MPI_Comm comm, std::vector<T> mine, T padding = {}) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  auto longest = static_cast<int>(mine.size());
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, comm); }, "MPI_Allreduce");
  mine.resize(static_cast<std::size_t>(longest), padding);
  Gathered<T> gathered{std::vector<T>(mine.size() * static_cast<std::size_t>(ranks)), mine.size()};
  const auto bytes = static_cast<int>(mine.size() * sizeof(T));
  call_mpi([&] { return MPI_Allgather(mine.data(), bytes, MPI_BYTE, gathered.all.data(), bytes, MPI_BYTE, comm); },
           "MPI_Allgather", gathered.all.size() * sizeof(T));
  return gathered;
}

/// Gathers each rank's text, by rank. Texts shorter than the longest are extended with `padding`. Collective over
/// `comm`. Throws as check_mpi.
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine, char padding = '\0');

/// Gathers the lines of each rank's text, by rank, without empty lines. Collective over `comm`. Throws as check_mpi.
std::vector<std::vector<std::string>> gather_lines(MPI_Comm comm, const std::string& mine);

/// Gives all ranks the bytes of rank `root`, and their number. `bytes` (a std::string or a vector of bytes) is the
/// source on `root` and is replaced on the others. Collective over `comm`. Throws as check_mpi.
template <class Container>
void broadcast_bytes(MPI_Comm comm, int root, Container& bytes) {
  static_assert(sizeof(typename Container::value_type) == 1);
  std::uint64_t size = bytes.size();
  call_mpi([&] { return MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm); }, "MPI_Bcast");
  bytes.resize(size);
  call_mpi([&] { return MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, root, comm); }, "MPI_Bcast", size);
}

/// Sends `words` to rank `to`, and returns the words that rank `from` sends; either may be MPI_PROC_NULL. It calls the
/// functions of MPI by their PMPI names, so it can be used inside mend's own versions of MPI functions. Throws as
/// check_mpi.
std::vector<std::uint64_t> exchange_words(MPI_Comm comm, int to, int from, int tag,
                                          const std::vector<std::uint64_t>& words);

/// Sends each rank of `comm` the words that `words_for` returns for it. Returns the words that each rank has for this
/// one, by rank, with its own. Collective over `comm`. Throws as exchange_words.
std::vector<std::vector<std::uint64_t>> exchange_words_with_all(
    MPI_Comm comm, int tag, const std::function<std::vector<std::uint64_t>(int rank)>& words_for);

/// Shrinks `comm` to its living members and runs `attempt` in the new communicator, which returns errors. Repeats this
/// until all members agree that `attempt` has succeeded; every failed round has met a death. Returns the communicator;
/// none if the library cannot make one although no process dies. `attempt` returns true if it has succeeded. Collective
/// over the living members of `comm`.
Communicator shrink_until_agreed(MPI_Comm comm, const std::function<bool(MPI_Comm)>& attempt);

}  // namespace mend
