// Functions of MPI that Open MPI has since 6.0 and mend does not log: those with counts of type MPI_Count, and buffers
// of a communicator. Like the others in refused_hooks.cpp, they end a job with --mend-rollback local with a sentence.

#pragma once

#include <mpi.h>

#if OMPI_MAJOR_VERSION >= 6

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a list. FUNCTION(name, number of its parameters)
#define MEND_FUNCTIONS_SINCE_6(FUNCTION)       \
  FUNCTION(MPI_Allgather_c, 7)                 \
  FUNCTION(MPI_Allgather_init_c, 9)            \
  FUNCTION(MPI_Allgatherv_c, 8)                \
  FUNCTION(MPI_Allgatherv_init_c, 10)          \
  FUNCTION(MPI_Allreduce_c, 6)                 \
  FUNCTION(MPI_Allreduce_init_c, 8)            \
  FUNCTION(MPI_Alltoall_c, 7)                  \
  FUNCTION(MPI_Alltoall_init_c, 9)             \
  FUNCTION(MPI_Alltoallv_c, 9)                 \
  FUNCTION(MPI_Alltoallv_init_c, 11)           \
  FUNCTION(MPI_Alltoallw_c, 9)                 \
  FUNCTION(MPI_Alltoallw_init_c, 11)           \
  FUNCTION(MPI_Bcast_c, 5)                     \
  FUNCTION(MPI_Bcast_init_c, 7)                \
  FUNCTION(MPI_Bsend_c, 6)                     \
  FUNCTION(MPI_Bsend_init_c, 7)                \
  FUNCTION(MPI_Exscan_c, 6)                    \
  FUNCTION(MPI_Exscan_init_c, 8)               \
  FUNCTION(MPI_Gather_c, 8)                    \
  FUNCTION(MPI_Gather_init_c, 10)              \
  FUNCTION(MPI_Gatherv_c, 9)                   \
  FUNCTION(MPI_Gatherv_init_c, 11)             \
  FUNCTION(MPI_Iallgather_c, 8)                \
  FUNCTION(MPI_Iallgatherv_c, 9)               \
  FUNCTION(MPI_Iallreduce_c, 7)                \
  FUNCTION(MPI_Ialltoall_c, 8)                 \
  FUNCTION(MPI_Ialltoallv_c, 10)               \
  FUNCTION(MPI_Ialltoallw_c, 10)               \
  FUNCTION(MPI_Ibcast_c, 6)                    \
  FUNCTION(MPI_Ibsend_c, 7)                    \
  FUNCTION(MPI_Iexscan_c, 7)                   \
  FUNCTION(MPI_Igather_c, 9)                   \
  FUNCTION(MPI_Igatherv_c, 10)                 \
  FUNCTION(MPI_Imrecv_c, 5)                    \
  FUNCTION(MPI_Ineighbor_allgather_c, 8)       \
  FUNCTION(MPI_Ineighbor_allgatherv_c, 9)      \
  FUNCTION(MPI_Ineighbor_alltoall_c, 8)        \
  FUNCTION(MPI_Ineighbor_alltoallv_c, 10)      \
  FUNCTION(MPI_Ineighbor_alltoallw_c, 10)      \
  FUNCTION(MPI_Irecv_c, 7)                     \
  FUNCTION(MPI_Ireduce_c, 8)                   \
  FUNCTION(MPI_Ireduce_scatter_block_c, 7)     \
  FUNCTION(MPI_Ireduce_scatter_c, 7)           \
  FUNCTION(MPI_Irsend_c, 7)                    \
  FUNCTION(MPI_Iscan_c, 7)                     \
  FUNCTION(MPI_Iscatter_c, 9)                  \
  FUNCTION(MPI_Iscatterv_c, 10)                \
  FUNCTION(MPI_Isend_c, 7)                     \
  FUNCTION(MPI_Isendrecv_c, 12)                \
  FUNCTION(MPI_Isendrecv_replace_c, 9)         \
  FUNCTION(MPI_Issend_c, 7)                    \
  FUNCTION(MPI_Mrecv_c, 5)                     \
  FUNCTION(MPI_Neighbor_allgather_c, 7)        \
  FUNCTION(MPI_Neighbor_allgather_init_c, 9)   \
  FUNCTION(MPI_Neighbor_allgatherv_c, 8)       \
  FUNCTION(MPI_Neighbor_allgatherv_init_c, 10) \
  FUNCTION(MPI_Neighbor_alltoall_c, 7)         \
  FUNCTION(MPI_Neighbor_alltoall_init_c, 9)    \
  FUNCTION(MPI_Neighbor_alltoallv_c, 9)        \
  FUNCTION(MPI_Neighbor_alltoallv_init_c, 11)  \
  FUNCTION(MPI_Neighbor_alltoallw_c, 9)        \
  FUNCTION(MPI_Neighbor_alltoallw_init_c, 11)  \
  FUNCTION(MPI_Recv_c, 7)                      \
  FUNCTION(MPI_Recv_init_c, 7)                 \
  FUNCTION(MPI_Reduce_c, 7)                    \
  FUNCTION(MPI_Reduce_init_c, 9)               \
  FUNCTION(MPI_Reduce_scatter_block_c, 6)      \
  FUNCTION(MPI_Reduce_scatter_block_init_c, 8) \
  FUNCTION(MPI_Reduce_scatter_c, 6)            \
  FUNCTION(MPI_Reduce_scatter_init_c, 8)       \
  FUNCTION(MPI_Rsend_c, 6)                     \
  FUNCTION(MPI_Rsend_init_c, 7)                \
  FUNCTION(MPI_Scan_c, 6)                      \
  FUNCTION(MPI_Scan_init_c, 8)                 \
  FUNCTION(MPI_Scatter_c, 8)                   \
  FUNCTION(MPI_Scatter_init_c, 10)             \
  FUNCTION(MPI_Scatterv_c, 9)                  \
  FUNCTION(MPI_Scatterv_init_c, 11)            \
  FUNCTION(MPI_Send_c, 6)                      \
  FUNCTION(MPI_Send_init_c, 7)                 \
  FUNCTION(MPI_Sendrecv_c, 12)                 \
  FUNCTION(MPI_Sendrecv_replace_c, 9)          \
  FUNCTION(MPI_Ssend_c, 6)                     \
  FUNCTION(MPI_Ssend_init_c, 7)                \
  FUNCTION(MPI_Win_allocate_c, 6)              \
  FUNCTION(MPI_Win_allocate_shared_c, 6)       \
  FUNCTION(MPI_Win_create_c, 6)                \
  FUNCTION(MPI_Comm_attach_buffer, 3)          \
  FUNCTION(MPI_Comm_attach_buffer_c, 3)        \
  FUNCTION(MPI_Comm_detach_buffer, 3)          \
  FUNCTION(MPI_Comm_detach_buffer_c, 3)        \
  FUNCTION(MPI_Comm_flush_buffer, 1)           \
  FUNCTION(MPI_Comm_iflush_buffer, 2)

#else

#define MEND_FUNCTIONS_SINCE_6(FUNCTION)

#endif
