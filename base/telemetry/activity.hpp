// Signs of life of the application's thread, beside the place where it is in mend (base/telemetry/place.hpp): a counter
// that moves with every call of mend, and with every MPI call that begins or ends, and the blocking MPI call that the
// thread is in. The control thread reads it, to tell of jobs in which nothing moves (detector/stall/stall_watch.hpp).
//
// Both are one atomic word with one writer, so that an MPI call costs no more than two stores.

#pragma once

#include <cstdint>
#include <string_view>

namespace mend {

/// The numbers are bytes on the wire.
enum class MpiCall : std::uint8_t {
  none,  ///< in none of these
  send,
  ssend,
  recv,
  sendrecv,
  sendrecv_replace,
  probe,
  wait,
  waitall,
  waitany,
  waitsome,
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
};
inline constexpr MpiCall last_mpi_call = MpiCall::alltoallv;

/// "MPI_Recv".
std::string_view name_of(MpiCall call);

/// Not those that wait for requests only.
bool uses_communicator(MpiCall call);

struct Activity {
  std::uint64_t moves = 0;  ///< so far
  MpiCall call = MpiCall::none;
};

/// Any thread. Local.
Activity current_activity();

/// The application has called mend, or something that it waits for has come. Main thread. Local.
void note_activity();

/// While it lives, the main thread is in `call`. An error handler that jumps out of MPI leaves it there until the next
/// call.
class InMpiCall {
 public:
  explicit InMpiCall(MpiCall call);
  ~InMpiCall();
  InMpiCall(const InMpiCall&) = delete;
  InMpiCall& operator=(const InMpiCall&) = delete;

 private:
  MpiCall before_;
};

}  // namespace mend
