// Neighbourhood collectives. On communicators that are made of session.comm() under --mend-rollback local, they are
// logged. The functions of MPI's profiling interface are intercepted, as in call_hooks.cpp.

#include "base/telemetry/activity.hpp"
#include "transport/library_function.hpp"
#include "framework/process/hooks/fortran_caller.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "framework/process/hooks/refused_hooks.hpp"
#include "framework/local_rollback/logged_calls.hpp"
#include "framework/local_rollback/collectives/neighbours.hpp"
#include "framework/local_rollback/values.hpp"

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace mend {

void intercept_neighbours() {}

namespace {

using ExpectedBlocks = std::vector<LoggedMessages::Expected>;

/// Makes the exchange on `comm` of logged messages. `out` and `in` are called with the number of a neighbour, and
/// return its block. `request`: null for a blocking call.
template <class Out, class In>
int exchange(LoggedCalls& logged, MPI_Comm comm, MPI_Request* request, Out out, In in) {
  if (request != nullptr) *request = MPI_REQUEST_NULL;  // as in collective_hooks.cpp
  const VirtualComm& virtual_comm = *logged.virtual_comm_of(comm);
  return logged.in_call([&] {
    Neighbours neighbours;
    if (const int code = find_neighbours(virtual_comm, neighbours); code != MPI_SUCCESS) return code;
    ExpectedBlocks given;
    ExpectedBlocks expected;
    for (int i = 0; i < static_cast<int>(neighbours.destinations.size()); ++i) given.push_back(out(i));
    for (int i = 0; i < static_cast<int>(neighbours.sources.size()); ++i) expected.push_back(in(i));
    return logged.collectives().exchange_with_neighbours(virtual_comm, given, expected, request);
  });
}

/// Returns a block of `data`. Data that is sent is only read.
LoggedMessages::Expected block(const void* data, int count, MPI_Datatype type) {
  return {MPI_PROC_NULL, const_cast<void*>(data), count, type};
}

/// Returns the same block for each neighbour.
auto same(const void* data, int count, MPI_Datatype type) {
  return [=](int) { return block(data, count, type); };
}
/// Returns blocks of equal length.
auto equal(const void* data, int count, MPI_Datatype type) {
  return [=](int i) { return block(at(data, MPI_Aint{i} * count, type), count, type); };
}
/// Returns blocks whose offsets are numbers of values.
auto varying(const void* data, const int* counts, const int* offsets, MPI_Datatype type) {
  return [=](int i) { return block(at(data, offsets[i], type), counts[i], type); };
}
/// Returns blocks whose offsets are numbers of bytes.
auto typed(const void* data, const int* counts, const MPI_Aint* offsets, const MPI_Datatype* types) {
  return [=](int i) { return block(static_cast<const std::byte*>(data) + offsets[i], counts[i], types[i]); };
}

}  // namespace
}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

using mend::of_the_library;
using mend::refuse_in_fortran;

int PMPI_Neighbor_allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                            MPI_Datatype in_type, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_allgather)>("PMPI_Neighbor_allgather");
  const mend::InMpiCall call(mend::MpiCall::neighbor_allgather);
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, nullptr, mend::same(out, out_count, out_type),
                          mend::equal(in, in_count, in_type));
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_allgather);

int PMPI_Neighbor_allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                             const int offsets[], MPI_Datatype in_type, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_allgatherv)>("PMPI_Neighbor_allgatherv");
  const mend::InMpiCall call(mend::MpiCall::neighbor_allgatherv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, nullptr, mend::same(out, out_count, out_type),
                          mend::varying(in, in_counts, offsets, in_type));
  }
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_allgatherv);

int PMPI_Neighbor_alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                           MPI_Datatype in_type, MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_alltoall)>("PMPI_Neighbor_alltoall");
  const mend::InMpiCall call(mend::MpiCall::neighbor_alltoall);
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, nullptr, mend::equal(out, out_count, out_type),
                          mend::equal(in, in_count, in_type));
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_alltoall);

