// What programs for Fenix do by MPI itself and mend has a part in, through MPI's profiling interface: they initialise
// and finalise MPI, which mend::run otherwise does, and derive communicators, for which a Session has functions of its
// own. Part of mend::fenix alone. Errors may jump out of these functions, which have nothing to destroy.

#include "framework/fenix_job.hpp"
#include "framework/mpi_runtime.hpp"

#include <mpi.h>

namespace {

/// Lets `make` derive a communicator.
template <class Make>
int derive(MPI_Comm parent, MPI_Comm* made, const Make& make) {
  const int code = make();
  if (code == MPI_SUCCESS) mend::fenix::note_derived(parent, *made);
  return code;
}

}  // namespace

int MPI_Init(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
}

/// With what fault tolerance needs set.
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  mend::before_mpi_init();
  const int code =
      PMPI_Init_thread(argc, argv, required < MPI_THREAD_FUNNELED ? MPI_THREAD_FUNNELED : required, provided);
  mend::after_mpi_init();
  return code;
}

/// In the way that outlasts dead processes. A program that forgets Fenix_Finalize gets it here.
int MPI_Finalize() {
  while (mend::fenix::state().active) Fenix_Finalize();
  if (!mend::fenix::state().finalized) return PMPI_Finalize();
  mend::fenix::leave_mpi();
  return MPI_SUCCESS;
}

// --- communicators ---------------------------------------------------------------------------------------------

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return derive(comm, newcomm, [&] { return PMPI_Comm_dup(comm, newcomm); });
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return derive(comm, newcomm, [&] { return PMPI_Comm_dup_with_info(comm, info, newcomm); });
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return derive(comm, newcomm, [&] { return PMPI_Comm_split(comm, color, key, newcomm); });
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return derive(comm, newcomm, [&] { return PMPI_Comm_split_type(comm, split_type, key, info, newcomm); });
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return derive(comm, newcomm, [&] { return PMPI_Comm_create(comm, group, newcomm); });
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  return derive(comm, newcomm, [&] { return PMPI_Comm_create_group(comm, group, tag, newcomm); });
}

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm* newintercomm) {
  return derive(local_comm, newintercomm,
                [&] { return PMPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm); });
}

int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return derive(intercomm, newintracomm, [&] { return PMPI_Intercomm_merge(intercomm, high, newintracomm); });
}

int MPI_Cart_create(MPI_Comm old_comm, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm* comm_cart) {
  return derive(old_comm, comm_cart,
                [&] { return PMPI_Cart_create(old_comm, ndims, dims, periods, reorder, comm_cart); });
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* new_comm) {
  return derive(comm, new_comm, [&] { return PMPI_Cart_sub(comm, remain_dims, new_comm); });
}

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                     MPI_Comm* comm_graph) {
  return derive(comm_old, comm_graph,
                [&] { return PMPI_Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph); });
}

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int nodes[], const int degrees[], const int targets[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm) {
  return derive(comm_old, newcomm, [&] {
    return PMPI_Dist_graph_create(comm_old, n, nodes, degrees, targets, weights, info, reorder, newcomm);
  });
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                   int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm* comm_dist_graph) {
  return derive(comm_old, comm_dist_graph, [&] {
    return PMPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree, destinations,
                                           destweights, info, reorder, comm_dist_graph);
  });
}
