// The MPI functions that --mend-rollback local refuses, and how each is called in a test.

#pragma once

#include <mpi.h>
#include <mpi-ext.h>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

/// One of them. `call`: with this communicator, and nothing for everything else.
struct RefusedFunction {
  std::string name;
  std::function<int(MPI_Comm)> call;
};

template <class... Types>
RefusedFunction refused_function(const char* name, int (*function)(Types...)) {
  return {name, [function](MPI_Comm comm) {
            const auto argument = [&]<class Type>(std::type_identity<Type>) {
              if constexpr (std::is_same_v<Type, MPI_Comm>)
                return comm;
              else
                return Type{};
            };
            return function(argument(std::type_identity<Types>{})...);
          }};
}

inline std::vector<RefusedFunction> refused_functions() {
  std::vector<RefusedFunction> all;
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name and the function
#define MEND_ADD(name) all.push_back(refused_function(#name, &(name)))
  MEND_ADD(MPI_Psend_init);
  MEND_ADD(MPI_Precv_init);
  MEND_ADD(MPI_Barrier_init);
  MEND_ADD(MPI_Bcast_init);
  MEND_ADD(MPI_Reduce_init);
  MEND_ADD(MPI_Allreduce_init);
  MEND_ADD(MPI_Scan_init);
  MEND_ADD(MPI_Exscan_init);
  MEND_ADD(MPI_Reduce_scatter_init);
  MEND_ADD(MPI_Reduce_scatter_block_init);
  MEND_ADD(MPI_Gather_init);
  MEND_ADD(MPI_Gatherv_init);
  MEND_ADD(MPI_Scatter_init);
  MEND_ADD(MPI_Scatterv_init);
  MEND_ADD(MPI_Allgather_init);
  MEND_ADD(MPI_Allgatherv_init);
  MEND_ADD(MPI_Alltoall_init);
  MEND_ADD(MPI_Alltoallv_init);
  MEND_ADD(MPI_Alltoallw_init);
  MEND_ADD(MPI_Neighbor_allgather);
  MEND_ADD(MPI_Neighbor_allgatherv);
  MEND_ADD(MPI_Neighbor_alltoall);
  MEND_ADD(MPI_Neighbor_alltoallv);
  MEND_ADD(MPI_Neighbor_alltoallw);
  MEND_ADD(MPI_Ineighbor_allgather);
  MEND_ADD(MPI_Ineighbor_allgatherv);
  MEND_ADD(MPI_Ineighbor_alltoall);
  MEND_ADD(MPI_Ineighbor_alltoallv);
  MEND_ADD(MPI_Ineighbor_alltoallw);
  MEND_ADD(MPI_Neighbor_allgather_init);
  MEND_ADD(MPI_Neighbor_allgatherv_init);
  MEND_ADD(MPI_Neighbor_alltoall_init);
  MEND_ADD(MPI_Neighbor_alltoallv_init);
  MEND_ADD(MPI_Neighbor_alltoallw_init);
  MEND_ADD(MPI_Comm_spawn);
  MEND_ADD(MPI_Comm_spawn_multiple);
  MEND_ADD(MPI_Comm_accept);
  MEND_ADD(MPI_Comm_connect);
  MEND_ADD(MPI_Comm_join);
  MEND_ADD(MPI_Comm_create_from_group);
  MEND_ADD(MPI_Intercomm_create_from_groups);
  MEND_ADD(MPI_Comm_idup);
  MEND_ADD(MPI_Comm_idup_with_info);
  MEND_ADD(MPIX_Comm_revoke);
  MEND_ADD(MPIX_Comm_shrink);
  MEND_ADD(MPIX_Comm_agree);
  MEND_ADD(MPIX_Comm_iagree);
  MEND_ADD(MPI_Comm_split_type);
  MEND_ADD(MPI_Comm_create_group);
  MEND_ADD(MPI_Intercomm_create);
  MEND_ADD(MPI_Intercomm_merge);
  MEND_ADD(MPI_Graph_create);
  MEND_ADD(MPI_Dist_graph_create);
  MEND_ADD(MPI_Dist_graph_create_adjacent);
  MEND_ADD(MPI_File_open);
  MEND_ADD(MPI_Win_create);
  MEND_ADD(MPI_Win_create_dynamic);
  MEND_ADD(MPI_Win_allocate);
  MEND_ADD(MPI_Win_allocate_shared);
#undef MEND_ADD
  return all;
}
