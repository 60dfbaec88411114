// Collective calls that are made of logged messages (logged_messages.hpp), so that a rank that rolls back gets the same
// results again. The order of the operands depends only on the ranks, so a reduction gives the same bits each time.
//
// Barrier: dissemination (Hensgen, Finkel, Manber, 1988). Bcast and Reduce: binomial trees; Reduce is linear, in the
// order of the ranks, if the operation does not commute. Allreduce: recursive doubling. Scan: a chain. The others:
// direct messages. Large values are reduced in blocks, one by each rank, which are then gathered (Rabenseifner, 2004).
//
// Non-blocking calls (begun_collectives.cpp): a rank sends its contribution at once to each rank that needs it, so that
// no rank waits for one that does something else. A reduction is done in rank order when all contributions have
// arrived.

#pragma once

#include "framework/local_rollback/blocks.hpp"
#include "framework/local_rollback/messages/logged_messages.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace mend {

class LoggedCollectives {
 public:
  explicit LoggedCollectives(LoggedMessages& messages) : messages_(messages) {}
  ~LoggedCollectives();
  LoggedCollectives(const LoggedCollectives&) = delete;
  LoggedCollectives& operator=(const LoggedCollectives&) = delete;

  // The same as MPI's calls, whose codes they return. They throw like the calls of LoggedMessages.
  int barrier(const VirtualComm& comm);
  int bcast(const VirtualComm& comm, void* data, int count, MPI_Datatype type, int root);
  int reduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root);
  int allreduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op);
  int reduce_scatter(const VirtualComm& comm, const void* out, void* in, const int* counts, MPI_Datatype type,
                     MPI_Op op);
  int scan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op);
  int exscan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op);
  int gatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type, void* in,
              const int* in_counts, Offsets offsets, MPI_Datatype in_type, int root);
  int scatterv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets offsets, MPI_Datatype out_type,
               void* in, int in_count, MPI_Datatype in_type, int root);
  int allgatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type, void* in,
                 const int* in_counts, Offsets offsets, MPI_Datatype in_type);
  int alltoallv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets out_offsets,
                MPI_Datatype out_type, void* in, const int* in_counts, Offsets in_offsets, MPI_Datatype in_type);
  int alltoallw(const VirtualComm& comm, const void* out, const int* out_counts, const int* out_offsets,
                const MPI_Datatype* out_types, void* in, const int* in_counts, const int* in_offsets,
                const MPI_Datatype* in_types);

  /// Neighbourhood collectives: sends `out`, a block for each destination of `comm`, and receives `in`, a block from
  /// each source. The peers of `out` and `in` are not used. If `request` is not null, the call does not block.
  int exchange_with_neighbours(const VirtualComm& comm, std::vector<LoggedMessages::Expected> out,
                               std::vector<LoggedMessages::Expected> in, MPI_Request* request);

  /// Called when the application frees `op`, which is none of MPI's own. Returns true if a request may still need it;
  /// then it is freed later. Local.
  bool keep(MPI_Op op);

  // The same as MPI's non-blocking calls.
  int begin_barrier(const VirtualComm& comm, MPI_Request* request);
  int begin_bcast(const VirtualComm& comm, void* data, int count, MPI_Datatype type, int root, MPI_Request* request);
  int begin_reduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                   int root, MPI_Request* request);
  int begin_allreduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Request* request);
  int begin_reduce_scatter(const VirtualComm& comm, const void* out, void* in, const int* counts, MPI_Datatype type,
                           MPI_Op op, MPI_Request* request);
  int begin_scan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                 MPI_Request* request);
  int begin_exscan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Request* request);
  int begin_gatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type, void* in,
                    const int* in_counts, Offsets offsets, MPI_Datatype in_type, int root, MPI_Request* request);
  int begin_scatterv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets offsets,
                     MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                     MPI_Request* request);
  int begin_allgatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type, void* in,
                       const int* in_counts, Offsets offsets, MPI_Datatype in_type, MPI_Request* request);
  int begin_alltoallv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets out_offsets,
                      MPI_Datatype out_type, void* in, const int* in_counts, Offsets in_offsets, MPI_Datatype in_type,
                      MPI_Request* request);
  int begin_alltoallw(const VirtualComm& comm, const void* out, const int* out_counts, const int* out_offsets,
                      const MPI_Datatype* out_types, void* in, const int* in_counts, const int* in_offsets,
                      const MPI_Datatype* in_types, MPI_Request* request);

 private:
  class Values;
  /// Memory that calls use one after the other, so that its pages are already mapped. It has the largest size that was
  /// needed.
  struct Scratch {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  int reduce_by_tree(const VirtualComm& comm, const void* mine, void* in, int count, MPI_Datatype type, MPI_Op op,
                     int root);
  int reduce_in_order(const VirtualComm& comm, const void* mine, void* in, int count, MPI_Datatype type, MPI_Op op,
                      int root);
  int reduce_by_doubling(const VirtualComm& comm, void* values, int count, MPI_Datatype type, MPI_Op op);
  int reduce_block(const VirtualComm& comm, const void* mine, const Blocks& blocks, MPI_Datatype type, MPI_Op op,
                   Values& sum, Values& other);
  int begin_reduction(const VirtualComm& comm, const void* mine, void* in, int count, MPI_Datatype type, MPI_Op op,
                      int end, MPI_Request* request);
  int send_to_all(const VirtualComm& comm, const std::vector<LoggedMessages::Expected>& own);
  int begin_exchange(const VirtualComm& comm, const std::vector<LoggedMessages::Expected>& own,
                     const std::vector<LoggedMessages::Expected>& expected, MPI_Request* request);
  int scatter_from_root(const VirtualComm& comm, const void* out, const int* out_counts, Offsets offsets,
                        MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type);
  int send(const VirtualComm& comm, const void* data, int count, MPI_Datatype type, int to);
  int receive(const VirtualComm& comm, void* data, int count, MPI_Datatype type, int from);
  bool may_need_operations() const;
  void free_kept_operations();

  LoggedMessages& messages_;
  std::vector<MPI_Op> kept_operations_;  // which the application has freed
  std::array<Scratch, 2> scratch_;
};

}  // namespace mend
