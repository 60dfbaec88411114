// MPI calls that are not logged (framework/replay/logged_calls.hpp): on a communicator whose calls are logged, each
// ends the job with a sentence, and elsewhere it is the library's. The functions of MPI's profiling interface are
// intercepted, as by call_hooks.cpp. With those that are covered, these are all that communicate:
// tests/framework/process/mpi_functions_test.cpp compares them with what mpi.h declares.

#include "framework/process/refused_hooks.hpp"

#include "framework/process/library_function.hpp"
#include "framework/replay/logged_calls.hpp"
#include "transport/mpi.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace mend {
namespace {

template <class Function>
struct ParametersOf;
template <class... Types>
struct ParametersOf<int(Types...)> {
  using As = std::tuple<Types...>;
};

/// The type of a parameter of one of MPI's functions.
template <class Function, std::size_t number>
using Parameter = std::tuple_element_t<number, typename ParametersOf<Function>::As>;

/// What logs calls that a call with this argument would go past.
template <class Argument>
LoggedCalls* owner_of(Argument argument) {
  if constexpr (std::is_same_v<Argument, MPI_Comm>) return logged_calls_of(argument);
  return nullptr;
}

/// Refuses `name` on a communicator whose calls are logged. A call without a communicator is refused while any are.
/// Where errors are returned, mend itself makes the call: it revokes all communicators when it interrupts a process.
template <class... Types>
int refuse_or_call(const char* name, int (*library)(Types...), Types... arguments) {
  LoggedCalls* logged = nullptr;
  ((logged = logged == nullptr ? owner_of(arguments) : logged), ...);
  if constexpr (!(std::is_same_v<Types, MPI_Comm> || ...)) {
    logged = logged_calls();
    if (logged != nullptr && !logged->is_logging()) logged = nullptr;
  }
  return logged == nullptr || errors_are_returned() ? library(arguments...) : logged->refuse(name);
}

}  // namespace

void intercept_refused_calls() { intercept_begun_collectives(); }

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-macro-usage): MPI's names, as many as it has

#define MEND_PARAMETER(name, i) mend::Parameter<decltype(name), i> a##i
#define MEND_PARAMETERS_1(name) MEND_PARAMETER(name, 0)
#define MEND_PARAMETERS_2(name) MEND_PARAMETERS_1(name), MEND_PARAMETER(name, 1)
#define MEND_PARAMETERS_3(name) MEND_PARAMETERS_2(name), MEND_PARAMETER(name, 2)
#define MEND_PARAMETERS_4(name) MEND_PARAMETERS_3(name), MEND_PARAMETER(name, 3)
#define MEND_PARAMETERS_5(name) MEND_PARAMETERS_4(name), MEND_PARAMETER(name, 4)
#define MEND_PARAMETERS_6(name) MEND_PARAMETERS_5(name), MEND_PARAMETER(name, 5)
#define MEND_PARAMETERS_7(name) MEND_PARAMETERS_6(name), MEND_PARAMETER(name, 6)
#define MEND_PARAMETERS_8(name) MEND_PARAMETERS_7(name), MEND_PARAMETER(name, 7)
#define MEND_PARAMETERS_9(name) MEND_PARAMETERS_8(name), MEND_PARAMETER(name, 8)
#define MEND_PARAMETERS_10(name) MEND_PARAMETERS_9(name), MEND_PARAMETER(name, 9)
#define MEND_PARAMETERS_11(name) MEND_PARAMETERS_10(name), MEND_PARAMETER(name, 10)
#define MEND_PARAMETERS_12(name) MEND_PARAMETERS_11(name), MEND_PARAMETER(name, 11)
#define MEND_ARGUMENTS_1 a0
#define MEND_ARGUMENTS_2 MEND_ARGUMENTS_1, a1
#define MEND_ARGUMENTS_3 MEND_ARGUMENTS_2, a2
#define MEND_ARGUMENTS_4 MEND_ARGUMENTS_3, a3
#define MEND_ARGUMENTS_5 MEND_ARGUMENTS_4, a4
#define MEND_ARGUMENTS_6 MEND_ARGUMENTS_5, a5
#define MEND_ARGUMENTS_7 MEND_ARGUMENTS_6, a6
#define MEND_ARGUMENTS_8 MEND_ARGUMENTS_7, a7
#define MEND_ARGUMENTS_9 MEND_ARGUMENTS_8, a8
#define MEND_ARGUMENTS_10 MEND_ARGUMENTS_9, a9
#define MEND_ARGUMENTS_11 MEND_ARGUMENTS_10, a10
#define MEND_ARGUMENTS_12 MEND_ARGUMENTS_11, a11

