// MPI calls that start an operation, and calls that local rollback does not cover. On session.comm() under
// --mend-rollback local, the former are logged, and the latter end the job with a sentence. The functions of MPI's
// profiling interface are intercepted, as in call_hooks.cpp.

#include "framework/process/library_function.hpp"
#include "framework/replay/local_rollback.hpp"

#include <mpi.h>

#include <optional>

namespace {

using Ends = mend::LoggedMessages::SendEnds;
using mend::Traffic;

/// Logs and sends a copy of the message, so the application's request is complete at once.
int begin_send(mend::LocalRollback& local, const void* data, int count, MPI_Datatype type, int to, int tag,
               MPI_Comm comm, MPI_Request* request) {
  const mend::Front& front = *local.front_of(comm);
  return local.in_call([&] {
    const int code = local.messages().send(front, Traffic::messages, data, count, type, to, tag, Ends::at_once);
    if (code != MPI_SUCCESS) return code;
    return PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
  });
}

int make_persistent(mend::LocalRollback& local, const void* data, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, std::optional<Ends> ends, MPI_Request* request) {
  const mend::Front& front = *local.front_of(comm);
  return local.in_call(
      [&] { return local.messages().make_persistent(front, data, count, type, peer, tag, ends, request); });
}

/// Returns the local rollback if this is one of its persistent requests; otherwise null.
mend::LocalRollback* owner_of_persistent(MPI_Request request) {
  mend::LocalRollback* const local = mend::local_rollback();
  return local != nullptr && local->messages().is_persistent(request) ? local : nullptr;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// The PMPI functions are replaced: C calls, the library's wrappers for Fortran and tools that intercept MPI all reach
// them.
#define MEND_SAME_AS_PMPI(name) extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))

using mend::of_the_library;

int PMPI_Rsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Rsend)>("PMPI_Rsend");
  if (auto* local = mend::local_rollback_of(comm)) {
    const mend::Front& front = *local->front_of(comm);
    return local->in_call(
        [&] { return local->messages().send(front, Traffic::messages, buf, count, type, to, tag, Ends::as_send); });
  }
  return library(buf, count, type, to, tag, comm);
}
MEND_SAME_AS_PMPI(MPI_Rsend);

int PMPI_Bsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Bsend)>("PMPI_Bsend");
  if (auto* local = mend::local_rollback_of(comm)) {
    const mend::Front& front = *local->front_of(comm);
    return local->in_call(
        [&] { return local->messages().send(front, Traffic::messages, buf, count, type, to, tag, Ends::at_once); });
  }
  return library(buf, count, type, to, tag, comm);
}
MEND_SAME_AS_PMPI(MPI_Bsend);

int PMPI_Isend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Isend)>("PMPI_Isend");
  if (auto* local = mend::local_rollback_of(comm)) return begin_send(*local, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Isend);

int PMPI_Irsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Irsend)>("PMPI_Irsend");
  if (auto* local = mend::local_rollback_of(comm)) return begin_send(*local, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Irsend);

int PMPI_Ibsend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ibsend)>("PMPI_Ibsend");
  if (auto* local = mend::local_rollback_of(comm)) return begin_send(*local, buf, count, type, to, tag, comm, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ibsend);

int PMPI_Irecv(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Irecv)>("PMPI_Irecv");
  if (auto* local = mend::local_rollback_of(comm)) {
    const mend::Front& front = *local->front_of(comm);
    return local->in_call([&] { return local->messages().begin_receive(front, buf, count, type, from, tag, request); });
  }
  return library(buf, count, type, from, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Irecv);

// Calls that local rollback does not cover.

int PMPI_Issend(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Issend)>("PMPI_Issend");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Issend");
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Issend);

int PMPI_Send_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Send_init)>("PMPI_Send_init");
  if (auto* local = mend::local_rollback_of(comm))
    return make_persistent(*local, buf, count, type, to, tag, comm, Ends::at_once, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Send_init);

int PMPI_Ssend_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ssend_init)>("PMPI_Ssend_init");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ssend_init");
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ssend_init);

int PMPI_Rsend_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Rsend_init)>("PMPI_Rsend_init");
  if (auto* local = mend::local_rollback_of(comm))
    return make_persistent(*local, buf, count, type, to, tag, comm, Ends::at_once, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Rsend_init);

