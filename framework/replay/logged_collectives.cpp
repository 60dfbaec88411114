#include "framework/replay/logged_collectives.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace mend {
namespace {

constexpr int tag = 0;  // the order of a channel is enough

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

const void* at(const void* data, MPI_Aint index, MPI_Datatype type) {
  return static_cast<const std::byte*>(data) + index * extent_of(type);
}
void* at(void* data, MPI_Aint index, MPI_Datatype type) {
  return static_cast<std::byte*>(data) + index * extent_of(type);
}

int copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type) {
  return PMPI_Sendrecv(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, MPI_COMM_SELF,
                       MPI_STATUS_IGNORE);
}

/// Memory for `count` values.
class Values {
 public:
  Values(int count, MPI_Datatype type) : type_(type), count_(count) {
    MPI_Aint extent = 0;
    PMPI_Type_get_true_extent(type, &lower_, &extent);
    const MPI_Aint bytes = count == 0 ? 0 : extent + (count - 1) * extent_of(type);
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  }
  void* data() { return bytes_.get() - lower_; }
  int copy_of(const void* values) { return copy(values, count_, type_, data(), count_, type_); }

 private:
  MPI_Datatype type_;
  int count_;
  MPI_Aint lower_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): returns
#define MEND_TRY(call) \
  if (const int code = (call); code != MPI_SUCCESS) return code

int LoggedCollectives::send(const Front& front, const void* data, int count, MPI_Datatype type, int to) {
  return messages_.send(front, Traffic::collectives, data, count, type, to, tag, LoggedMessages::SendEnds::at_once);
}

int LoggedCollectives::receive(const Front& front, void* data, int count, MPI_Datatype type, int from) {
  return messages_.receive(front, Traffic::collectives, data, count, type, from, tag, MPI_STATUS_IGNORE);
}

