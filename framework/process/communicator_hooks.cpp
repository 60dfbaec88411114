#include "framework/process/communicator_hooks.hpp"

#include <utility>

namespace mend {
namespace {

CommunicatorListener listener;

/// Lets `make` derive a communicator. Errors may jump out of this: there is nothing to destroy.
template <class Make>
int derive(MPI_Comm parent, MPI_Comm* made, const Make& make) {
  const int code = make();
  if (code == MPI_SUCCESS && listener) listener(parent, *made);
  return code;
}

}  // namespace

void on_communicator_made(CommunicatorListener told) { listener = std::move(told); }

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

using mend::derive;

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

int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                         MPI_Comm* newintercomm) {
  return derive(local_comm, newintercomm, [&] {
    return PMPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
  });
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

// NOLINTEND(readability-identifier-naming)
