#include "base/telemetry/activity.hpp"

#include <atomic>

namespace mend {
namespace {

/// The number of polls so far, and in the lowest bit whether the thread is in one. One writer.
std::atomic<std::uint64_t> polls{0};
constexpr std::uint64_t in_one = 1;

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
    case MpiCall::alltoallw: return "MPI_Alltoallw";
    case MpiCall::mprobe: return "MPI_Mprobe";
    case MpiCall::comm_dup: return "MPI_Comm_dup";
    case MpiCall::comm_dup_with_info: return "MPI_Comm_dup_with_info";
    case MpiCall::comm_split: return "MPI_Comm_split";
    case MpiCall::comm_split_type: return "MPI_Comm_split_type";
    case MpiCall::comm_create: return "MPI_Comm_create";
    case MpiCall::comm_create_group: return "MPI_Comm_create_group";
    case MpiCall::cart_create: return "MPI_Cart_create";
    case MpiCall::cart_sub: return "MPI_Cart_sub";
    case MpiCall::graph_create: return "MPI_Graph_create";
    case MpiCall::dist_graph_create: return "MPI_Dist_graph_create";
    case MpiCall::dist_graph_create_adjacent: return "MPI_Dist_graph_create_adjacent";
    case MpiCall::intercomm_create: return "MPI_Intercomm_create";
    case MpiCall::intercomm_merge: return "MPI_Intercomm_merge";
    case MpiCall::comm_spawn: return "MPI_Comm_spawn";
    case MpiCall::comm_spawn_multiple: return "MPI_Comm_spawn_multiple";
    case MpiCall::comm_accept: return "MPI_Comm_accept";
    case MpiCall::comm_connect: return "MPI_Comm_connect";
    case MpiCall::comm_join: return "MPI_Comm_join";
    case MpiCall::neighbor_allgather: return "MPI_Neighbor_allgather";
    case MpiCall::neighbor_allgatherv: return "MPI_Neighbor_allgatherv";
    case MpiCall::neighbor_alltoall: return "MPI_Neighbor_alltoall";
    case MpiCall::neighbor_alltoallv: return "MPI_Neighbor_alltoallv";
    case MpiCall::neighbor_alltoallw: return "MPI_Neighbor_alltoallw";
  }
  return "?";
}

MpiCall mpi_call_named(std::string_view name) {
  for (auto call = static_cast<int>(last_mpi_call); call > 0; --call) {
    if (name_of(static_cast<MpiCall>(call)) == name) return static_cast<MpiCall>(call);
  }
  return MpiCall::none;
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

void note_activity() {
  end_forked_child("called mend or MPI");
  move_to(MpiCall::none);
}

CallMarkKept::CallMarkKept() : call_(current_activity().call) {}
CallMarkKept::~CallMarkKept() { move_to(call_); }

InPoll::InPoll() : before_(polls.load(std::memory_order_relaxed)) {
  polls.store((before_ | in_one) + 2, std::memory_order_relaxed);
}
InPoll::~InPoll() {
  const std::uint64_t now = polls.load(std::memory_order_relaxed);
  polls.store((now & ~in_one) | (before_ & in_one), std::memory_order_relaxed);
}

Polls current_polls() {
  const std::uint64_t now = polls.load(std::memory_order_relaxed);
  return {now >> 1, (now & in_one) != 0};
}

}  // namespace mend
