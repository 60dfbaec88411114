// The cost of local rollback without failures: messages and collectives of session.comm() with --mend-rollback local,
// which are logged, beside the library's own on MPI_COMM_WORLD, which do not pass through mend. Started by mend run
// with the number of ranks to measure.
//
// Both are measured in turn, many times, so that disturbances of the machine affect both alike.

#include "bench/command_line.hpp"
#include "base/clock.hpp"
#include "base/median.hpp"
#include "framework/mend.hpp"
#include "transport/library_function.hpp"

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

/// The calls that are measured, on a communicator.
struct Calls {
  MPI_Comm comm;
  decltype(&MPI_Send) send = MPI_Send;
  decltype(&MPI_Recv) recv = MPI_Recv;
  decltype(&MPI_Isend) isend = MPI_Isend;
  decltype(&MPI_Irecv) irecv = MPI_Irecv;
  decltype(&MPI_Waitall) waitall = MPI_Waitall;
  decltype(&MPI_Allreduce) allreduce = MPI_Allreduce;
  decltype(&MPI_Barrier) barrier = MPI_Barrier;
};

/// The library's own calls, without mend's.
Calls plain_calls() {
  return {MPI_COMM_WORLD,
          of_the_library<decltype(&MPI_Send)>("PMPI_Send"),
          of_the_library<decltype(&MPI_Recv)>("PMPI_Recv"),
          of_the_library<decltype(&MPI_Isend)>("PMPI_Isend"),
          of_the_library<decltype(&MPI_Irecv)>("PMPI_Irecv"),
          of_the_library<decltype(&MPI_Waitall)>("PMPI_Waitall"),
          of_the_library<decltype(&MPI_Allreduce)>("PMPI_Allreduce"),
          of_the_library<decltype(&MPI_Barrier)>("PMPI_Barrier")};
}

/// An operation on a communicator.
struct Subject {
  std::string name;
  std::size_t bytes;  ///< of the data
  int times;          ///< in a round
  std::function<void(const Calls&)> once;
};

/// The ranks of this process in all communicators that are measured.
struct Place {
  int rank;
  int size;
};

/// A message to and fro between the ranks 0 and 1; the other ranks do nothing.
void ping_pong(const Calls& mpi, const Place& here, std::vector<std::byte>& data) {
  const auto count = static_cast<int>(data.size());
  if (here.rank == 0) mpi.send(data.data(), count, MPI_BYTE, 1, 0, mpi.comm);
  if (here.rank <= 1) mpi.recv(data.data(), count, MPI_BYTE, 1 - here.rank, 0, mpi.comm, MPI_STATUS_IGNORE);
  if (here.rank == 1) mpi.send(data.data(), count, MPI_BYTE, 0, 0, mpi.comm);
}

/// A message to the next rank and one from the previous rank, with requests.
void ring(const Calls& mpi, const Place& here, std::vector<std::byte>& data, std::vector<std::byte>& other) {
  const auto count = static_cast<int>(data.size());
  MPI_Request requests[2];
  mpi.irecv(other.data(), count, MPI_BYTE, (here.rank + here.size - 1) % here.size, 0, mpi.comm, &requests[0]);
  mpi.isend(data.data(), count, MPI_BYTE, (here.rank + 1) % here.size, 0, mpi.comm, &requests[1]);
  mpi.waitall(2, requests, MPI_STATUSES_IGNORE);
}

/// Returns the time of one operation on the slowest rank.
double microseconds(const Subject& subject, const Calls& mpi) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Stopwatch watch;
  for (int i = 0; i < subject.times; ++i) subject.once(mpi);
  double time = 1000 * Milliseconds(watch.elapsed()).count() / subject.times;
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return time;
}

/// Returns the operations to measure. They use `data` and `other`, which must have the size that each one states.
std::vector<Subject> all_subjects(const Place& here, std::vector<std::byte>& data, std::vector<std::byte>& other) {
  std::vector<Subject> subjects;
  for (const auto& [bytes, times] : {std::pair<std::size_t, int>{8, 1000}, {16384, 300}, {1U << 20U, 20}}) {
    subjects.push_back({"ping-pong", bytes, times, [&](const Calls& mpi) { ping_pong(mpi, here, data); }});
    subjects.push_back({"ring", bytes, times, [&](const Calls& mpi) { ring(mpi, here, data, other); }});
    subjects.push_back({"allreduce", bytes, times, [&](const Calls& mpi) {
                          mpi.allreduce(data.data(), other.data(), static_cast<int>(data.size()), MPI_BYTE, MPI_BOR,
                                        mpi.comm);
                        }});
  }
  subjects.push_back({"barrier", 0, 1000, [](const Calls& mpi) { mpi.barrier(mpi.comm); }});
  return subjects;
}

void compare(Session& session, const Arguments& arguments) {
  std::vector<std::byte> data;
  std::vector<std::byte> other;
  const Place here{session.rank().value, static_cast<int>(session.size())};
  const Calls without_logs = plain_calls();
  int round = 0;
  session.store().protect("round", round);
  session.store().restore();
  if (session.rank() == 0)
    fmt::print("{} ranks; microseconds, medians of {} rounds\n{:<10} {:>8} {:>10} {:>10} {:>6}\n",
               static_cast<int>(session.size()), arguments.rounds, "", "bytes", "plain", "logged", "ratio");
  for (const Subject& subject : all_subjects(here, data, other)) {
    std::vector<double> plain;
    std::vector<double> logged;
    data.assign(subject.bytes, std::byte{1});
    other.assign(subject.bytes, std::byte{2});
    for (round = 0; round < arguments.rounds; ++round) {
      // Each comes first in every second round, after one that is not measured.
      const auto measure = [&](std::vector<double>& times, const Calls& mpi) {
        microseconds(subject, mpi);
        times.push_back(microseconds(subject, mpi));
      };
      if (round % 2 == 0) measure(plain, without_logs);
      measure(logged, {session.comm()});
      if (round % 2 == 1) measure(plain, without_logs);
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
