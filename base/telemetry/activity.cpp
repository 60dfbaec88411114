#include "base/telemetry/activity.hpp"

#include "base/death/forked_child.hpp"
#include "base/telemetry/job_board.hpp"
#include "base/telemetry/packed_word.hpp"

#include <atomic>

namespace mend {
namespace {

using Word = PackedWord<MpiCall>;  // the call, and the number of moves

/// Holds a Word. mend run reads it too.
std::atomic<std::uint64_t>& word() { return board::mine().activity; }

Word word_now() { return Word::from(word().load(std::memory_order_relaxed)); }

/// Returns the previous call.
MpiCall move_to(MpiCall call) {
  const Word now = word_now();
  word().store(Word{call, now.number + 1}.packed(), std::memory_order_relaxed);
  return now.what;
}

}  // namespace

std::string_view name_of(MpiCall call) {
  switch (call) {
    case MpiCall::none: return "no MPI call";
    case MpiCall::send: return "MPI_Send";
    case MpiCall::ssend: return "MPI_Ssend";
    case MpiCall::recv: return "MPI_Recv";
    case MpiCall::sendrecv: return "MPI_Sendrecv";
    case MpiCall::sendrecv_replace: return "MPI_Sendrecv_replace";
    case MpiCall::probe: return "MPI_Probe";
    case MpiCall::wait: return "MPI_Wait";
    case MpiCall::waitall: return "MPI_Waitall";
    case MpiCall::waitany: return "MPI_Waitany";
    case MpiCall::waitsome: return "MPI_Waitsome";
    case MpiCall::barrier: return "MPI_Barrier";
    case MpiCall::bcast: return "MPI_Bcast";
    case MpiCall::reduce: return "MPI_Reduce";
    case MpiCall::allreduce: return "MPI_Allreduce";
    case MpiCall::reduce_scatter: return "MPI_Reduce_scatter";
    case MpiCall::reduce_scatter_block: return "MPI_Reduce_scatter_block";
    case MpiCall::scan: return "MPI_Scan";
    case MpiCall::exscan: return "MPI_Exscan";
    case MpiCall::gather: return "MPI_Gather";
    case MpiCall::gatherv: return "MPI_Gatherv";
    case MpiCall::scatter: return "MPI_Scatter";
    case MpiCall::scatterv: return "MPI_Scatterv";
    case MpiCall::allgather: return "MPI_Allgather";
    case MpiCall::allgatherv: return "MPI_Allgatherv";
    case MpiCall::alltoall: return "MPI_Alltoall";
    case MpiCall::alltoallv: return "MPI_Alltoallv";
  }
  return "?";
}

bool uses_communicator(MpiCall call) {
  switch (call) {
    case MpiCall::none:
    case MpiCall::wait:
    case MpiCall::waitall:
    case MpiCall::waitany:
    case MpiCall::waitsome: return false;
    default: return true;
  }
}

Activity current_activity() {
  const Word now = word_now();
  return {now.number, now.what};
}

void note_activity() {
  end_forked_child("called mend or MPI");
  move_to(MpiCall::none);
}

InMpiCall::InMpiCall(MpiCall call) {
  end_forked_child("called MPI");
  before_ = move_to(call);
}
InMpiCall::~InMpiCall() { move_to(before_); }

}  // namespace mend