int PMPI_Neighbor_alltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type,
                            void* in, const int in_counts[], const int in_offsets[], MPI_Datatype in_type,
                            MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_alltoallv)>("PMPI_Neighbor_alltoallv");
  const mend::InMpiCall call(mend::MpiCall::neighbor_alltoallv);
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, nullptr, mend::varying(out, out_counts, out_offsets, out_type),
                          mend::varying(in, in_counts, in_offsets, in_type));
  }
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_alltoallv);

int PMPI_Neighbor_alltoallw(const void* out, const int out_counts[], const MPI_Aint out_offsets[],
                            const MPI_Datatype out_types[], void* in, const int in_counts[],
                            const MPI_Aint in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Neighbor_alltoallw)>("PMPI_Neighbor_alltoallw");
  const mend::InMpiCall call(mend::MpiCall::neighbor_alltoallw);
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, nullptr, mend::typed(out, out_counts, out_offsets, out_types),
                          mend::typed(in, in_counts, in_offsets, in_types));
  }
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm);
}
MEND_SAME_AS_PMPI(MPI_Neighbor_alltoallw);

int PMPI_Ineighbor_allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                             MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_allgather)>("PMPI_Ineighbor_allgather");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, request, mend::same(out, out_count, out_type),
                          mend::equal(in, in_count, in_type));
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_allgather);

int PMPI_Ineighbor_allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int in_counts[],
                              const int offsets[], MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_allgatherv)>("PMPI_Ineighbor_allgatherv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Ineighbor_allgatherv", __builtin_return_address(0), request))
      return *code;
    return mend::exchange(*logged, comm, request, mend::same(out, out_count, out_type),
                          mend::varying(in, in_counts, offsets, in_type));
  }
  return library(out, out_count, out_type, in, in_counts, offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_allgatherv);

int PMPI_Ineighbor_alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                            MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_alltoall)>("PMPI_Ineighbor_alltoall");
  if (auto* logged = mend::logged_calls_of(comm)) {
    return mend::exchange(*logged, comm, request, mend::equal(out, out_count, out_type),
                          mend::equal(in, in_count, in_type));
  }
  return library(out, out_count, out_type, in, in_count, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_alltoall);

int PMPI_Ineighbor_alltoallv(const void* out, const int out_counts[], const int out_offsets[], MPI_Datatype out_type,
                             void* in, const int in_counts[], const int in_offsets[], MPI_Datatype in_type,
                             MPI_Comm comm, MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_alltoallv)>("PMPI_Ineighbor_alltoallv");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Ineighbor_alltoallv", __builtin_return_address(0), request))
      return *code;
    return mend::exchange(*logged, comm, request, mend::varying(out, out_counts, out_offsets, out_type),
                          mend::varying(in, in_counts, in_offsets, in_type));
  }
  return library(out, out_counts, out_offsets, out_type, in, in_counts, in_offsets, in_type, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_alltoallv);

int PMPI_Ineighbor_alltoallw(const void* out, const int out_counts[], const MPI_Aint out_offsets[],
                             const MPI_Datatype out_types[], void* in, const int in_counts[],
                             const MPI_Aint in_offsets[], const MPI_Datatype in_types[], MPI_Comm comm,
                             MPI_Request* request) {
  comm = mend::resolve(comm);
  static const auto library = of_the_library<decltype(&PMPI_Ineighbor_alltoallw)>("PMPI_Ineighbor_alltoallw");
  if (auto* logged = mend::logged_calls_of(comm)) {
    if (const auto code = refuse_in_fortran(*logged, "MPI_Ineighbor_alltoallw", __builtin_return_address(0), request))
      return *code;
    return mend::exchange(*logged, comm, request, mend::typed(out, out_counts, out_offsets, out_types),
                          mend::typed(in, in_counts, in_offsets, in_types));
  }
  return library(out, out_counts, out_offsets, out_types, in, in_counts, in_offsets, in_types, comm, request);
}
MEND_SAME_AS_PMPI(MPI_Ineighbor_alltoallw);

// NOLINTEND(readability-identifier-naming)
