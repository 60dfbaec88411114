// The failure detector at work, on real processes that are killed or stopped: how long until everyone knows and is
// interrupted, beside the same with only the runtime as witness; and what it costs while nobody fails.
//
// Run as it is, it launches jobs of itself with `mend run`: one for each death, because everyone dies only once. The
// cases take turns, so that what disturbs the machine disturbs them alike.

#include "apps/stencil/block.hpp"
#include "apps/stencil/heat.hpp"
#include "detector/runtime_witness.hpp"
#include "framework/mend.hpp"
#include "framework/mpi_runtime.hpp"
#include "framework/watch.hpp"

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

struct Arguments {
  int samples = 30;
  int rounds = 15;
  std::string json;
  std::string subject;      // what a process of a launched job does
  std::string fate = "kill";
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(WallClock::now().time_since_epoch()).count();
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }

void say(const std::string& line) {
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

// ---- A process of a job in which rank 1 fails

constexpr int victim = 1;

void compute_for_a_while() {
  const auto end = Clock::now() + std::chrono::microseconds(100);
  while (Clock::now() < end) {
  }
}

/// Goes round among the ranks other than the victim.
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

/// Says when the victim fails, and when each other process knew and was interrupted.
int play(int argc, char** argv, const Arguments& arguments) {
  return run(argc, argv, [&](Session& session) {
    MPI_Barrier(session.comm());
    try {
      for (int step = 0;; ++step) {
        if (step == 50 && session.rank().value == victim) {
          say(fmt::format("failed {}\n", now_ns()));
          std::raise(arguments.fate == "kill" ? SIGKILL : SIGSTOP);
        }
        work(session, arguments.subject);
      }
    } catch (const ProcessFailure&) {
      const std::int64_t interrupted = now_ns();
      RuntimeWitness witness;
      while (witness.death_count() == 0) std::this_thread::yield();
      const auto known = witness.deaths().front().when.time_since_epoch();
      say(fmt::format("left {} {}\n", std::chrono::duration_cast<std::chrono::nanoseconds>(known).count(), interrupted));
      throw;
    }
  });
}

// ---- A job in which nobody fails, with and without the ring

struct Costs {
  std::vector<double> allreduce;  // microseconds
  std::vector<double> stencil;    // microseconds a step
};

double time_of(int repetitions, const std::function<void()>& once) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Stopwatch watch;
  for (int i = 0; i < repetitions; ++i) once();
  double mine = watch.elapsed().count() * 1e6 / repetitions;
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

void measure_costs(const std::string& detector, stencil::Heat& heat, Costs& costs) {
  Options options;
  options.detector = detector;
  Watch watch(options);
  watch.begin();
  int sum = 0;
  costs.allreduce.push_back(
      time_of(20000, [&] { MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }));
  costs.stencil.push_back(time_of(40, [&] { heat.advance(); }));
  MPI_Barrier(MPI_COMM_WORLD);
  watch.end();
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
  Costs with;
  Costs without;
  {
    stencil::Heat heat(problem, cart);
    for (int round = 0; round < arguments.rounds; ++round) {
      const bool with_first = round % 2 == 0;
      measure_costs(with_first ? "ring" : "runtime", heat, with_first ? with : without);
      measure_costs(with_first ? "runtime" : "ring", heat, with_first ? without : with);
    }
  }
  MPI_Comm_free(&cart);
  if (rank == 0) {
    nlohmann::json result{{"ranks", size},
                          {"allreduce_with", with.allreduce},
                          {"allreduce_without", without.allreduce},
                          {"stencil_with", with.stencil},
                          {"stencil_without", without.stencil}};
    say("costs " + result.dump() + "\n");
  }
  return 0;
}

// ---- The driver

struct Case {
  std::string fate;
  std::string work;
  std::string detector;
  std::vector<double> known{};        // milliseconds from the failure until the last process knew
  std::vector<double> interrupted{};  // and until the last was interrupted
};

constexpr int ranks = 4;
constexpr double delta_ms = 100;

std::string said_by_job(int processes, const std::string& options) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      fmt::format("{} run -n {} -- {} {} 2>/dev/null", MEND_COMMAND, processes, self, options);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::string said;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) said.append(buffer.data(), count);
  return said;
}