int LoggedCollectives::barrier(const Front& front) {
  for (int distance = 1; distance < front.size; distance *= 2) {
    MEND_TRY(send(front, nullptr, 0, MPI_BYTE, (front.rank + distance) % front.size));
    MEND_TRY(receive(front, nullptr, 0, MPI_BYTE, (front.rank - distance + front.size) % front.size));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::bcast(const Front& front, void* data, int count, MPI_Datatype type, int root) {
  if (root < 0 || root >= front.size) return MPI_ERR_ROOT;
  const int place = (front.rank - root + front.size) % front.size;
  const auto rank_at = [&](int one) { return (one + root) % front.size; };
  int distance = 1;
  for (; distance < front.size; distance *= 2) {
    if ((place & distance) == 0) continue;
    MEND_TRY(receive(front, data, count, type, rank_at(place - distance)));
    break;
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (place + distance < front.size) MEND_TRY(send(front, data, count, type, rank_at(place + distance)));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::reduce(const Front& front, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                              int root) {
  if (root < 0 || root >= front.size) return MPI_ERR_ROOT;
  const void* const mine = out == MPI_IN_PLACE ? in : out;
  int commutes = 1;
  MEND_TRY(PMPI_Op_commutative(op, &commutes));
  Values other(count, type);
  Values sum(count, type);
  if (commutes == 0) {
    if (front.rank != root) return send(front, mine, count, type, root);
    // From the last rank to the first: Reduce_local puts its first operand before the second.
    for (int rank = front.size - 1; rank >= 0; --rank) {
      Values& into = rank == front.size - 1 ? sum : other;
      if (rank == root) {
        MEND_TRY(into.copy_of(mine));
      } else {
        MEND_TRY(receive(front, into.data(), count, type, rank));
      }
      if (rank != front.size - 1) MEND_TRY(PMPI_Reduce_local(other.data(), sum.data(), count, type, op));
    }
    return copy(sum.data(), count, type, in, count, type);
  }
  const int place = (front.rank - root + front.size) % front.size;
  const auto rank_at = [&](int one) { return (one + root) % front.size; };
  MEND_TRY(sum.copy_of(mine));
  for (int distance = 1; distance < front.size; distance *= 2) {
    if ((place & distance) != 0) return send(front, sum.data(), count, type, rank_at(place - distance));
    if (place + distance >= front.size) continue;
    MEND_TRY(receive(front, other.data(), count, type, rank_at(place + distance)));
    MEND_TRY(PMPI_Reduce_local(other.data(), sum.data(), count, type, op));
  }
  return copy(sum.data(), count, type, in, count, type);
}

int LoggedCollectives::allreduce(const Front& front, const void* out, void* in, int count, MPI_Datatype type,
                                 MPI_Op op) {
  const bool is_in_place = out == MPI_IN_PLACE && front.rank != 0;
  MEND_TRY(reduce(front, is_in_place ? in : out, in, count, type, op, 0));
  return bcast(front, in, count, type, 0);
}

int LoggedCollectives::scan(const Front& front, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op) {
  if (out != MPI_IN_PLACE) MEND_TRY(copy(out, count, type, in, count, type));
  if (front.rank > 0) {
    Values before(count, type);
    MEND_TRY(receive(front, before.data(), count, type, front.rank - 1));
    MEND_TRY(PMPI_Reduce_local(before.data(), in, count, type, op));
  }
  return front.rank + 1 < front.size ? send(front, in, count, type, front.rank + 1) : MPI_SUCCESS;
}

int LoggedCollectives::exscan(const Front& front, const void* out, void* in, int count, MPI_Datatype type, MPI_Op op) {
  Values sum(count, type);
  MEND_TRY(sum.copy_of(out == MPI_IN_PLACE ? in : out));
  if (front.rank > 0) {
    MEND_TRY(receive(front, in, count, type, front.rank - 1));
    MEND_TRY(PMPI_Reduce_local(in, sum.data(), count, type, op));
  }
  return front.rank + 1 < front.size ? send(front, sum.data(), count, type, front.rank + 1) : MPI_SUCCESS;
}

int LoggedCollectives::gatherv(const Front& front, const void* out, int out_count, MPI_Datatype out_type, void* in,
                               const int* in_counts, const int* offsets, MPI_Datatype in_type, int root) {
  if (root < 0 || root >= front.size) return MPI_ERR_ROOT;
  if (front.rank != root) return send(front, out, out_count, out_type, root);
  for (int rank = 0; rank < front.size; ++rank) {
    void* const place = at(in, offsets[rank], in_type);
    if (rank != root) {
      MEND_TRY(receive(front, place, in_counts[rank], in_type, rank));
    } else if (out != MPI_IN_PLACE) {
      MEND_TRY(copy(out, out_count, out_type, place, in_counts[rank], in_type));
    }
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::scatterv(const Front& front, const void* out, const int* out_counts, const int* offsets,
                                MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root) {
  if (root < 0 || root >= front.size) return MPI_ERR_ROOT;
  if (front.rank != root) return receive(front, in, in_count, in_type, root);
  for (int rank = 0; rank < front.size; ++rank) {
    const void* const place = at(out, offsets[rank], out_type);
    if (rank != root) {
      MEND_TRY(send(front, place, out_counts[rank], out_type, rank));
    } else if (in != MPI_IN_PLACE) {
      MEND_TRY(copy(place, out_counts[rank], out_type, in, in_count, in_type));
    }
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::allgatherv(const Front& front, const void* out, int out_count, MPI_Datatype out_type, void* in,
                                  const int* in_counts, const int* offsets, MPI_Datatype in_type) {
  void* const mine = at(in, offsets[front.rank], in_type);
  const int count = in_counts[front.rank];
  if (out != MPI_IN_PLACE) MEND_TRY(copy(out, out_count, out_type, mine, count, in_type));
  for (int distance = 1; distance < front.size; ++distance)
    MEND_TRY(send(front, mine, count, in_type, (front.rank + distance) % front.size));
  for (int distance = 1; distance < front.size; ++distance) {
    const int rank = (front.rank - distance + front.size) % front.size;
    MEND_TRY(receive(front, at(in, offsets[rank], in_type), in_counts[rank], in_type, rank));
  }
  return MPI_SUCCESS;
}

int LoggedCollectives::alltoallv(const Front& front, const void* out, const int* out_counts, const int* out_offsets,
                                 MPI_Datatype out_type, void* in, const int* in_counts, const int* in_offsets,
                                 MPI_Datatype in_type) {
  const bool is_in_place = out == MPI_IN_PLACE;
  const void* const from = is_in_place ? in : out;
  const int* const counts = is_in_place ? in_counts : out_counts;
  const int* const offsets = is_in_place ? in_offsets : out_offsets;
  const MPI_Datatype type = is_in_place ? in_type : out_type;
  for (int distance = 0; distance < front.size; ++distance) {
    const int rank = (front.rank + distance) % front.size;
    MEND_TRY(send(front, at(from, offsets[rank], type), counts[rank], type, rank));
  }
  for (int distance = 0; distance < front.size; ++distance) {
    const int rank = (front.rank - distance + front.size) % front.size;
    MEND_TRY(receive(front, at(in, in_offsets[rank], in_type), in_counts[rank], in_type, rank));
  }
  return MPI_SUCCESS;
}

#undef MEND_TRY

}  // namespace mend
