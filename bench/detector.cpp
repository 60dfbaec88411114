// The failure detector on real processes that are killed or stopped: the time until all processes know and are
// interrupted, beside the same with only the runtime as witness, and the cost without failures.
//
// Started directly, it launches jobs of itself with `mend run`, one for each death, because a process can die only
// once. The cases take turns, so that disturbances of the machine affect all alike.

#include "bench/command_line.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "apps/stencil/block.hpp"
#include "apps/stencil/heat.hpp"
#include "base/median.hpp"
#include "bench/jobs.hpp"
#include "detector/local/runtime_witness.hpp"
#include "framework/mend.hpp"
#include "framework/process/mpi_runtime.hpp"
#include "framework/process/failure_detector.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

struct Arguments {
  int samples = 30;
  int rounds = 21;
  std::string json;
  std::string subject;  // the task of a process in a launched job
  std::string fate = "kill";
  std::string record;  // the file in which processes of a launched job record events
};

// ---- A process of a job in which rank 1 fails

constexpr int victim = 1;
constexpr Seconds settled{0.4};  // a new ring is more patient

void compute_for_a_while() {
  const auto end = Clock::now() + std::chrono::microseconds(100);
  while (Clock::now() < end) {
  }
}

/// Exchanges messages around a ring of the ranks other than the victim.
void exchange_without_the_victim(const Session& session) {
  const int self = session.rank().value;
  const auto beside = [&](int rank, int way) {
    do rank = (rank + way + session.size()) % session.size();
    while (rank == victim);
    return rank;
  };
  int mine = self;
  int theirs = 0;
  MPI_Sendrecv(&mine, 1, MPI_INT, beside(self, 1), 0, &theirs, 1, MPI_INT, beside(self, -1), 0, session.comm(),
               MPI_STATUS_IGNORE);
}

void work(Session& session, const std::string& kind) {
  int sum = 0;
  if (kind == "collective") MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, session.comm());
  if (kind == "compute") compute_for_a_while();
  if (kind == "exchange" && session.rank().value != victim) exchange_without_the_victim(session);
  if (kind != "collective") session.check();
}

/// Records when the victim fails, and when each other process knew and was interrupted.
int play(int argc, char** argv, const Arguments& arguments) {
  return run(argc, argv, [&](Session& session) {
    MPI_Barrier(session.comm());
    const Stopwatch since_start;
    try {
      for (;;) {
        if (since_start.elapsed() > settled && session.rank().value == victim) {
          say(arguments.record, fmt::format("failed {}\n", now_ns()));
          std::raise(arguments.fate == "kill" ? SIGKILL : SIGSTOP);
        }
        work(session, arguments.subject);
      }
    } catch (const ProcessFailure&) {
      const std::int64_t interrupted = now_ns();
      RuntimeWitness witness;
      while (witness.death_count() == 0) std::this_thread::yield();
      say(arguments.record, fmt::format("left {} {}\n", nanoseconds_of(witness.deaths().front().when), interrupted));
      throw;
    }
  });
}

// ---- A job without failures, with and without the ring

/// Microseconds in each round, for one detector.
struct Costs {
  Detection detector;
  std::vector<double> allreduce{};
  std::vector<double> stencil{};  // one step
};

constexpr Seconds warm_up{0.5};   // connections are made, and the first heartbeats sent
constexpr Seconds measured{0.5};  // long enough for several heartbeats, which come every 100 ms

/// Returns how many times `once` runs in `span`, the same on all processes.
int repetitions_in(Seconds span, const std::function<void()>& once) {
  constexpr int tries = 64;
  const Stopwatch watch;
  for (int i = 0; i < tries; ++i) once();
  int repetitions = std::max(tries, static_cast<int>(span / watch.elapsed() * tries));
  MPI_Bcast(&repetitions, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return repetitions;
}

double time_of(int repetitions, const std::function<void()>& once) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Stopwatch watch;
  for (int i = 0; i < repetitions; ++i) once();
  double mine = watch.elapsed().count() * 1e6 / repetitions;
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

void measure(Costs& costs, stencil::Heat& heat) {
  Options options;
  options.detector = costs.detector;
  FailureDetector detector(options);
  detector.begin();
  int sum = 0;
  const auto allreduce = [&] { MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); };
  const auto step = [&] { heat.advance(); };
  static const int allreduces = repetitions_in(measured, allreduce);
  static const int steps = repetitions_in(measured, step);
  time_of(static_cast<int>(allreduces * (warm_up / measured)), allreduce);
  costs.allreduce.push_back(time_of(allreduces, allreduce));
  costs.stencil.push_back(time_of(steps, step));
  MPI_Barrier(MPI_COMM_WORLD);
  detector.end();
  MPI_Barrier(MPI_COMM_WORLD);
}

int compare_costs(const Arguments& arguments) {
  const MpiRuntime mpi;
  const Kokkos::ScopeGuard kokkos;
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  stencil::Problem problem;
  const auto blocks = stencil::choose_blocks(problem, size, 1);
  const std::array<int, 3> periodic{1, 1, 1};
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 3, blocks.data(), periodic.data(), 0, &cart);
  // The case without the ring is measured twice, which shows the difference between two measurements of the same.
  std::array<Costs, 3> contestants{Costs{Detection::ring}, Costs{Detection::runtime}, Costs{Detection::runtime}};
  {
    stencil::Heat heat(problem, cart);
    for (int round = 0; round < arguments.rounds; ++round) {
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        measure(contestants[(i + static_cast<std::size_t>(round)) % contestants.size()], heat);
      }
    }
  }
  MPI_Comm_free(&cart);
  if (rank == 0) {
    const auto& [with, without, again] = contestants;
    say(arguments.record, nlohmann::json{{"ranks", size},
                                         {"allreduce", {with.allreduce, without.allreduce, again.allreduce}},
                                         {"stencil", {with.stencil, without.stencil, again.stencil}}}
                              .dump());
  }
  return 0;
}

