// Non-blocking collective calls, made of logged messages, and MPI_Alltoallw.

#include "framework/local_rollback/collectives/logged_collectives.hpp"
#include "framework/local_rollback/values.hpp"
#include "transport/library_function.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mend {
namespace {

using Expected = LoggedMessages::Expected;

/// The contributions of the ranks to a reduction, one after the other in memory.
class Contributions {
 public:
  Contributions(int ranks, int count, MPI_Datatype type) : kept_(type), type_(type), count_(count) {
    constexpr std::size_t alignment = 16;
    MPI_Aint extent = 0;
    PMPI_Type_get_true_extent(type, &lower_, &extent);
    const auto bytes = static_cast<std::size_t>(count == 0 ? 0 : extent + (count - 1) * extent_of(type));
    length_ = (bytes + alignment - 1) / alignment * alignment;
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(length_ * static_cast<std::size_t>(ranks));
  }
  void* of(int rank) { return bytes_.get() + length_ * static_cast<std::size_t>(rank) - lower_; }
  int set(int rank, const void* values) { return copy(values, count_, type_, of(rank), count_, type_); }
  /// Reduces the contributions of the ranks below `end`, in rank order. This changes the contributions.
  int reduce(int end, MPI_Op op, void* in) {
    if (end == 0) return MPI_SUCCESS;
    void* const sum = of(end - 1);
    for (int rank = end - 2; rank >= 0; --rank)
      if (const int code = PMPI_Reduce_local(of(rank), sum, count_, type_, op); code != MPI_SUCCESS) return code;
    return copy(sum, count_, type_, in, count_, type_);
  }

 private:
  KeptType kept_;      // keeps the application's type
  MPI_Datatype type_;  // operations get this one: MPI's own are not defined for duplicates
  int count_;
  MPI_Aint lower_ = 0;
  std::size_t length_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

/// Returns the blocks of all ranks; each offset is a number of values.
std::vector<Expected> blocks_of(const VirtualComm& comm, void* data, const int* counts, Offsets offsets,
                                MPI_Datatype type) {
  std::vector<Expected> all;
  for (int rank = 0; rank < comm.size; ++rank) all.push_back({rank, at(data, offsets[rank], type), counts[rank], type});
  return all;
}

/// The same; each offset is a number of bytes.
std::vector<Expected> blocks_of(const VirtualComm& comm, void* data, const int* counts, const int* offsets,
                                const MPI_Datatype* types) {
  std::vector<Expected> all;
  for (int rank = 0; rank < comm.size; ++rank)
    all.push_back({rank, static_cast<std::byte*>(data) + offsets[rank], counts[rank], types[rank]});
  return all;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): returns
#define MEND_TRY(call) \
  if (const int code = (call); code != MPI_SUCCESS) return code

int LoggedCollectives::begin_barrier(const VirtualComm& comm, MPI_Request* request) {
  std::vector<Expected> expected;
  for (int distance = 1; distance < comm.size; ++distance) {
    const int rank = (comm.rank + distance) % comm.size;
    MEND_TRY(send(comm, nullptr, 0, MPI_BYTE, rank));
    expected.push_back({rank, nullptr, 0, MPI_BYTE});
  }
  return messages_.begin_operation(comm, expected, {}, request);
}

int LoggedCollectives::begin_bcast(const VirtualComm& comm, void* data, int count, MPI_Datatype type, int root,
                                   MPI_Request* request) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  std::vector<Expected> expected;
  if (comm.rank != root) expected.push_back({root, data, count, type});
  for (int distance = 1; distance < comm.size && comm.rank == root; ++distance)
    MEND_TRY(send(comm, data, count, type, (root + distance) % comm.size));
  return messages_.begin_operation(comm, expected, {}, request);
}

LoggedCollectives::~LoggedCollectives() { free_kept_operations(); }

bool LoggedCollectives::may_need_operations() const {
  return messages_.has_pending() || messages_.has_persistent_on([](const VirtualComm&) { return true; });
}

bool LoggedCollectives::keep(MPI_Op op) {
  if (!may_need_operations()) {
    free_kept_operations();
    return false;
  }
  kept_operations_.push_back(op);
  return true;
}

/// By the library's own function: this object may be at its end.
void LoggedCollectives::free_kept_operations() {
  static const auto library = of_the_library<decltype(&PMPI_Op_free)>("PMPI_Op_free");
  for (MPI_Op& one : kept_operations_) library(&one);
  kept_operations_.clear();
}

/// Reduces the contributions of the ranks below `end`. This rank is one of them, or the first that is not.
int LoggedCollectives::begin_reduction(const VirtualComm& comm, const void* mine, void* in, int count,
                                       MPI_Datatype type, MPI_Op op, int end, MPI_Request* request) {
  if (!kept_operations_.empty() && !may_need_operations()) free_kept_operations();
  const auto all = std::make_shared<Contributions>(end, count, type);
  std::vector<Expected> expected;
  for (int rank = 0; rank < end; ++rank) {
    if (rank == comm.rank) {
      MEND_TRY(all->set(rank, mine));
    } else {
      expected.push_back({rank, all->of(rank), count, type});
    }
  }
  return messages_.begin_operation(
      comm, expected, [all, end, op, in] { return all->reduce(end, op, in); }, request);
}

int LoggedCollectives::begin_reduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                                    MPI_Op op, int root, MPI_Request* request) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  MEND_TRY(check_reduction(count, type, op));
  if (comm.rank == root)
    return begin_reduction(comm, out == MPI_IN_PLACE ? in : out, in, count, type, op, comm.size, request);
  MEND_TRY(send(comm, out, count, type, root));
  return messages_.begin_operation(comm, {}, {}, request);
}

