#include "framework/local_rollback/collectives/logged_collectives.hpp"

#include "framework/local_rollback/values.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// The number of bytes from which values are reduced in blocks.
constexpr long long least_in_blocks = 32LL * 1024;

bool is_large(const VirtualComm& comm, int count, MPI_Datatype type) {
  return count >= comm.size && bytes_of(count, type) >= least_in_blocks;
}

}  // namespace

/// Memory for `count` values. One object at a time uses a Scratch.
class LoggedCollectives::Values {
 public:
  Values(Scratch& scratch, int count, MPI_Datatype type) : type_(type), count_(count) {
    MPI_Aint extent = 0;
    PMPI_Type_get_true_extent(type, &lower_, &extent);
    const auto bytes = static_cast<std::size_t>(count == 0 ? 0 : extent + (count - 1) * extent_of(type));
    if (scratch.size < bytes) scratch = {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
    bytes_ = scratch.bytes.get();
  }
  void* data() { return bytes_ - lower_; }
  int copy_of(const void* values) { return copy(values, count_, type_, data(), count_, type_); }
  int copy_to(void* values) { return copy(data(), count_, type_, values, count_, type_); }

 private:
  MPI_Datatype type_;
  int count_;
  MPI_Aint lower_ = 0;
  std::byte* bytes_;
};

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): returns
#define MEND_TRY(call) \
  if (const int code = (call); code != MPI_SUCCESS) return code

int LoggedCollectives::send(const VirtualComm& comm, const void* data, int count, MPI_Datatype type, int to) {
  return messages_.send(comm, Traffic::collectives, data, count, type, to, comm.collectives_tag,
                        LoggedMessages::SendEnds::at_once);
}

int LoggedCollectives::receive(const VirtualComm& comm, void* data, int count, MPI_Datatype type, int from) {
  return messages_.receive(comm, Traffic::collectives, data, count, type, from, comm.collectives_tag,
                           MPI_STATUS_IGNORE);
}

int LoggedCollectives::barrier(const VirtualComm& comm) {
  for (int distance = 1; distance < comm.size; distance *= 2) {
    MEND_TRY(send(comm, nullptr, 0, MPI_BYTE, (comm.rank + distance) % comm.size));
    MEND_TRY(receive(comm, nullptr, 0, MPI_BYTE, (comm.rank - distance + comm.size) % comm.size));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::bcast(const VirtualComm& comm, void* data, int count, MPI_Datatype type, int root) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  const int place = (comm.rank - root + comm.size) % comm.size;
  const auto rank_at = [&](int one) { return (one + root) % comm.size; };
  int distance = 1;
  for (; distance < comm.size; distance *= 2) {
    if ((place & distance) == 0) continue;
    MEND_TRY(receive(comm, data, count, type, rank_at(place - distance)));
    break;
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place + distance < comm.size) MEND_TRY(send(comm, data, count, type, rank_at(place + distance)));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::reduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                              MPI_Op op, int root) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  MEND_TRY(check_reduction(count, type, op));
  const void* const mine = out == MPI_IN_PLACE ? in : out;
  if (is_large(comm, count, type)) {
    const Blocks blocks = Blocks::of(count, comm.size);
    const int length = blocks.counts[static_cast<std::size_t>(comm.rank)];
    Values sum(scratch_[0], length, type);
    Values other(scratch_[1], length, type);
    MEND_TRY(reduce_block(comm, mine, blocks, type, op, sum, other));
    return gatherv(comm, sum.data(), length, type, in, blocks.counts.data(), blocks.offsets.data(), type, root);
  }
  int commutes = 1;
  MEND_TRY(PMPI_Op_commutative(op, &commutes));
  return commutes == 0 ? reduce_in_order(comm, mine, in, count, type, op, root)
                       : reduce_by_tree(comm, mine, in, count, type, op, root);
}

int LoggedCollectives::reduce_in_order(const VirtualComm& comm, const void* mine, void* in, int count,
                                       MPI_Datatype type, MPI_Op op, int root) {
  if (comm.rank != root) return send(comm, mine, count, type, root);
  Values sum(scratch_[0], count, type);
  Values other(scratch_[1], count, type);
  // From the last rank to the first: Reduce_local puts its first operand before the second.
  for (int rank = comm.size - 1; rank >= 0; --rank) {
    Values& into = rank == comm.size - 1 ? sum : other;
    if (rank == root) {
      MEND_TRY(into.copy_of(mine));
    } else {
      MEND_TRY(receive(comm, into.data(), count, type, rank));
    }
    if (rank != comm.size - 1) MEND_TRY(PMPI_Reduce_local(other.data(), sum.data(), count, type, op));
  }
  return sum.copy_to(in);
}

