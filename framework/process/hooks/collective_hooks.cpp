// Non-blocking collective MPI calls, MPI_Alltoallw, and the end of their operations. On session.comm() under
// --mend-rollback local, they are logged. The functions of MPI's profiling interface are intercepted, as in
// call_hooks.cpp.

#include "base/telemetry/activity.hpp"
#include "transport/library_function.hpp"
#include "framework/process/hooks/fortran_caller.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "framework/process/hooks/refused_hooks.hpp"
#include "framework/local_rollback/blocks.hpp"
#include "framework/local_rollback/logged_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>

namespace mend {

void intercept_begun_collectives() {}

}  // namespace mend

namespace {

/// Calls `work` with the collectives made of logged messages and with the virtual communicator of `comm`, inside an
/// intercepted call. `request`: becomes null if the call fails; null for a blocking call.
template <class Work>
int in_call(mend::LoggedCalls& logged, MPI_Comm comm, MPI_Request* request, Work work) {
  if (request != nullptr) *request = MPI_REQUEST_NULL;  // programs in C that do not look at codes wait for it
  const mend::VirtualComm& virtual_comm = *logged.virtual_comm_of(comm);
  return logged.in_call([&] { return work(logged.collectives(), virtual_comm); });
}

using Collectives = mend::LoggedCollectives;
using mend::of_the_library;
using mend::refuse_in_fortran;
using mend::VirtualComm;

/// Returns true for the operations that MPI itself has. It refuses to free them.
bool is_operation_of_mpi(MPI_Op op) {
  const std::array all{MPI_OP_NULL, MPI_MAX,  MPI_MIN,  MPI_SUM,    MPI_PROD,   MPI_LAND,    MPI_BAND, MPI_LOR,
                       MPI_BOR,     MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  return std::ranges::find(all, op) != all.end();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ibarrier)>("PMPI_Ibarrier");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_barrier(virtual_comm, request);
    });
  }
  return library(comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ibarrier);

int PMPI_Ibcast(void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ibcast)>("PMPI_Ibcast");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_bcast(virtual_comm, buf, count, type, root, request);
    });
  }
  return library(buf, count, type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ibcast);

int PMPI_Ireduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                 MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ireduce)>("PMPI_Ireduce");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_reduce(virtual_comm, out, in, count, type, op, root, request);
    });
  }
  return library(out, in, count, type, op, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ireduce);

int PMPI_Iallreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iallreduce)>("PMPI_Iallreduce");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_allreduce(virtual_comm, out, in, count, type, op, request);
    });
  }
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iallreduce);

int PMPI_Iscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iscan)>("PMPI_Iscan");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_scan(virtual_comm, out, in, count, type, op, request);
    });
  }
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iscan);

int PMPI_Iexscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iexscan)>("PMPI_Iexscan");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_exscan(virtual_comm, out, in, count, type, op, request);
    });
  }
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iexscan);

int PMPI_Ireduce_scatter(const void* out, void* in, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ireduce_scatter)>("PMPI_Ireduce_scatter");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Ireduce_scatter", __builtin_return_address(0), request))
      return *code;
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_reduce_scatter(virtual_comm, out, in, counts, type, op, request);
    });
  }
  return library(out, in, counts, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ireduce_scatter);

int PMPI_Ireduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ireduce_scatter_block)>("PMPI_Ireduce_scatter_block");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, count);
      return collectives.begin_reduce_scatter(virtual_comm, out, in, blocks.counts.data(), type, op, request);
    });
  }
  return library(out, in, count, type, op, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ireduce_scatter_block);

int PMPI_Igather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 int root, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Igather)>("PMPI_Igather");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, in_count);
      return collectives.begin_gatherv(virtual_comm, out, out_count, out_type, in, blocks.counts.data(),
                                       blocks.offsets.data(), in_type, root, request);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Igather);

int PMPI_Igatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                  const int offsets[], MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Igatherv)>("PMPI_Igatherv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Igatherv", __builtin_return_address(0), request))
      return *code;
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_gatherv(virtual_comm, out, out_count, out_type, in, in_counts, offsets, in_type, root,
                                       request);
    });
  }
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Igatherv);