// All ways lead through PMPI: calls in C, the library's wrappers for Fortran, and tools that intercept MPI.
#define MEND_REFUSE_BY(function, name, count)                                           \
  int function(MEND_PARAMETERS_##count(name)) {                                         \
    static const auto library = mend::of_the_library<decltype(&(function))>(#function); \
    return mend::refuse_or_call(#name, library, MEND_ARGUMENTS_##count);                \
  }                                                                                     \
  static_assert(std::tuple_size_v<mend::ParametersOf<decltype(name)>::As> == (count))
#define MEND_REFUSE(name, count)        \
  MEND_REFUSE_BY(P##name, name, count); \
  extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))
#define MEND_REFUSE_EXTENSION(name, count) MEND_REFUSE_BY(name, name, count)

// Partitioned messages.
MEND_REFUSE(MPI_Psend_init, 9);
MEND_REFUSE(MPI_Precv_init, 9);

// Persistent collectives.
MEND_REFUSE(MPI_Barrier_init, 3);
MEND_REFUSE(MPI_Bcast_init, 7);
MEND_REFUSE(MPI_Reduce_init, 9);
MEND_REFUSE(MPI_Allreduce_init, 8);
MEND_REFUSE(MPI_Scan_init, 8);
MEND_REFUSE(MPI_Exscan_init, 8);
MEND_REFUSE(MPI_Reduce_scatter_init, 8);
MEND_REFUSE(MPI_Reduce_scatter_block_init, 8);
MEND_REFUSE(MPI_Gather_init, 10);
MEND_REFUSE(MPI_Gatherv_init, 11);
MEND_REFUSE(MPI_Scatter_init, 10);
MEND_REFUSE(MPI_Scatterv_init, 11);
MEND_REFUSE(MPI_Allgather_init, 9);
MEND_REFUSE(MPI_Allgatherv_init, 10);
MEND_REFUSE(MPI_Alltoall_init, 9);
MEND_REFUSE(MPI_Alltoallv_init, 11);
MEND_REFUSE(MPI_Alltoallw_init, 11);

// Neighbourhood collectives.
MEND_REFUSE(MPI_Neighbor_allgather, 7);
MEND_REFUSE(MPI_Neighbor_allgatherv, 8);
MEND_REFUSE(MPI_Neighbor_alltoall, 7);
MEND_REFUSE(MPI_Neighbor_alltoallv, 9);
MEND_REFUSE(MPI_Neighbor_alltoallw, 9);
MEND_REFUSE(MPI_Ineighbor_allgather, 8);
MEND_REFUSE(MPI_Ineighbor_allgatherv, 9);
MEND_REFUSE(MPI_Ineighbor_alltoall, 8);
MEND_REFUSE(MPI_Ineighbor_alltoallv, 10);
MEND_REFUSE(MPI_Ineighbor_alltoallw, 10);
MEND_REFUSE(MPI_Neighbor_allgather_init, 9);
MEND_REFUSE(MPI_Neighbor_allgatherv_init, 10);
MEND_REFUSE(MPI_Neighbor_alltoall_init, 9);
MEND_REFUSE(MPI_Neighbor_alltoallv_init, 11);
MEND_REFUSE(MPI_Neighbor_alltoallw_init, 11);

// Processes from outside of the job.
MEND_REFUSE(MPI_Comm_spawn, 8);
MEND_REFUSE(MPI_Comm_spawn_multiple, 9);
MEND_REFUSE(MPI_Comm_accept, 5);
MEND_REFUSE(MPI_Comm_connect, 5);
MEND_REFUSE(MPI_Comm_join, 2);

// Communicators of processes that are named by a group.
MEND_REFUSE(MPI_Comm_create_from_group, 5);
MEND_REFUSE(MPI_Intercomm_create_from_groups, 8);

// Fault tolerance by the program itself.
MEND_REFUSE_EXTENSION(MPIX_Comm_revoke, 1);
MEND_REFUSE_EXTENSION(MPIX_Comm_shrink, 2);
MEND_REFUSE_EXTENSION(MPIX_Comm_agree, 2);
MEND_REFUSE_EXTENSION(MPIX_Comm_iagree, 3);

// NOLINTEND(readability-identifier-naming, cppcoreguidelines-macro-usage)