int PMPI_Bsend_init(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Bsend_init)>("PMPI_Bsend_init");
  if (auto* local = mend::local_rollback_of(comm))
    return make_persistent(*local, buf, count, type, to, tag, comm, Ends::at_once, request);
  return library(buf, count, type, to, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Bsend_init);

int PMPI_Recv_init(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Recv_init)>("PMPI_Recv_init");
  if (auto* local = mend::local_rollback_of(comm))
    return make_persistent(*local, buf, count, type, from, tag, comm, std::nullopt, request);
  return library(buf, count, type, from, tag, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Recv_init);

int PMPI_Start(MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Start)>("PMPI_Start");
  if (auto* local = owner_of_persistent(*request))
    return local->in_call([&] { return local->messages().start(*request); });
  return library(request);
}
MEND_SAME_AS_PMPI(MPI_Start);

int PMPI_Startall(int count, MPI_Request requests[]) {
  static const auto library = of_the_library<decltype(&PMPI_Startall)>("PMPI_Startall");
  if (mend::local_rollback() == nullptr) return library(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = PMPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}
MEND_SAME_AS_PMPI(MPI_Startall);

int PMPI_Request_free(MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Request_free)>("PMPI_Request_free");
  if (auto* local = owner_of_persistent(*request))
    return local->in_call([&] { return local->messages().free_persistent(request); });
  return library(request);
}
MEND_SAME_AS_PMPI(MPI_Request_free);

int PMPI_Cancel(MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Cancel)>("PMPI_Cancel");
  auto* const local = mend::local_rollback();
  if (local != nullptr && local->messages().has_any({request, 1}))
    return local->in_call([&] { return local->messages().cancel(*request); });
  return library(request);
}
MEND_SAME_AS_PMPI(MPI_Cancel);

int PMPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  static const auto library = of_the_library<decltype(&PMPI_Mprobe)>("PMPI_Mprobe");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Mprobe");
  return library(from, tag, comm, message, status);
}
MEND_SAME_AS_PMPI(MPI_Mprobe);

int PMPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  static const auto library = of_the_library<decltype(&PMPI_Improbe)>("PMPI_Improbe");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Improbe");
  return library(from, tag, comm, flag, message, status);
}
MEND_SAME_AS_PMPI(MPI_Improbe);

int PMPI_Alltoallw(const void* out, const int out_counts[], const int out_offsets[], const MPI_Datatype out_types[],
                   void* in, const int in_counts[], const int in_offsets[], const MPI_Datatype in_types[],
                   MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Alltoallw)>("PMPI_Alltoallw");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Alltoallw");
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm);
}
MEND_SAME_AS_PMPI(MPI_Alltoallw);

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ibarrier)>("PMPI_Ibarrier");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ibarrier");
  return library(comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ibarrier);

int PMPI_Ibcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ibcast)>("PMPI_Ibcast");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ibcast");
  return library(buf, count, type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ibcast);

int PMPI_Ireduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                 MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ireduce)>("PMPI_Ireduce");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ireduce");
  return library(out, in, count, type, op, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ireduce);

int PMPI_Iallreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iallreduce)>("PMPI_Iallreduce");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iallreduce");
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iallreduce);

int PMPI_Iscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iscan)>("PMPI_Iscan");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iscan");
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iscan);

int PMPI_Iexscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iexscan)>("PMPI_Iexscan");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iexscan");
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iexscan);

int PMPI_Ireduce_scatter(const void* out, void* in, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ireduce_scatter)>("PMPI_Ireduce_scatter");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ireduce_scatter");
  return library(out, in, counts, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ireduce_scatter);

int PMPI_Ireduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ireduce_scatter_block)>("PMPI_Ireduce_scatter_block");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ireduce_scatter_block");
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ireduce_scatter_block);

int PMPI_Igather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 int root, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Igather)>("PMPI_Igather");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Igather");
  return library(out, out_count, out_type, in, in_count, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Igather);

int PMPI_Igatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                  const int offsets[], MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Igatherv)>("PMPI_Igatherv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Igatherv");
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Igatherv);

int PMPI_Iscatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                  int root, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iscatter)>("PMPI_Iscatter");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iscatter");
  return library(out, out_count, out_type, in, in_count, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iscatter);