int PMPI_Iscatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                  int root, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iscatter)>("PMPI_Iscatter");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, out_count);
      return collectives.begin_scatterv(virtual_comm, out, blocks.counts.data(), blocks.offsets.data(), out_type, in,
                                        in_count, in_type, root, request);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iscatter);

int PMPI_Iscatterv(const void* out, const int out_counts[], const int offsets[], MPI_Datatype out_type, void* in,
                   int in_count, MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iscatterv)>("PMPI_Iscatterv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Iscatterv", __builtin_return_address(0), request))
      return *code;
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_scatterv(virtual_comm, out, out_counts, offsets, out_type, in, in_count, in_type, root,
                                        request);
    });
  }
  return library(out, out_counts, offsets, out_type, in, in_count, in_type, root, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iscatterv);

int PMPI_Iallgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                    MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iallgather)>("PMPI_Iallgather");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      const auto blocks = mend::Blocks::equal(virtual_comm.size, in_count);
      return collectives.begin_allgatherv(virtual_comm, out, out_count, out_type, in, blocks.counts.data(),
                                          blocks.offsets.data(), in_type, request);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iallgather);

int PMPI_Iallgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                     const int offsets[], MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Iallgatherv)>("PMPI_Iallgatherv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Iallgatherv", __builtin_return_address(0), request))
      return *code;
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_allgatherv(virtual_comm, out, out_count, out_type, in, in_counts, offsets, in_type,
                                          request);
    });
  }
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Iallgatherv);

int PMPI_Ialltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                   MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ialltoall)>("PMPI_Ialltoall");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      const auto from = mend::Blocks::equal(virtual_comm.size, out_count);
      const auto to = mend::Blocks::equal(virtual_comm.size, in_count);
      return collectives.begin_alltoallv(virtual_comm, out, from.counts.data(), from.offsets.data(), out_type, in,
                                         to.counts.data(), to.offsets.data(), in_type, request);
    });
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ialltoall);

int PMPI_Ialltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type, void* in,
                    const int in_counts[], const int in_offsets[], MPI_Datatype in_type, MPI_Comm comm,
                    MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ialltoallv)>("PMPI_Ialltoallv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Ialltoallv", __builtin_return_address(0), request))
      return *code;
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_alltoallv(virtual_comm, out, out_counts, out_offsets, out_type, in, in_counts,
                                         in_offsets, in_type, request);
    });
  }
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ialltoallv);

int PMPI_Ialltoallw(const void* out, const int out_counts[], const int out_offsets[], const MPI_Datatype out_types[],
                    void* in, const int in_counts[], const int in_offsets[], const MPI_Datatype in_types[],
                    MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ialltoallw)>("PMPI_Ialltoallw");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Ialltoallw", __builtin_return_address(0), request))
      return *code;
    return in_call(*logged, comm, request, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.begin_alltoallw(virtual_comm, out, out_counts, out_offsets, out_types, in, in_counts,
                                         in_offsets, in_types, request);
    });
  }
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ialltoallw);

int PMPI_Alltoallw(const void* out, const int out_counts[], const int out_offsets[], const MPI_Datatype out_types[],
                   void* in, const int in_counts[], const int in_offsets[], const MPI_Datatype in_types[],
                   MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Alltoallw)>("PMPI_Alltoallw");
  const mend::InMpiCall call(mend::MpiCall::alltoallw);
  if (auto* logged = mend::logged_calls_of(comm)) {
    return in_call(*logged, comm, nullptr, [&](Collectives& collectives, const VirtualComm& virtual_comm) {
      return collectives.alltoallw(virtual_comm, out, out_counts, out_offsets, out_types, in, in_counts, in_offsets,
                                   in_types);
    });
  }
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm);
}
MEND_SAME_AS_PMPI(MPI_Alltoallw);

int PMPI_Op_free(MPI_Op* op) {
  static const auto library = of_the_library<decltype(&PMPI_Op_free)>("PMPI_Op_free");
  auto* const logged = mend::logged_calls();
  if (logged == nullptr || op == nullptr || is_operation_of_mpi(*op) || !logged->collectives().keep(*op))
    return library(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
MEND_SAME_AS_PMPI(MPI_Op_free);

// NOLINTEND(readability-identifier-naming)