int LoggedCollectives::begin_allreduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                                       MPI_Op op, MPI_Request* request) {
  MEND_TRY(check_reduction(count, type, op));
  const void* const mine = out == MPI_IN_PLACE ? in : out;
  for (int distance = 1; distance < comm.size; ++distance)
    MEND_TRY(send(comm, mine, count, type, (comm.rank + distance) % comm.size));
  return begin_reduction(comm, mine, in, count, type, op, comm.size, request);
}

int LoggedCollectives::begin_reduce_scatter(const VirtualComm& comm, const void* out, void* in, const int* counts,
                                            MPI_Datatype type, MPI_Op op, MPI_Request* request) {
  MEND_TRY(check_reduction(*std::min_element(counts, counts + comm.size), type, op));
  const Blocks blocks(std::vector<int>(counts, counts + comm.size));
  const void* const mine = out == MPI_IN_PLACE ? in : out;
  const auto block_of = [&](int rank) { return at(mine, blocks.offsets[static_cast<std::size_t>(rank)], type); };
  for (int distance = 1; distance < comm.size; ++distance) {
    const int rank = (comm.rank + distance) % comm.size;
    MEND_TRY(send(comm, block_of(rank), counts[rank], type, rank));
  }
  return begin_reduction(comm, block_of(comm.rank), in, counts[comm.rank], type, op, comm.size, request);
}

int LoggedCollectives::begin_scan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                                  MPI_Op op, MPI_Request* request) {
  MEND_TRY(check_reduction(count, type, op));
  const void* const mine = out == MPI_IN_PLACE ? in : out;
  for (int rank = comm.rank + 1; rank < comm.size; ++rank) MEND_TRY(send(comm, mine, count, type, rank));
  return begin_reduction(comm, mine, in, count, type, op, comm.rank + 1, request);
}

int LoggedCollectives::begin_exscan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Request* request) {
  MEND_TRY(check_reduction(count, type, op));
  const void* const mine = out == MPI_IN_PLACE ? in : out;
  for (int rank = comm.rank + 1; rank < comm.size; ++rank) MEND_TRY(send(comm, mine, count, type, rank));
  return begin_reduction(comm, mine, in, count, type, op, comm.rank, request);
}

int LoggedCollectives::begin_gatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type,
                                     void* in, const int* in_counts, Offsets offsets, MPI_Datatype in_type, int root,
                                     MPI_Request* request) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  if (comm.rank != root) {
    MEND_TRY(send(comm, out, out_count, out_type, root));
    return messages_.begin_operation(comm, {}, {}, request);
  }
  std::vector<Expected> expected = blocks_of(comm, in, in_counts, offsets, in_type);
  const Expected own = expected[static_cast<std::size_t>(root)];
  expected.erase(expected.begin() + root);
  if (out != MPI_IN_PLACE) MEND_TRY(copy(out, out_count, out_type, own.data, own.count, in_type));
  return messages_.begin_operation(comm, expected, {}, request);
}

