// The activity of the application's thread, in addition to its place in mend (base/telemetry/place.hpp): a counter of
// moves, which counts every call of mend and every begin and end of a blocking MPI call, and the blocking MPI call that
// the thread is in. The control thread reads them to report jobs in which nothing moves
// (detector/stall/stall_watch.hpp).
//
// Both are in one atomic word with one writer, so that an MPI call costs only two stores.
//
// Calls that look for messages without waiting, as MPI_Test, are polls. Polls have a counter of their own, so that a
// thread that polls is not taken for one that computes. A poll is also a move if it completes a request or matches a
// message; one that only looks, as MPI_Iprobe, is no move.

#pragma once

#include "base/death/forked_child.hpp"
#include "base/telemetry/packed_word.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mend {

/// The blocking MPI call that a thread is in. The numbers are bytes on the wire.
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
  alltoallw,
  mprobe,
  comm_dup,
  comm_dup_with_info,
  comm_split,
  comm_split_type,
  comm_create,
  comm_create_group,
  cart_create,
  cart_sub,
  graph_create,
  dist_graph_create,
  dist_graph_create_adjacent,
  intercomm_create,
  intercomm_merge,
  comm_spawn,
  comm_spawn_multiple,
  comm_accept,
  comm_connect,
  comm_join,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
};
inline constexpr MpiCall last_mpi_call = MpiCall::neighbor_alltoallw;

/// Returns the name of the MPI function, for instance "MPI_Recv".
std::string_view name_of(MpiCall call);

/// Returns the call of that name; `none` if it is not one of these.
MpiCall mpi_call_named(std::string_view name);

/// Returns false for calls that only wait for requests, and for `none`.
bool uses_communicator(MpiCall call);

/// Holds a PackedWord: the call, and the number of moves. It is on the board of the job (base/telemetry/job_board.hpp),
/// where mend run reads it too.
extern std::atomic<std::uint64_t>* activity_word;

/// Notes a move after which the main thread is in `call`. Returns the call before it. Main thread. Local.
inline MpiCall move_to(MpiCall call) {
  const auto now = PackedWord<MpiCall>::from(activity_word->load(std::memory_order_relaxed));
  activity_word->store(PackedWord<MpiCall>{call, now.number + 1}.packed(), std::memory_order_relaxed);
  return now.what;
}

struct Activity {
  std::uint64_t moves = 0;  ///< so far
  MpiCall call = MpiCall::none;
};

/// Returns the activity of the main thread. Any thread. Local.
inline Activity current_activity() {
  const auto now = PackedWord<MpiCall>::from(activity_word->load(std::memory_order_relaxed));
  return {now.number, now.what};
}

/// Notes a move that is no begin or end of a blocking MPI call: the application has called mend, mend begins or ends a
/// wait in the library, or a poll has completed a request or matched a message. Main thread. Local.
void note_activity();

/// Marks the main thread as being in `call` during its lifetime. If an error handler jumps out of MPI, the mark stays
/// until the next note_activity(): other calls restore it when they end.
class InMpiCall {
 public:
  explicit InMpiCall(MpiCall call) { mark(call); }
  enum class Within { same_call };
  /// The same, but does nothing if the thread is marked as being in `call` already.
  InMpiCall(MpiCall call, Within) {
    if (current_activity().call != call) mark(call);
  }
  ~InMpiCall() {
    if (before_) move_to(*before_);
  }
  InMpiCall(const InMpiCall&) = delete;
  InMpiCall& operator=(const InMpiCall&) = delete;

 private:
  void mark(MpiCall call) {
    end_forked_child("called MPI");
    before_ = move_to(call);
  }

  std::optional<MpiCall> before_;  // nothing if this has not marked
};

/// Marks the main thread again, at the end of its lifetime, as being in the call that it was in at the beginning. What
/// mend does in between, on behalf of this call, ends the mark.
class CallMarkKept {
 public:
  CallMarkKept();
  ~CallMarkKept();
  CallMarkKept(const CallMarkKept&) = delete;
  CallMarkKept& operator=(const CallMarkKept&) = delete;

 private:
  MpiCall call_;
};

/// Counts a poll, and marks the main thread as being in it during its lifetime. A mark that an error handler leaves
/// behind when it jumps out of MPI stays until the process ends.
class InPoll {
 public:
  InPoll();
  ~InPoll();
  InPoll(const InPoll&) = delete;
  InPoll& operator=(const InPoll&) = delete;

 private:
  std::uint64_t before_;
};

struct Polls {
  std::uint64_t begun = 0;  ///< so far
  bool is_in_one = false;
};

/// Returns the polls of the main thread. Any thread. Local.
Polls current_polls();

}  // namespace mend
