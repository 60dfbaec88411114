// Steps in which ranks receive from any source, in all ways that there are. What is received is put in its source's
// place, so the order does not matter; but if a message is taken that belongs to a later part, the result is another.

#pragma once

#include "tests/framework/subject/work/place_in.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace subject {

class AnySourceWork {
 public:
  explicit AnySourceWork(MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), size_(size_of(comm)) {
    const int is_periodic = 1;
    MPI_Cart_create(comm_, 1, &size_, &is_periodic, 0, &ring_);
    MPI_Recv_init(&in_, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, ring_, &persistent_);
  }
  ~AnySourceWork() {
    MPI_Request_free(&persistent_);
    MPI_Comm_free(&ring_);
  }
  AnySourceWork(const AnySourceWork&) = delete;
  AnySourceWork& operator=(const AnySourceWork&) = delete;

  void step(std::vector<double>& state) {
    double sum = 0;
    for (const int master : {0, size_ - 1}) sum += 0.1 * serve(state[1], master);
    sum += 0.1 * meet_neighbours(state[2]) + 0.1 * tell_all(state[3]) + 0.1 * round_the_ring(state[4]);
    double all = state[0];
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
    for (double& value : state) value = 0.3 * value + 0.001 * sum + 0.0001 * all;
  }

 private:
  static constexpr int question = 11;

  /// Each rank asks the master, and asks again with what it was answered, by messages that look the same.
  double serve(double value, int master) const {
    if (rank_ != master) {
      double answer = value;
      for (int i = 0; i < 3; ++i) {
        MPI_Send(&answer, 1, MPI_DOUBLE, master, question, comm_);
        MPI_Recv(&answer, 1, MPI_DOUBLE, master, MPI_ANY_TAG, comm_, MPI_STATUS_IGNORE);
      }
      return answer;
    }
    double answer = value;
    for (int i = 0; i < 3; ++i) {
      std::vector<double> questions(static_cast<std::size_t>(size_));
      for (int k = 1; k < size_; ++k) {
        double in = 0;
        MPI_Status status;
        if (k % 2 == 0) MPI_Probe(MPI_ANY_SOURCE, question, comm_, &status);
        if (k % 2 == 0) MPI_Recv(&in, 1, MPI_DOUBLE, status.MPI_SOURCE, question, comm_, &status);
        if (k % 2 == 1) MPI_Recv(&in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, question, comm_, &status);
        questions[static_cast<std::size_t>(status.MPI_SOURCE)] += in;
      }
      answer = std::accumulate(questions.begin(), questions.end(), 0.5 * answer) / size_;
      // The first is answered before the last: its next question comes before the others have their answer.
      for (int to = 0; to < size_; ++to)
        if (to != master) MPI_Send(&answer, 1, MPI_DOUBLE, to, question + i, comm_);
    }
    return answer;
  }

  /// Receives that were begun before, of messages of any tag.
  double meet_neighbours(double value) const {
    const int right = (rank_ + 1) % size_;
    const int left = (rank_ + size_ - 1) % size_;
    std::array<double, 2> in{};
    std::array<MPI_Request, 2> requests{};
    std::array<MPI_Status, 2> statuses{};
    for (std::size_t i = 0; i < 2; ++i)
      MPI_Irecv(&in[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, ring_, &requests[i]);
    MPI_Send(&value, 1, MPI_DOUBLE, left, 21, ring_);
    const double twice = 2 * value;
    MPI_Send(&twice, 1, MPI_DOUBLE, right, 22, ring_);
    int first = 0;
    MPI_Waitany(2, requests.data(), &first, &statuses[0]);
    if (first == 1) std::swap(in[0], in[1]);
    MPI_Wait(&requests[static_cast<std::size_t>(1 - first)], &statuses[1]);
    double sum = 0;
    for (std::size_t i = 0; i < 2; ++i) sum += (statuses[i].MPI_TAG == 21 ? 1.0 : 0.7) * in[i];
    return sum;
  }

  /// Asks until the message of everybody else is there.
  double tell_all(double value) const {
    for (int to = 0; to < size_; ++to)
      if (to != rank_) MPI_Send(&value, 1, MPI_DOUBLE, to, 31, comm_);
    std::vector<double> values(static_cast<std::size_t>(size_));
    for (int got = 1; got < size_; ++got) {
      int has_come = 0;
      MPI_Status status;
      while (has_come == 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, 31, comm_, &has_come, &status);
        std::this_thread::yield();
      }
      double in = 0;
      MPI_Recv(&in, 1, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, comm_, &status);
      values[static_cast<std::size_t>(status.MPI_SOURCE)] = in;
    }
    return std::accumulate(values.begin(), values.end(), 0.0);
  }

  /// A persistent receive.
  double round_the_ring(double value) {
    MPI_Barrier(ring_);  // no other message of this communicator is under way
    MPI_Start(&persistent_);
    MPI_Send(&value, 1, MPI_DOUBLE, (rank_ + 1) % size_, 41, ring_);
    int has_come = 0;
    while (has_come == 0) {
      MPI_Test(&persistent_, &has_come, MPI_STATUS_IGNORE);
      std::this_thread::yield();
    }
    MPI_Barrier(ring_);
    return in_;
  }

  MPI_Comm comm_;
  int rank_;
  int size_;
  MPI_Comm ring_ = MPI_COMM_NULL;
  double in_ = 0;
  MPI_Request persistent_ = MPI_REQUEST_NULL;
};

}  // namespace subject