int LoggedCollectives::reduce_by_tree(const VirtualComm& comm, const void* mine, void* in, int count, MPI_Datatype type,
                                      MPI_Op op, int root) {
  Values sum(scratch_[0], count, type);
  Values other(scratch_[1], count, type);
  const int place = (comm.rank - root + comm.size) % comm.size;
  const auto rank_at = [&](int one) { return (one + root) % comm.size; };
  MEND_TRY(sum.copy_of(mine));
  for (int distance = 1; distance < comm.size; distance *= 2) {
    if ((place & distance) != 0) return send(comm, sum.data(), count, type, rank_at(place - distance));
    if (place + distance >= comm.size) continue;
    MEND_TRY(receive(comm, other.data(), count, type, rank_at(place + distance)));
    MEND_TRY(PMPI_Reduce_local(other.data(), sum.data(), count, type, op));
  }
  return sum.copy_to(in);
}

/// Each rank sends every other rank the block of that rank, and reduces its own block in `sum`, from the last rank's to
/// the first's: Reduce_local puts its first operand before the second.
int LoggedCollectives::reduce_block(const VirtualComm& comm, const void* mine, const Blocks& blocks, MPI_Datatype type,
                                    MPI_Op op, Values& sum, Values& other) {
  const auto block_of = [&](int rank) { return at(mine, blocks.offsets[static_cast<std::size_t>(rank)], type); };
  const auto count_of = [&](int rank) { return blocks.counts[static_cast<std::size_t>(rank)]; };
  for (int distance = 1; distance < comm.size; ++distance) {
    const int rank = (comm.rank + distance) % comm.size;
    MEND_TRY(send(comm, block_of(rank), count_of(rank), type, rank));
  }
  const int count = count_of(comm.rank);
  for (int rank = comm.size - 1; rank >= 0; --rank) {
    Values& into = rank == comm.size - 1 ? sum : other;
    if (rank == comm.rank) {
      MEND_TRY(into.copy_of(block_of(rank)));
    } else {
      MEND_TRY(receive(comm, into.data(), count, type, rank));
    }
    if (rank != comm.size - 1) MEND_TRY(PMPI_Reduce_local(other.data(), sum.data(), count, type, op));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::allreduce(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                                 MPI_Op op) {
  MEND_TRY(check_reduction(count, type, op));
  if (!is_large(comm, count, type)) {
    if (out != MPI_IN_PLACE) MEND_TRY(copy(out, count, type, in, count, type));
    return reduce_by_doubling(comm, in, count, type, op);
  }
  const Blocks blocks = Blocks::of(count, comm.size);
  const auto self = static_cast<std::size_t>(comm.rank);
  Values sum(scratch_[0], blocks.counts[self], type);
  Values other(scratch_[1], blocks.counts[self], type);
  MEND_TRY(reduce_block(comm, out == MPI_IN_PLACE ? in : out, blocks, type, op, sum, other));
  MEND_TRY(sum.copy_to(at(in, blocks.offsets[self], type)));
  return allgatherv(comm, MPI_IN_PLACE, 0, type, in, blocks.counts.data(), blocks.offsets.data(), type);
}

/// Neighbours form pairs until the number of places is a power of two. Then places exchange their values, at twice the
/// distance each time. A place always has the values of adjacent ranks, and the lower ranks' come first, so both sides
/// of an exchange compute the same bits.
int LoggedCollectives::reduce_by_doubling(const VirtualComm& comm, void* values, int count, MPI_Datatype type,
                                          MPI_Op op) {
  const int places = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size)));
  const int pairs = comm.size - places;
  const bool is_paired = comm.rank < 2 * pairs;
  Values other(scratch_[0], count, type);
  if (is_paired && comm.rank % 2 == 0) {
    MEND_TRY(send(comm, values, count, type, comm.rank + 1));
    return receive(comm, values, count, type, comm.rank + 1);
  }
  if (is_paired) {
    MEND_TRY(receive(comm, other.data(), count, type, comm.rank - 1));
    MEND_TRY(PMPI_Reduce_local(other.data(), values, count, type, op));
  }
  const int place = is_paired ? comm.rank / 2 : comm.rank - pairs;
  void* sum = values;
  void* theirs = other.data();
  for (int distance = 1; distance < places; distance *= 2) {
    const int peer_place = place ^ distance;
    const int peer = peer_place < pairs ? 2 * peer_place + 1 : peer_place + pairs;
    MEND_TRY(send(comm, sum, count, type, peer));
    MEND_TRY(receive(comm, theirs, count, type, peer));
    if (peer > comm.rank) std::swap(sum, theirs);
    MEND_TRY(PMPI_Reduce_local(theirs, sum, count, type, op));
  }
  if (sum != values) MEND_TRY(copy(sum, count, type, values, count, type));
  return is_paired ? send(comm, values, count, type, comm.rank - 1) : MPI_SUCCESS;
}

int LoggedCollectives::reduce_scatter(const VirtualComm& comm, const void* out, void* in, const int* counts,
                                      MPI_Datatype type, MPI_Op op) {
  MEND_TRY(check_reduction(*std::min_element(counts, counts + comm.size), type, op));
  const Blocks blocks(std::vector<int>(counts, counts + comm.size));
  Values sum(scratch_[0], counts[comm.rank], type);
  Values other(scratch_[1], counts[comm.rank], type);
  MEND_TRY(reduce_block(comm, out == MPI_IN_PLACE ? in : out, blocks, type, op, sum, other));
  return sum.copy_to(in);
}