int LoggedCollectives::begin_scatterv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets offsets,
                                      MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                                      MPI_Request* request) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  if (comm.rank != root) {
    const Expected one{root, in, in_count, in_type};
    return messages_.begin_operation(comm, {&one, 1}, {}, request);
  }
  MEND_TRY(scatter_from_root(comm, out, out_counts, offsets, out_type, in, in_count, in_type));
  return messages_.begin_operation(comm, {}, {}, request);
}

int LoggedCollectives::begin_allgatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type,
                                        void* in, const int* in_counts, Offsets offsets, MPI_Datatype in_type,
                                        MPI_Request* request) {
  std::vector<Expected> expected = blocks_of(comm, in, in_counts, offsets, in_type);
  const Expected own = expected[static_cast<std::size_t>(comm.rank)];
  expected.erase(expected.begin() + comm.rank);
  if (out != MPI_IN_PLACE) MEND_TRY(copy(out, out_count, out_type, own.data, own.count, in_type));
  for (int distance = 1; distance < comm.size; ++distance)
    MEND_TRY(send(comm, own.data, own.count, in_type, (comm.rank + distance) % comm.size));
  return messages_.begin_operation(comm, expected, {}, request);
}

/// Sends each rank its block. The blocks are only read.
int LoggedCollectives::send_to_all(const VirtualComm& comm, const std::vector<Expected>& own) {
  for (int distance = 0; distance < comm.size; ++distance) {
    const int rank = (comm.rank + distance) % comm.size;
    const Expected& block = own[static_cast<std::size_t>(rank)];
    MEND_TRY(send(comm, block.data, block.count, block.type, rank));
  }
  return MPI_SUCCESS;
}

/// The same, and begins to receive the blocks of the others.
int LoggedCollectives::begin_exchange(const VirtualComm& comm, const std::vector<Expected>& own,
                                      const std::vector<Expected>& expected, MPI_Request* request) {
  MEND_TRY(send_to_all(comm, own));
  return messages_.begin_operation(comm, expected, {}, request);
}

int LoggedCollectives::begin_alltoallv(const VirtualComm& comm, const void* out, const int* out_counts,
                                       Offsets out_offsets, MPI_Datatype out_type, void* in, const int* in_counts,
                                       Offsets in_offsets, MPI_Datatype in_type, MPI_Request* request) {
  const std::vector<Expected> expected = blocks_of(comm, in, in_counts, in_offsets, in_type);
  if (out == MPI_IN_PLACE) return begin_exchange(comm, expected, expected, request);
  return begin_exchange(comm, blocks_of(comm, const_cast<void*>(out), out_counts, out_offsets, out_type), expected,
                        request);
}

int LoggedCollectives::begin_alltoallw(const VirtualComm& comm, const void* out, const int* out_counts,
                                       const int* out_offsets, const MPI_Datatype* out_types, void* in,
                                       const int* in_counts, const int* in_offsets, const MPI_Datatype* in_types,
                                       MPI_Request* request) {
  const std::vector<Expected> expected = blocks_of(comm, in, in_counts, in_offsets, in_types);
  if (out == MPI_IN_PLACE) return begin_exchange(comm, expected, expected, request);
  return begin_exchange(comm, blocks_of(comm, const_cast<void*>(out), out_counts, out_offsets, out_types), expected,
                        request);
}

int LoggedCollectives::alltoallw(const VirtualComm& comm, const void* out, const int* out_counts,
                                 const int* out_offsets, const MPI_Datatype* out_types, void* in, const int* in_counts,
                                 const int* in_offsets, const MPI_Datatype* in_types) {
  // Not by a request: if the call is interrupted and made again, it would leave out what a request has received.
  const std::vector<Expected> expected = blocks_of(comm, in, in_counts, in_offsets, in_types);
  if (out == MPI_IN_PLACE) {
    MEND_TRY(send_to_all(comm, expected));
  } else {
    MEND_TRY(send_to_all(comm, blocks_of(comm, const_cast<void*>(out), out_counts, out_offsets, out_types)));
  }
  for (int distance = 0; distance < comm.size; ++distance) {
    const int rank = (comm.rank - distance + comm.size) % comm.size;
    const Expected& block = expected[static_cast<std::size_t>(rank)];
    MEND_TRY(receive(comm, block.data, block.count, block.type, rank));
  }
  return MPI_SUCCESS;
}

#undef MEND_TRY

}  // namespace mend
