// Fenix's data groups on real processes: the time to commit a resizable member, beside one of a fixed size with the
// same bytes. Started by mend run with the number of ranks to measure.
//
// Both are measured in turn, many times, so that disturbances of the machine affect both alike.

#include "base/clock.hpp"
#include "base/median.hpp"

#include <fenix.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using mend::Milliseconds;

/// A group with one member.
struct Contestant {
  std::string name;
  int group = 0;
  int count = 0;  ///< the count with which the member is created
  std::vector<std::byte> data{};
  std::vector<Milliseconds> times{};

  void create(MPI_Comm comm, std::size_t bytes) {
    data.assign(bytes, std::byte{1});
    int flag = 0;
    fenix::data::group_create(group, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag);
    fenix::data::member_create(group, 0, data.data(), count, MPI_BYTE);
  }

  void commit() const {
    fenix::data::member_store(group, 0, fenix::DataSubset({0, data.size() - 1}));
    fenix::data::commit_barrier(group);
  }
};

/// Returns the time of a commit on the slowest rank, after all bytes have changed.
Milliseconds measure(Contestant& contestant, MPI_Comm comm) {
  for (std::byte& byte : contestant.data) byte = static_cast<std::byte>(static_cast<int>(byte) + 1);
  MPI_Barrier(comm);
  const mend::Stopwatch watch;
  contestant.commit();
  double time = Milliseconds(watch.elapsed()).count();
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, comm);
  return Milliseconds{time};
}

void run(MPI_Comm comm, int rounds, double mebibytes) {
  const auto bytes = static_cast<std::size_t>(mebibytes * (1 << 20));
  std::vector<Contestant> contestants{{"fixed size", 1, static_cast<int>(bytes)}, {"resizable", 2, FENIX_RESIZEABLE}};
  for (Contestant& contestant : contestants) contestant.create(comm, bytes);
  // Some rounds are not measured: after them every version has its memory.
  for (int round = -4; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
      // Each comes first equally often.
      Contestant& contestant = contestants[(turn + static_cast<std::size_t>(round + 4)) % contestants.size()];
      const Milliseconds time = measure(contestant, comm);
      if (round >= 0) contestant.times.push_back(time);
    }
  }
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank != 0) return;
  const Milliseconds fixed = mend::median(contestants.front().times);
  fmt::print("{} ranks, {:g} MiB each; medians of {} rounds\n", ranks, mebibytes, rounds);
  for (const Contestant& contestant : contestants) {
    const Milliseconds middle = mend::median(contestant.times);
    fmt::print("{:12} {:9.2f} ms {:6.2f} of fixed size\n", contestant.name, middle.count(), middle / fixed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 41;
  double mebibytes = 16;
  CLI::App app("How long commits of Fenix's members take. Start it with mend run -n N.", "bench_fenix");
  app.add_option("--rounds", rounds, "Times that each is measured")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--mebibytes", mebibytes, "Of each rank's data")
      ->check(CLI::Range(0.1, 1024.0))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm world = MPI_COMM_NULL;
  fenix::args::FenixInitArgs arguments;
  arguments.out_comm = &world;
  fenix::init(arguments);
  run(world, rounds, mebibytes);
  Fenix_Finalize();
  MPI_Finalize();
  return 0;
}