int LoggedCollectives::scan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                            MPI_Op op) {
  MEND_TRY(check_reduction(count, type, op));
  if (out != MPI_IN_PLACE) MEND_TRY(copy(out, count, type, in, count, type));
  if (comm.rank > 0) {
    Values before(scratch_[0], count, type);
    MEND_TRY(receive(comm, before.data(), count, type, comm.rank - 1));
    MEND_TRY(PMPI_Reduce_local(before.data(), in, count, type, op));
  }
  return comm.rank + 1 < comm.size ? send(comm, in, count, type, comm.rank + 1) : MPI_SUCCESS;
}

int LoggedCollectives::exscan(const VirtualComm& comm, const void* out, void* in, int count, MPI_Datatype type,
                              MPI_Op op) {
  MEND_TRY(check_reduction(count, type, op));
  Values sum(scratch_[0], count, type);
  MEND_TRY(sum.copy_of(out == MPI_IN_PLACE ? in : out));
  if (comm.rank > 0) {
    MEND_TRY(receive(comm, in, count, type, comm.rank - 1));
    MEND_TRY(PMPI_Reduce_local(in, sum.data(), count, type, op));
  }
  return comm.rank + 1 < comm.size ? send(comm, sum.data(), count, type, comm.rank + 1) : MPI_SUCCESS;
}

int LoggedCollectives::gatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type, void* in,
                               const int* in_counts, Offsets offsets, MPI_Datatype in_type, int root) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  if (comm.rank != root) return send(comm, out, out_count, out_type, root);
  for (int rank = 0; rank < comm.size; ++rank) {
    void* const place = at(in, offsets[rank], in_type);
    if (rank != root) {
      MEND_TRY(receive(comm, place, in_counts[rank], in_type, rank));
    } else if (out != MPI_IN_PLACE) {
      MEND_TRY(copy(out, out_count, out_type, place, in_counts[rank], in_type));
    }
  }
  return MPI_SUCCESS;
}

/// Sends the others their blocks, and copies the block of this rank, which is the root.
int LoggedCollectives::scatter_from_root(const VirtualComm& comm, const void* out, const int* out_counts,
                                         Offsets offsets, MPI_Datatype out_type, void* in, int in_count,
                                         MPI_Datatype in_type) {
  for (int rank = 0; rank < comm.size; ++rank) {
    const void* const place = at(out, offsets[rank], out_type);
    if (rank != comm.rank) {
      MEND_TRY(send(comm, place, out_counts[rank], out_type, rank));
    } else if (in != MPI_IN_PLACE) {
      MEND_TRY(copy(place, out_counts[rank], out_type, in, in_count, in_type));
    }
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::scatterv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets offsets,
                                MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root) {
  if (root < 0 || root >= comm.size) return MPI_ERR_ROOT;
  if (comm.rank != root) return receive(comm, in, in_count, in_type, root);
  return scatter_from_root(comm, out, out_counts, offsets, out_type, in, in_count, in_type);
}

int LoggedCollectives::allgatherv(const VirtualComm& comm, const void* out, int out_count, MPI_Datatype out_type,
                                  void* in, const int* in_counts, Offsets offsets, MPI_Datatype in_type) {
  void* const mine = at(in, offsets[comm.rank], in_type);
  const int count = in_counts[comm.rank];
  if (out != MPI_IN_PLACE) MEND_TRY(copy(out, out_count, out_type, mine, count, in_type));
  for (int distance = 1; distance < comm.size; ++distance)
    MEND_TRY(send(comm, mine, count, in_type, (comm.rank + distance) % comm.size));
  for (int distance = 1; distance < comm.size; ++distance) {
    const int rank = (comm.rank - distance + comm.size) % comm.size;
    MEND_TRY(receive(comm, at(in, offsets[rank], in_type), in_counts[rank], in_type, rank));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::alltoallv(const VirtualComm& comm, const void* out, const int* out_counts, Offsets out_offsets,
                                 MPI_Datatype out_type, void* in, const int* in_counts, Offsets in_offsets,
                                 MPI_Datatype in_type) {
  const bool is_in_place = out == MPI_IN_PLACE;
  const void* const from = is_in_place ? in : out;
  const int* const counts = is_in_place ? in_counts : out_counts;
  const Offsets offsets = is_in_place ? in_offsets : out_offsets;
  const MPI_Datatype type = is_in_place ? in_type : out_type;
  for (int distance = 0; distance < comm.size; ++distance) {
    const int rank = (comm.rank + distance) % comm.size;
    MEND_TRY(send(comm, at(from, offsets[rank], type), counts[rank], type, rank));
  }
  for (int distance = 0; distance < comm.size; ++distance) {
    const int rank = (comm.rank - distance + comm.size) % comm.size;
    MEND_TRY(receive(comm, at(in, in_offsets[rank], in_type), in_counts[rank], in_type, rank));
  }
  return MPI_SUCCESS;
}

#undef MEND_TRY

}  // namespace mend
