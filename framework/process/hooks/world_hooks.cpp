// MPI_COMM_WORLD as session.comm() (--mend-world session): the functions that ask about a communicator or set its
// properties, and that no other file here intercepts. The functions of MPI's profiling interface are intercepted, as in
// call_hooks.cpp.
//
// MPI_Pack and similar functions are not intercepted: on machines of one kind they do the same on each communicator.
// Neither is MPI_Abort, which ends the job on each.

#include "framework/process/hooks/world_substitution.hpp"

#include "framework/process/body_guard.hpp"
#include "framework/process/hooks/parameters.hpp"
#include "transport/library_function.hpp"

#include <mpi.h>
#include <mpi-ext.h>

#include <tuple>

namespace mend {

void intercept_world() {}

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming, cppcoreguidelines-macro-usage): MPI's names, as many as it has

#define MEND_MEAN_BY(function, name, count)                                             \
  int function(MEND_PARAMETERS_##count(name)) {                                         \
    static const auto library = mend::of_the_library<decltype(&(function))>(#function); \
    return library(MEND_RESOLVE_TO_ASK_##count);                                        \
  }                                                                                     \
  static_assert(std::tuple_size_v<mend::ParametersOf<decltype(name)>::As> == (count))
#define MEND_MEAN(name, count)        \
  MEND_MEAN_BY(P##name, name, count); \
  extern "C" decltype(name) name __attribute__((weak, alias("P" #name)))
#define MEND_MEAN_EXTENSION(name, count) MEND_MEAN_BY(name, name, count)

MEND_MEAN(MPI_Comm_group, 2);
MEND_MEAN(MPI_Comm_compare, 3);
MEND_MEAN(MPI_Comm_test_inter, 2);
MEND_MEAN(MPI_Comm_remote_group, 2);
MEND_MEAN(MPI_Comm_remote_size, 2);
MEND_MEAN(MPI_Comm_get_name, 3);
MEND_MEAN(MPI_Comm_set_name, 2);
MEND_MEAN(MPI_Comm_get_info, 2);
MEND_MEAN(MPI_Comm_set_info, 2);
MEND_MEAN(MPI_Comm_get_attr, 4);
MEND_MEAN(MPI_Comm_set_attr, 3);
MEND_MEAN(MPI_Comm_delete_attr, 2);
MEND_MEAN(MPI_Comm_get_errhandler, 2);
MEND_MEAN(MPI_Comm_call_errhandler, 2);

// Of MPI-1; older programs use them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
MEND_MEAN(MPI_Attr_get, 4);
MEND_MEAN(MPI_Attr_put, 3);
MEND_MEAN(MPI_Attr_delete, 2);
#pragma GCC diagnostic pop

MEND_MEAN(MPI_Topo_test, 2);
MEND_MEAN(MPI_Cart_coords, 4);
MEND_MEAN(MPI_Cart_get, 5);
MEND_MEAN(MPI_Cart_map, 5);
MEND_MEAN(MPI_Cart_rank, 3);
MEND_MEAN(MPI_Cart_shift, 5);
MEND_MEAN(MPI_Cartdim_get, 2);
MEND_MEAN(MPI_Graph_get, 5);
MEND_MEAN(MPI_Graph_map, 5);
MEND_MEAN(MPI_Graph_neighbors, 4);
MEND_MEAN(MPI_Graph_neighbors_count, 3);
MEND_MEAN(MPI_Graphdims_get, 3);
MEND_MEAN(MPI_Dist_graph_neighbors, 7);
MEND_MEAN(MPI_Dist_graph_neighbors_count, 4);

MEND_MEAN_EXTENSION(MPIX_Comm_ack_failed, 3);
MEND_MEAN_EXTENSION(MPIX_Comm_failure_ack, 1);
MEND_MEAN_EXTENSION(MPIX_Comm_failure_get_acked, 2);
MEND_MEAN_EXTENSION(MPIX_Comm_get_failed, 2);
MEND_MEAN_EXTENSION(MPIX_Comm_is_revoked, 2);

// NOLINTEND(readability-identifier-naming, cppcoreguidelines-macro-usage)
