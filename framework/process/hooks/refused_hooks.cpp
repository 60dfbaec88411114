// MPI calls that are not logged (framework/local_rollback/logged_calls.hpp). On a communicator whose calls are logged,
// each ends the job with a sentence; elsewhere the library's function is called. The functions of MPI's profiling
// interface are intercepted, as by call_hooks.cpp. Together with the calls that are covered, these are all calls that
// communicate: tests/framework/process/mpi_functions_test.cpp compares them with what mpi.h declares.

#include "framework/process/hooks/refused_hooks.hpp"

#include "base/telemetry/activity.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/hooks/functions_since_6.hpp"
#include "transport/library_function.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "framework/process/hooks/parameters.hpp"
#include "framework/process/process_context.hpp"
#include "framework/local_rollback/logged_calls.hpp"
#include "transport/mpi.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace mend {
namespace {

/// Returns the object that logs calls which a call with this argument would bypass; null if there is none.
template <class Argument>
LoggedCalls* owner_of_communicator(Argument argument) {
  if constexpr (std::is_same_v<Argument, MPI_Comm>) return logged_calls_of(argument);
  return nullptr;
}

/// Records the persistent request that a call with these arguments has made.
template <class... Types>
void note_persistent(Types... arguments) {
  MPI_Comm comm = MPI_COMM_NULL;
  const MPI_Request* request = nullptr;
  const auto look_at = [&](auto argument) {
    if constexpr (std::is_same_v<decltype(argument), MPI_Comm>) comm = argument;
    if constexpr (std::is_same_v<decltype(argument), MPI_Request*>) request = argument;
  };
  (look_at(arguments), ...);
  process_context().persistent_requests.note_made(comm, *request);
}

/// Returns the call that is recorded while `name` lasts: MPI_Send_c is a send like MPI_Send.
MpiCall recorded_as(std::string_view name) {
  if (name.ends_with("_c")) name.remove_suffix(2);
  return mpi_call_named(name);
}

/// Refuses `name` on a communicator whose calls are logged. A call without a communicator is refused while any calls
/// are logged. Where errors are returned, mend itself makes the call: it revokes all communicators when it interrupts a
/// process.
template <class... Types>
int refuse_or_call(const char* name, MpiCall recorded, int (*library)(Types...), Types... arguments) {
  LoggedCalls* logged = nullptr;
  ((logged = logged == nullptr ? owner_of_communicator(arguments) : logged), ...);
  if constexpr (!(std::is_same_v<Types, MPI_Comm> || ...)) {
    logged = logged_calls();
    if (logged != nullptr && !logged->is_logging()) logged = nullptr;
  }
  if (logged != nullptr && !errors_are_returned()) return logged->refuse(name);
  constexpr bool makes_request = (std::is_same_v<Types, MPI_Request*> || ...);
  const bool is_partitioned = makes_request && std::string_view(name).ends_with("_init");
  const bool is_persistent = is_partitioned || (makes_request && std::string_view(name).ends_with("_init_c"));
  if (is_partitioned) {
    if (const int refused = refuse_partitioned(name); refused != MPI_SUCCESS) return refused;
  }
  if constexpr ((std::is_same_v<Types, MPI_Group> || ...)) {
    if (const int refused = refuse_groups(name); refused != MPI_SUCCESS) return refused;
  }
  const InMpiCall call(recorded);
  const int code = library(arguments...);
  if constexpr (makes_request) {
    if (code == MPI_SUCCESS && is_persistent) note_persistent(arguments...);
  }
  return code;
}

}  // namespace

void intercept_refused_calls() {
  intercept_begun_collectives();
  intercept_neighbours();
  intercept_persistent_collectives();
  intercept_world();
}

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-macro-usage): MPI's names, as many as it has

// All calls reach the PMPI functions: calls in C, the library's wrappers for Fortran, and tools that intercept MPI.
#define MEND_REFUSE_BY(function, name, count)                                           \
  int function(MEND_PARAMETERS_##count(name)) {                                         \
    static const auto library = mend::of_the_library<decltype(&(function))>(#function); \
    static const auto recorded = mend::recorded_as(#name);                              \
    return mend::refuse_or_call(#name, recorded, library, MEND_RESOLVE_##count);        \
  }                                                                                     \
  static_assert(std::tuple_size_v<mend::ParametersOf<decltype(name)>::As> == (count))
#define MEND_REFUSE(name, count)        \
  MEND_REFUSE_BY(P##name, name, count); \
  extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))
// Of these the library has two functions each: programs in C call one, and its wrappers for Fortran the other.
#define MEND_REFUSE_EXTENSION(name, count) \
  MEND_REFUSE_BY(name, name, count);       \
  MEND_REFUSE_BY(P##name, name, count)

// Partitioned messages, for which Open MPI makes a duplicate of MPI_COMM_WORLD (refuse_partitioned).
MEND_REFUSE(MPI_Psend_init, 9);
MEND_REFUSE(MPI_Precv_init, 9);

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
#if OMPI_MAJOR_VERSION >= 6
MEND_REFUSE_EXTENSION(MPIX_Comm_ishrink, 3);
#endif

#define MEND_REFUSE_ONE(name, count) MEND_REFUSE(name, count);
MEND_FUNCTIONS_SINCE_6(MEND_REFUSE_ONE)

// NOLINTEND(readability-identifier-naming, cppcoreguidelines-macro-usage)