// ---- The driver

struct Case {
  std::string fate;
  std::string work;
  std::string detector;
  std::vector<double> known{};        // milliseconds from the failure until the last process knew
  std::vector<double> interrupted{};  // ... and until the last process was interrupted
};

constexpr int ranks = 4;
constexpr double delta_ms = 100;

void sample(Case& one) {
  std::istringstream said(said_by_job(
      MEND_COMMAND, ranks, 0,
      fmt::format("--subject {} --fate {} --mend-detector {} --mend-heartbeat 20 --mend-timeout {} --mend-log off",
                  one.work, one.fate, one.detector, delta_ms)));
  std::int64_t failed = 0;
  std::int64_t known = 0;
  std::int64_t interrupted = 0;
  int left = 0;
  for (std::string word; said >> word;) {
    if (word == "failed") said >> failed;
    if (word != "left") continue;
    std::int64_t k = 0;
    std::int64_t i = 0;
    said >> k >> i;
    known = std::max(known, k);
    interrupted = std::max(interrupted, i);
    ++left;
  }
  if (failed == 0 || left != ranks - 1) throw std::runtime_error("a job did not tell of its failure");
  one.known.push_back(static_cast<double>(known - failed) / 1e6);
  one.interrupted.push_back(static_cast<double>(interrupted - failed) / 1e6);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* work : {"collective", "compute", "exchange"}) {
    for (const char* detector : {"ring", "runtime"}) cases.push_back({"kill", work, detector});
    cases.push_back({"stop", work, "ring"});
  }
  return cases;
}

void print_latencies(const std::vector<Case>& cases, int samples) {
  fmt::print(
      "{} ranks, medians of {} (greatest in brackets), in ms after the failure; a stopped process is held dead after\n"
      "{} ms, counted from its last heartbeat, and one comes every 20 ms\n\n"
      "{:<8} {:<12} {:<10} {:>20} {:>24}\n",
      ranks, samples, delta_ms, "failure", "others", "detector", "everyone knows", "everyone interrupted");
  for (const Case& one : cases) {
    fmt::print("{:<8} {:<12} {:<10} {:>10.2f} ({:>7.2f}) {:>14.2f} ({:>7.2f})\n", one.fate, one.work, one.detector,
               median(one.known), std::ranges::max(one.known), median(one.interrupted),
               std::ranges::max(one.interrupted));
  }
  fmt::print("\nWithout the ring a stopped process is never noticed.\n\n");
}

/// The median difference of two measurements in the same round, in percent of the second.
double median_difference(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < one.size(); ++i) differences.push_back(100 * (one[i] / other[i] - 1));
  return median(differences);
}

nlohmann::json print_costs(int processes, int rounds) {
  // Detectors begin and end all the time, and the body of mend::run is never entered, which is a start that takes long.
  const std::string said = said_by_job(MEND_COMMAND, processes, 0, fmt::format("--subject costs --rounds {}", rounds),
                                       "--start-limit 86400");
  if (said.empty()) throw std::runtime_error(fmt::format("the job of {} processes has measured nothing", processes));
  const nlohmann::json costs = nlohmann::json::parse(said);
  for (const char* what : {"allreduce", "stencil"}) {
    const auto times = costs[what].get<std::array<std::vector<double>, 3>>();
    fmt::print("{:>5} {:<10} {:>12.3f} {:>12.3f} {:>+11.2f} % {:>+11.2f} %\n", processes, what, median(times[0]),
               median(times[1]), median_difference(times[0], times[1]), median_difference(times[2], times[1]));
  }
  return costs;
}

int compare(const Arguments& arguments) {
  std::vector<Case> cases = all_cases();
  for (int i = 0; i < arguments.samples; ++i) {
    for (Case& one : cases) sample(one);
  }
  if (arguments.samples > 0) print_latencies(cases, arguments.samples);
  fmt::print(
      "What the detector costs while nobody fails, a heartbeat every 100 ms: microseconds, medians of {}\n\n"
      "{:>5} {:<10} {:>12} {:>12} {:>13} {:>13}\n",
      arguments.rounds, "ranks", "what", "with", "without", "difference", "of the same");
  nlohmann::json result;
  for (const int processes : {2, 4}) result["costs"].push_back(print_costs(processes, arguments.rounds));
  for (const Case& one : cases) {
    result["latencies"].push_back({{"failure", one.fate},
                                   {"others", one.work},
                                   {"detector", one.detector},
                                   {"known_ms", one.known},
                                   {"interrupted_ms", one.interrupted}});
  }
  write_json(arguments.json, result);
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  using namespace mend::bench;
  mend::bench::CommandLine line("bench_detector",
                                "Measures mend's failure detector on this machine, by killing and stopping processes.");
  Arguments arguments;
  line.add("--samples", arguments.samples, "Failures of each kind; with 0 only the cost is measured", 0);
  line.add("--rounds", arguments.rounds, "Measurements of the cost");
  line.add("--json", arguments.json, "Write all measurements to this file");
  line.add_hidden("--subject", arguments.subject);
  line.add_hidden("--record", arguments.record);
  line.add_hidden("--fate", arguments.fate);
  line.allow_options_of_mend_beside("--subject");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    if (arguments.subject == "costs") return compare_costs(arguments);
    if (!arguments.subject.empty()) return play(argc, argv, arguments);
    return compare(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_detector: {}\n", error.what());
    return 1;
  }
}
