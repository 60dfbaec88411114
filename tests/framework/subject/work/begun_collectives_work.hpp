// Collective calls that do not block: several at once, completed in all ways, with messages and calls that block in
// between.

#pragma once

#include "tests/framework/subject/work/place_in.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

namespace subject {

/// All such calls on `comm`, begun one after the other, in place if `in_place`: the results, one after the other.
/// `mine`: as many values as there are ranks, times `count`. `op` is one of `type`, of which `words` make one.
inline std::vector<unsigned long> begin_all(MPI_Comm comm, const std::vector<unsigned long>& mine, int count,
                                            MPI_Datatype type, int words, MPI_Op op, bool in_place) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = size - 1;
  const bool is_root = rank == root;
  const auto blocks = static_cast<std::size_t>(size);
  const auto length = static_cast<std::size_t>(count * words);
  std::vector<int> counts(blocks);
  std::vector<int> offsets(blocks);
  for (int i = 0; i < size; ++i) counts[static_cast<std::size_t>(i)] = i % 2 == 0 ? count : count / 2;
  for (int i = 0; i < size; ++i) offsets[static_cast<std::size_t>(i)] = i * count;
  std::vector<int> bytes(blocks);
  for (std::size_t i = 0; i < blocks; ++i) bytes[i] = offsets[i] * words * static_cast<int>(sizeof(unsigned long));
  const std::vector<MPI_Datatype> types(blocks, type);
  const int own = counts[static_cast<std::size_t>(rank)];
  std::vector<int> columns(blocks, own);  // what this rank gets from each

  constexpr std::size_t calls = 17;
  std::array<std::vector<unsigned long>, calls> in;
  for (std::vector<unsigned long>& one : in) one.assign(length * blocks, 0);
  std::array<MPI_Request, calls> requests{};
  requests.fill(MPI_REQUEST_NULL);
  std::size_t call = 0;
  // What is given, and where the result comes.
  const auto given = [&](bool may_be_in_place) -> const void* {
    if (!in_place || !may_be_in_place) return mine.data();
    in[call] = mine;
    return MPI_IN_PLACE;
  };
  const auto result = [&] { return in[call].data(); };
  const auto request = [&] { return &requests[call]; };

  MPI_Ibarrier(comm, request());
  ++call;
  if (is_root) in[call] = mine;
  MPI_Ibcast(result(), count, type, root, comm, request());
  ++call;
  const void* out = given(is_root);
  MPI_Ireduce(out, result(), count, type, op, root, comm, request());
  ++call;
  out = given(true);
  MPI_Iallreduce(out, result(), count, type, op, comm, request());
  ++call;
  out = given(true);
  MPI_Iscan(out, result(), count, type, op, comm, request());
  ++call;
  out = given(true);
  MPI_Iexscan(out, result(), count, type, op, comm, request());
  ++call;
  out = given(true);
  MPI_Ireduce_scatter(out, result(), counts.data(), type, op, comm, request());
  ++call;
  out = given(true);
  MPI_Ireduce_scatter_block(out, result(), count, type, op, comm, request());
  ++call;
  double token = rank;
  MPI_Sendrecv_replace(&token, 1, MPI_DOUBLE, (rank + 1) % size, 5, (rank + size - 1) % size, 5, comm,
                       MPI_STATUS_IGNORE);
  out = given(is_root);
  MPI_Igather(out, count, type, result(), count, type, root, comm, request());
  ++call;
  out = given(is_root);
  MPI_Igatherv(out, own, type, result(), counts.data(), offsets.data(), type, root, comm, request());
  ++call;
  MPI_Iscatter(mine.data(), count, type, is_root && in_place ? MPI_IN_PLACE : result(), count, type, root, comm,
               request());
  ++call;
  MPI_Iscatterv(mine.data(), counts.data(), offsets.data(), type, is_root && in_place ? MPI_IN_PLACE : result(), own,
                type, root, comm, request());
  ++call;
  MPI_Barrier(comm);
  out = given(true);
  MPI_Iallgather(out, count, type, result(), count, type, comm, request());
  ++call;
  out = given(true);
  MPI_Iallgatherv(out, own, type, result(), counts.data(), offsets.data(), type, comm, request());
  ++call;
  out = given(true);
  MPI_Ialltoall(out, count, type, result(), count, type, comm, request());
  ++call;
  out = given(false);
  MPI_Ialltoallv(out, counts.data(), offsets.data(), type, result(), columns.data(), offsets.data(), type, comm,
                 request());
  ++call;
  out = given(false);
  MPI_Ialltoallw(out, counts.data(), bytes.data(), types.data(), result(), columns.data(), bytes.data(), types.data(),
                 comm, request());
  ++call;

  int index = 0;
  int flag = 0;
  MPI_Status status;
  MPI_Wait(&requests[3], &status);
  for (flag = 0; flag == 0; std::this_thread::yield()) MPI_Test(&requests[16], &flag, &status);
  MPI_Waitany(4, &requests[4], &index, MPI_STATUS_IGNORE);
  for (flag = 0; flag == 0; std::this_thread::yield()) MPI_Testall(4, &requests[4], &flag, MPI_STATUSES_IGNORE);
  std::array<int, calls> which{};
  for (int done = 0; done != MPI_UNDEFINED;) MPI_Waitsome(4, &requests[8], &done, which.data(), MPI_STATUSES_IGNORE);
  for (int done = 0; done != MPI_UNDEFINED; std::this_thread::yield())
    MPI_Testsome(4, &requests[12], &done, which.data(), MPI_STATUSES_IGNORE);
  MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);

  // What MPI defines of these.
  if (rank == 0) in[5].clear();
  in[6].resize(static_cast<std::size_t>(own * words));
  in[7].resize(length);
  std::vector<unsigned long> blocking(length * blocks, 0);
  MPI_Alltoallw(mine.data(), counts.data(), bytes.data(), types.data(), blocking.data(), columns.data(), bytes.data(),
                types.data(), comm);
  if (blocking != in[16]) throw std::runtime_error("MPI_Alltoallw is another than MPI_Ialltoallw");
  std::vector<unsigned long> all{static_cast<unsigned long>(token)};
  for (const std::vector<unsigned long>& one : in) all.insert(all.end(), one.begin(), one.end());
  return all;
}

class BegunCollectivesWork {
 public:
  explicit BegunCollectivesWork(MPI_Comm comm) : size_(size_of(comm)) { MPI_Comm_dup(comm, &comm_); }
  ~BegunCollectivesWork() { MPI_Comm_free(&comm_); }
  BegunCollectivesWork(const BegunCollectivesWork&) = delete;
  BegunCollectivesWork& operator=(const BegunCollectivesWork&) = delete;

  void step(std::vector<double>& state) const {
    unsigned long sum = 0;
    for (const bool in_place : {false, true}) {
      constexpr int count = 600;  // blocks that are sent at once, and such that wait for their receive
      std::vector<unsigned long> mine(static_cast<std::size_t>(size_) * count);
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = static_cast<unsigned long>(1e6 * state[i % state.size()]) + i;
      const auto all = begin_all(comm_, mine, count, MPI_UNSIGNED_LONG, 1, MPI_SUM, in_place);
      for (std::size_t i = 0; i < all.size(); ++i) sum = 31 * sum + all[i];
    }
    double largest = static_cast<double>(sum % 1000);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, comm_);
    for (double& value : state) value = 0.3 * value + 0.001 * static_cast<double>(sum % 1000) + 0.001 * largest;
  }

 private:
  int size_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace subject