void sample(Case& one) {
  std::istringstream said(said_by_job(
      ranks, fmt::format("--subject {} --fate {} --mend-detector {} --mend-heartbeat 20 --mend-timeout {} --mend-log off",
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
  fmt::print("{} ranks, medians of {} (greatest in brackets), in ms after the failure; a stopped process is held dead after\n"
             "{} ms, counted from its last heartbeat, and one comes every 20 ms\n\n"
             "{:<8} {:<12} {:<10} {:>20} {:>24}\n",
             ranks, samples, delta_ms, "failure", "others", "detector", "everyone knows", "everyone interrupted");
  for (const Case& one : cases) {
    fmt::print("{:<8} {:<12} {:<10} {:>10.2f} ({:>7.2f}) {:>14.2f} ({:>7.2f})\n", one.fate, one.work, one.detector,
               median(one.known), quantile(one.known, 1), median(one.interrupted), quantile(one.interrupted, 1));
  }
  fmt::print("\nWithout the ring a stopped process is never noticed.\n\n");
}

nlohmann::json print_costs(int processes, int rounds) {
  std::istringstream said(said_by_job(processes, fmt::format("--subject costs --rounds {}", rounds)));
  std::string word;
  said >> word;
  std::string line;
  std::getline(said, line);
  const nlohmann::json costs = nlohmann::json::parse(line);
  for (const char* what : {"allreduce", "stencil"}) {
    const auto with = costs[fmt::format("{}_with", what)].get<std::vector<double>>();
    const auto without = costs[fmt::format("{}_without", what)].get<std::vector<double>>();
    fmt::print("{:>5} {:<10} {:>12.3f} {:>12.3f} {:>+9.2f} % {:>9.2f} %\n", processes, what, median(with), median(without),
               100 * (median(with) / median(without) - 1),
               100 * (quantile(without, 0.75) - quantile(without, 0.25)) / median(without));
  }
  return costs;
}

int compare(const Arguments& arguments) {
  std::vector<Case> cases = all_cases();
  for (int i = 0; i < arguments.samples; ++i) {
    for (Case& one : cases) sample(one);
  }
  print_latencies(cases, arguments.samples);
  fmt::print("What the detector costs while nobody fails, a heartbeat every 100 ms: microseconds, medians of {}\n\n"
             "{:>5} {:<10} {:>12} {:>12} {:>11} {:>11}\n",
             arguments.rounds, "ranks", "what", "with", "without", "difference", "quartiles");
  nlohmann::json result;
  for (const int processes : {2, 4}) result["costs"].push_back(print_costs(processes, arguments.rounds));
  for (const Case& one : cases) {
    result["latencies"].push_back({{"failure", one.fate},
                                   {"others", one.work},
                                   {"detector", one.detector},
                                   {"known_ms", one.known},
                                   {"interrupted_ms", one.interrupted}});
  }
  if (!arguments.json.empty()) std::ofstream(arguments.json) << result.dump(2) << "\n";
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  using namespace mend::bench;
  CLI::App app("Measures mend's failure detector on this machine, by killing and stopping processes.", "bench_detector");
  Arguments arguments;
  app.add_option("--samples", arguments.samples, "Failures of each kind")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Measurements of the cost")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--json", arguments.json, "Write all measurements to FILE")->type_name("FILE");
  app.add_option("--subject", arguments.subject, "What a process of a launched job does")->group("");
  app.add_option("--fate", arguments.fate, "What becomes of rank 1")->group("");
  app.allow_extras();  // --mend-...
  CLI11_PARSE(app, argc, argv);
  try {
    if (arguments.subject == "costs") return compare_costs(arguments);
    if (!arguments.subject.empty()) return play(argc, argv, arguments);
    return compare(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_detector: {}\n", error.what());
    return 1;
  }
}
