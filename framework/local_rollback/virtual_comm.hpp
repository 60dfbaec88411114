#pragma once

#include "transport/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace mend {

/// The kinds of messages on the communicators beneath a virtual communicator.
enum class Traffic : std::uint8_t {
  messages,     ///< the application's own
  collectives,  ///< the messages of collective calls
};

/// A communicator as the application sees it, over all recoveries. Its messages are sent in the communicators beneath
/// it, which belong to the epoch. A process has the same rank in all of them.
struct VirtualComm {
  Communicator handle;                                          ///< what the application holds; carries no message
  std::array<MPI_Comm, 2> comms{MPI_COMM_NULL, MPI_COMM_NULL};  ///< beneath it, by Traffic
  std::uint32_t number = 0;                                     ///< the same on all its ranks; 0: session.comm()
  /// The tag of the messages of collective calls, where several virtual communicators share a communicator for them.
  int collectives_tag = 0;
  int rank = 0;
  int size = 0;
  std::vector<int> members;  ///< its ranks, as numbered in session.comm()

  MPI_Comm comm(Traffic traffic) const { return comms[static_cast<std::size_t>(traffic)]; }
  std::uint32_t context(Traffic traffic) const { return 2 * number + static_cast<std::uint32_t>(traffic); }
  int member(int of_rank) const { return members[static_cast<std::size_t>(of_rank)]; }
  int rank_of(int of_member) const { return static_cast<int>(std::ranges::find(members, of_member) - members.begin()); }
};

}  // namespace mend