int PMPI_Iscatterv(const void* out, const int out_counts[], const int offsets[], MPI_Datatype out_type, void* in,
                   int in_count, MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iscatterv)>("PMPI_Iscatterv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iscatterv");
  return library(out, out_counts, offsets, out_type, in, in_count, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iscatterv);

int PMPI_Iallgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                    MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iallgather)>("PMPI_Iallgather");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iallgather");
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iallgather);

int PMPI_Iallgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                     const int offsets[], MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Iallgatherv)>("PMPI_Iallgatherv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Iallgatherv");
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iallgatherv);

int PMPI_Ialltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                   MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ialltoall)>("PMPI_Ialltoall");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ialltoall");
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ialltoall);

int PMPI_Ialltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type, void* in,
                    const int in_counts[], const int in_offsets[], MPI_Datatype in_type, MPI_Comm comm,
                    MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ialltoallv)>("PMPI_Ialltoallv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ialltoallv");
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ialltoallv);

int PMPI_Ialltoallw(const void* out, const int out_counts[], const int out_offsets[], const MPI_Datatype out_types[],
                    void* in, const int in_counts[], const int in_offsets[], const MPI_Datatype in_types[],
                    MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ialltoallw)>("PMPI_Ialltoallw");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ialltoallw");
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ialltoallw);

int PMPI_Neighbor_allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                            MPI_Datatype in_type, MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_allgather)>("PMPI_Neighbor_allgather");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Neighbor_allgather");
  return library(out, out_count, out_type, in, in_count, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_allgather);

int PMPI_Neighbor_allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                             const int in_offsets[], MPI_Datatype in_type, MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_allgatherv)>("PMPI_Neighbor_allgatherv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Neighbor_allgatherv");
  return library(out, out_count, out_type, in, in_counts, in_offsets, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_allgatherv);

int PMPI_Neighbor_alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                           MPI_Datatype in_type, MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_alltoall)>("PMPI_Neighbor_alltoall");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Neighbor_alltoall");
  return library(out, out_count, out_type, in, in_count, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_alltoall);

int PMPI_Neighbor_alltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type,
                            void* in, const int in_counts[], const int in_offsets[], MPI_Datatype in_type,
                            MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_alltoallv)>("PMPI_Neighbor_alltoallv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Neighbor_alltoallv");
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_alltoallv);

int PMPI_Neighbor_alltoallw(const void* out, const int out_counts[], const MPI_Aint out_offsets[],
                            const MPI_Datatype out_types[], void* in, const int in_counts[],
                            const MPI_Aint in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm) {
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_alltoallw)>("PMPI_Neighbor_alltoallw");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Neighbor_alltoallw");
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_alltoallw);

int PMPI_Ineighbor_allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                             MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_allgather)>("PMPI_Ineighbor_allgather");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ineighbor_allgather");
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_allgather);

int PMPI_Ineighbor_allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                              const int in_offsets[], MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_allgatherv)>("PMPI_Ineighbor_allgatherv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ineighbor_allgatherv");
  return library(out, out_count, out_type, in, in_counts, in_offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_allgatherv);

int PMPI_Ineighbor_alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                            MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_alltoall)>("PMPI_Ineighbor_alltoall");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ineighbor_alltoall");
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_alltoall);

int PMPI_Ineighbor_alltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type,
                             void* in, const int in_counts[], const int in_offsets[], MPI_Datatype in_type,
                             MPI_Comm comm, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_alltoallv)>("PMPI_Ineighbor_alltoallv");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ineighbor_alltoallv");
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_alltoallv);

int PMPI_Ineighbor_alltoallw(const void* out, const int out_counts[], const MPI_Aint out_offsets[],
                             const MPI_Datatype out_types[], void* in, const int in_counts[],
                             const MPI_Aint in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm,
                             MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_alltoallw)>("PMPI_Ineighbor_alltoallw");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Ineighbor_alltoallw");
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_alltoallw);

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  static const auto library = of_the_library<decltype(&PMPI_Comm_idup)>("PMPI_Comm_idup");
  if (auto* local = mend::local_rollback_of(comm)) return local->refuse("MPI_Comm_idup");
  return library(comm, made, request);
}
MEND_SAME_AS_PMPI(MPI_Comm_idup);

// NOLINTEND(readability-identifier-naming)
