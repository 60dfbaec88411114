// Steps with synchronous sends that do not block, and matched messages, by which every rank's state depends on others'.

#pragma once

#include "tests/framework/subject/work/place_in.hpp"

#include <mpi.h>

#include <array>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace subject {

class RequestsWork {
 public:
  explicit RequestsWork(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), size_(size_of(comm)) {
    MPI_Ssend_init(&out_, 1, MPI_DOUBLE, right(), 4, comm_, &persistent_[0]);
    MPI_Recv_init(&in_, 1, MPI_DOUBLE, left(), 4, comm_, &persistent_[1]);
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
  }
  ~RequestsWork() {
    MPI_Type_free(&column_);
    for (MPI_Request& one : persistent_) MPI_Request_free(&one);
  }
  RequestsWork(const RequestsWork&) = delete;
  RequestsWork& operator=(const RequestsWork&) = delete;

  void step(std::vector<double>& state) {
    const double sum =
        0.1 * synchronous(state) + 0.1 * persistent(state[1]) + 0.1 * matched(state) + 0.1 * matched_from_any(state[2]);
    double all = state[0];
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = 0.3 * state[i] + 0.001 * sum + 0.0001 * all;
  }

 private:
  int right() const { return (rank_ + 1) % size_; }
  int left() const { return (rank_ + size_ - 1) % size_; }

  /// Short, long and empty ones, of which one is received long after the others.
  double synchronous(const std::vector<double>& state) const {
    std::array<MPI_Request, 4> sends{};
    const int many = static_cast<int>(state.size());
    MPI_Issend(state.data(), many, MPI_DOUBLE, right(), 1, comm_, &sends[0]);
    MPI_Issend(nullptr, 0, MPI_DOUBLE, right(), 2, comm_, &sends[1]);
    MPI_Issend(&state[3], 1, MPI_DOUBLE, left(), 3, comm_, &sends[2]);
    MPI_Issend(&state[3], 1, MPI_DOUBLE, MPI_PROC_NULL, 3, comm_, &sends[3]);
    double late = 0;
    std::vector<double> early(state.size());
    MPI_Recv(nullptr, 0, MPI_DOUBLE, left(), 2, comm_, MPI_STATUS_IGNORE);
    MPI_Recv(early.data(), many, MPI_DOUBLE, left(), 1, comm_, MPI_STATUS_IGNORE);
    int which = 0;
    int is_first = 0;
    while (is_first == 0) {
      MPI_Testany(2, sends.data(), &which, &is_first, MPI_STATUS_IGNORE);
      std::this_thread::yield();
    }
    if (sends[static_cast<std::size_t>(which)] != MPI_REQUEST_NULL) throw std::runtime_error("a request is not gone");
    MPI_Barrier(comm_);
    MPI_Recv(&late, 1, MPI_DOUBLE, right(), 3, comm_, MPI_STATUS_IGNORE);
    MPI_Waitall(4, sends.data(), MPI_STATUSES_IGNORE);
    return early[5] + late;
  }

  double persistent(double value) {
    double sum = 0;
    for (int i = 0; i < 2; ++i) {
      out_ = value + 0.5 * sum;
      MPI_Startall(2, persistent_.data());
      MPI_Waitall(2, persistent_.data(), MPI_STATUSES_IGNORE);
      sum += in_;
    }
    return sum;
  }

  /// Messages that are matched before others are sent, and received after those.
  double matched(const std::vector<double>& state) const {
    MPI_Message first = MPI_MESSAGE_NULL;
    MPI_Message second = MPI_MESSAGE_NULL;
    MPI_Message of_nobody = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Send(&state[4], 2, MPI_DOUBLE, right(), 5, comm_);
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Isend(state.data(), static_cast<int>(state.size()), MPI_DOUBLE, right(), 6, comm_, &send);
    MPI_Mprobe(left(), 5, comm_, &first, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    if (count != 2 || status.MPI_SOURCE != left() || status.MPI_TAG != 5) throw std::runtime_error("a status is wrong");
    for (int flag = 0; flag == 0; std::this_thread::yield())
      MPI_Improbe(left(), MPI_ANY_TAG, comm_, &flag, &second, &status);
    MPI_Mprobe(MPI_PROC_NULL, 0, comm_, &of_nobody, MPI_STATUS_IGNORE);
    MPI_Mrecv(nullptr, 0, MPI_DOUBLE, &of_nobody, &status);
    if (status.MPI_SOURCE != MPI_PROC_NULL) throw std::runtime_error("a status is wrong");
    double all = state[6];
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_MAX, comm_);
    std::array<double, 3> apart{};
    MPI_Mrecv(apart.data(), 1, column_, &first, &status);
    if (status.MPI_SOURCE != left() || status.MPI_TAG != 5) throw std::runtime_error("a status is wrong");
    std::vector<double> in(state.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Imrecv(in.data(), static_cast<int>(in.size()), MPI_DOUBLE, &second, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    if (count != static_cast<int>(in.size()) || status.MPI_TAG != 6 || second != MPI_MESSAGE_NULL)
      throw std::runtime_error("a status is wrong");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    return apart[0] + apart[2] + in[7] + all;
  }

  /// All tell rank 0, which answers all.
  double matched_from_any(double value) const {
    if (rank_ != 0) {
      MPI_Send(&value, 1, MPI_DOUBLE, 0, 7, comm_);
      MPI_Recv(&value, 1, MPI_DOUBLE, 0, 8, comm_, MPI_STATUS_IGNORE);
      return value;
    }
    std::vector<double> told(static_cast<std::size_t>(size_));
    for (int i = 1; i < size_; ++i) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int flag = 0;
      while (flag == 0) {
        MPI_Improbe(MPI_ANY_SOURCE, 7, comm_, &flag, &message, &status);
        std::this_thread::yield();
      }
      MPI_Mrecv(&told[static_cast<std::size_t>(status.MPI_SOURCE)], 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    }
    double sum = value;
    for (const double one : told) sum = 0.5 * sum + one;
    for (int i = 1; i < size_; ++i) MPI_Send(&sum, 1, MPI_DOUBLE, i, 8, comm_);
    return sum;
  }

  MPI_Comm comm_;
  int rank_;
  int size_;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  double in_ = 0;
  double out_ = 0;
  std::array<MPI_Request, 2> persistent_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace subject
