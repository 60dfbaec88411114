// The cost of local rollback without failures: messages and collectives of session.comm() with --mend-rollback local,
// which are logged, beside the library's own on MPI_COMM_WORLD. Started by mend run with the number of ranks to
// measure.
//
// Both are measured in turn, many times, so that disturbances of the machine affect both alike.

#include "bench/command_line.hpp"
#include "base/clock.hpp"
#include "base/median.hpp"
#include "framework/mend.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mend::bench {
namespace {

struct Arguments {
  int rounds = 31;
};

/// An operation on a communicator.
struct Subject {
  std::string name;
  std::size_t bytes;  ///< of the data
  int times;          ///< in a round
  std::function<void(MPI_Comm)> once;
};

/// A message to and fro between the ranks 0 and 1; the other ranks do nothing.
void ping_pong(MPI_Comm comm, std::vector<std::byte>& data) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto count = static_cast<int>(data.size());
  if (rank == 0) MPI_Send(data.data(), count, MPI_BYTE, 1, 0, comm);
  if (rank <= 1) MPI_Recv(data.data(), count, MPI_BYTE, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(data.data(), count, MPI_BYTE, 0, 0, comm);
}

/// A message to the next rank and one from the previous rank, with requests.
void ring(MPI_Comm comm, std::vector<std::byte>& data, std::vector<std::byte>& other) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto count = static_cast<int>(data.size());
  MPI_Request requests[2];
  MPI_Irecv(other.data(), count, MPI_BYTE, (rank + size - 1) % size, 0, comm, &requests[0]);
  MPI_Isend(data.data(), count, MPI_BYTE, (rank + 1) % size, 0, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/// Returns the time of one operation on the slowest rank.
double microseconds(const Subject& subject, MPI_Comm comm) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Stopwatch watch;
  for (int i = 0; i < subject.times; ++i) subject.once(comm);
  double time = 1000 * Milliseconds(watch.elapsed()).count() / subject.times;
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return time;
}

/// Returns the operations to measure. They use `data` and `other`, which must have the size that each one states.
std::vector<Subject> all_subjects(std::vector<std::byte>& data, std::vector<std::byte>& other) {
  std::vector<Subject> subjects;
  for (const auto& [bytes, times] : {std::pair<std::size_t, int>{8, 1000}, {16384, 300}, {1U << 20U, 20}}) {
    subjects.push_back({"ping-pong", bytes, times, [&](MPI_Comm comm) { ping_pong(comm, data); }});
    subjects.push_back({"ring", bytes, times, [&](MPI_Comm comm) { ring(comm, data, other); }});
    subjects.push_back({"allreduce", bytes, times, [&](MPI_Comm comm) {
                          MPI_Allreduce(data.data(), other.data(), static_cast<int>(data.size()), MPI_BYTE, MPI_BOR,
                                        comm);
                        }});
  }
  subjects.push_back({"barrier", 0, 1000, [](MPI_Comm comm) { MPI_Barrier(comm); }});
  return subjects;
}

void compare(Session& session, const Arguments& arguments) {
  std::vector<std::byte> data;
  std::vector<std::byte> other;
  int round = 0;
  session.store().protect("round", round);
  session.store().restore();
  if (session.rank() == 0)
    fmt::print("{} ranks; microseconds, medians of {} rounds\n{:<10} {:>8} {:>10} {:>10} {:>6}\n",
               static_cast<int>(session.size()), arguments.rounds, "", "bytes", "plain", "logged", "ratio");
  for (const Subject& subject : all_subjects(data, other)) {
    std::vector<double> plain;
    std::vector<double> logged;
    data.assign(subject.bytes, std::byte{1});
    other.assign(subject.bytes, std::byte{2});
    for (round = 0; round < arguments.rounds; ++round) {
      // Each comes first in every second round, after one that is not measured.
      const auto measure = [&](std::vector<double>& times, MPI_Comm comm) {
        microseconds(subject, comm);
        times.push_back(microseconds(subject, comm));
      };
      if (round % 2 == 0) measure(plain, MPI_COMM_WORLD);
      measure(logged, session.comm());
      if (round % 2 == 1) measure(plain, MPI_COMM_WORLD);
      session.store().commit();  // drops the log
    }
    if (session.rank() != 0) continue;
    const double before = median(plain);
    const double with = median(logged);
    fmt::print("{:<10} {:>8} {:>10.2f} {:>10.2f} {:>6.2f}\n", subject.name, subject.bytes, before, with, with / before);
  }
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  mend::bench::Arguments arguments;
  mend::bench::CommandLine line(
      "bench_replay", "What local rollback costs. Start it with mend run -n N, N of 2 and more, without spares.");
  line.add("--rounds", arguments.rounds, "Times that each is measured");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  mend::Options options;
  options.rollback = mend::Rollback::local;
  return mend::run(options, [&](mend::Session& session) { mend::bench::compare(session, arguments); });
}
