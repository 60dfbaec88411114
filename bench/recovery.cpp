// A recovery on real processes, from the kill until the body runs again with its data: the time of each phase, and
// beside it what bounds it (bench/recovery_bounds.hpp), measured in the same minutes.
//
// Started directly, it launches jobs of itself with `mend run`, one for each kill. The cases and the bounds take turns,
// so that disturbances of the machine affect all alike.

#include "bench/command_line.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "base/median.hpp"
#include "bench/jobs.hpp"
#include "bench/recovery_bounds.hpp"
#include "framework/mend.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

constexpr int victim = 1;
constexpr Seconds settled{0.4};  // a new ring is more patient

// What is aimed at, in times of the bounds; the first two with two ranks, where nobody waits for a core.
constexpr double most_until_repaired = 1.5;
constexpr double most_ms_until_repaired = 4;
constexpr double most_until_restored = 1.3;

struct Arguments {
  std::vector<int> ranks{2, 4, 8};
  int spares = 1;
  int samples = 15;
  double mebibytes = 16;  // for each rank
  std::string json;
  std::string run_options;  // of mend run
  std::string subject;      // in a launched process: the kind of recovery
  std::string record;
};

// ---- A process of a job in which rank 1 is killed

/// Records when this process had its communicator and its data again, and the times of the phases.
void tell(Session& session, const Arguments& arguments, std::int64_t repaired, std::int64_t restored) {
  const RecoveryReport& report = session.recoveries().back();
  say(arguments.record, fmt::format("back {} {} {} {} {} {}\n", nanoseconds_of(report.noticed), repaired, restored,
                                    report.interrupt.count(), report.agree.count(), report.rebuild.count()));
}

/// The memory that the kernel frees at the end of this process.
double own_bytes() {
  double mapped = 0;
  double resident = 0;
  double shared = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident >> shared;
  return (resident - shared) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void work_until_the_kill(Session& session, const Arguments& arguments) {
  const Stopwatch since_start;
  for (int sum = 0;;) {
    if (session.rank() == Rank{victim} && since_start.elapsed() > settled) {
      const double bytes = own_bytes();
      say(arguments.record, fmt::format("killed {} {}\n", now_ns(), bytes));
      std::raise(SIGKILL);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, session.comm());
  }
}

/// "in-place-ready": as in-place, but the memory is allocated before mend starts, also on the spare. "in-place-kept":
/// in addition, the survivors keep their data.
int play(int argc, char** argv, const Arguments& arguments) {
  const auto count = static_cast<std::size_t>(arguments.mebibytes * (1 << 20) / sizeof(double));
  const bool in_place = arguments.subject.starts_with("in-place");
  const bool is_ready = arguments.subject != "re-entry" && arguments.subject != "in-place";
  std::vector<double> ready(is_ready ? count : 0);
  return run(argc, argv, [&](Session& session) {
    std::int64_t repaired = now_ns();
    std::vector<double> fresh(ready.empty() ? count : 0);
    std::span<double> data = ready.empty() ? fresh : ready;
    session.store().protect("data", data);
    if (session.epoch() == Epoch{0}) {
      std::ranges::fill(data, session.rank().value);
      session.store().commit();
      MPI_Barrier(session.comm());
      try {
        work_until_the_kill(session, arguments);
      } catch (const ProcessFailure&) {
        if (!in_place) throw;
        session.repair();
        repaired = now_ns();
      }
    }
    const bool keeps = arguments.subject == "in-place-kept" && session.role() == Role::survivor;
    keeps ? session.store().restore_others() : session.store().restore();
    tell(session, arguments, repaired, now_ns());
  });
}

// ---- The driver

/// One way to recover, and the times of its recoveries, in milliseconds.
struct Case {
  std::string subject;
  std::string options;
  std::vector<double> detect{};  // from the kill until the first process knew of it
  std::vector<double> interrupt{};
  std::vector<double> agree{};
  std::vector<double> rebuild{};
  std::vector<double> repaired{};  // from the kill until the last process had its communicator
  std::vector<double> restored{};  // ... and its data
};

/// All cases of one number of ranks.
struct Series {
  int ranks = 0;
  std::vector<Case> cases{{"re-entry", ""},
                          {"in-place", ""},
                          {"in-place-ready", ""},
                          {"in-place-kept", ""},
                          {"re-entry", "--mend-detector runtime"},
                          {"re-entry", "--mend-agreement mpi"}};
  RecoveryBounds bounds{};
  int left_out = 0;  ///< jobs in which something else went wrong, such as a second recovery
};

/// Adds a recovery to the times, and the exit of a process as large as the victim to the bounds.
void sample(Case& one, Series& series, const Arguments& arguments) {
  std::istringstream said(said_by_job(
      MEND_COMMAND, series.ranks, arguments.spares,
      fmt::format("--subject {} --size {} --mend-log off {}", one.subject, arguments.mebibytes, one.options),
      arguments.run_options));
  std::int64_t killed = 0;
  double bytes = 0;
  std::int64_t noticed = 0;
  std::int64_t repaired = 0;
  std::int64_t restored = 0;
  std::array<double, 3> phases{};
  int back = 0;
  for (std::string word; said >> word;) {
    if (word == "killed") said >> killed >> bytes;
    if (word != "back") continue;
    std::array<std::int64_t, 3> times{};
    std::array<double, 3> took{};
    for (auto& time : times) said >> time;
    for (auto& time : took) said >> time;
    noticed = back == 0 ? times[0] : std::min(noticed, times[0]);
    repaired = std::max(repaired, times[1]);
    restored = std::max(restored, times[2]);
    for (std::size_t i = 0; i < took.size(); ++i) phases[i] = std::max(phases[i], took[i]);
    ++back;
  }
  if (killed == 0 || back != series.ranks) {
    ++series.left_out;
    return;
  }
  const auto since_kill = [&](std::int64_t time) { return static_cast<double>(time - killed) / 1e6; };
  one.detect.push_back(since_kill(noticed));
  one.interrupt.push_back(phases[0]);
  one.agree.push_back(phases[1]);
  one.rebuild.push_back(phases[2]);
  one.repaired.push_back(since_kill(repaired));
  one.restored.push_back(since_kill(restored));
  series.bounds.exit.push_back(time_of_exit(bytes));
}

void sample_bounds(Series& series, const Arguments& arguments) {
  const int survivors = series.ranks + arguments.spares - 1;
  add_sample(series.bounds,
             said_by_job(MEND_COMMAND, survivors, 0, fmt::format("--subject bounds --size {}", arguments.mebibytes),
                         arguments.run_options));
}

/// The medians of the bounds of one case, in milliseconds.
struct Bound {
  double exit = 0;
  double revoke = 0;
  double agree = 0;
  double rebuild = 0;  // shrink and split
  double restore = 0;  // exchange and first touch

  double repaired() const { return exit + revoke + agree + rebuild; }
};

Bound bound_of(const Case& one, const RecoveryBounds& bounds) {
  const bool is_ready = one.subject.starts_with("in-place-");
  const double touch = one.subject == "in-place" ? median(bounds.touch_one) : median(bounds.touch_all);
  return {median(bounds.exit), median(bounds.revoke), median(bounds.agree),
          median(bounds.shrink) + median(bounds.split), median(bounds.exchange) + (is_ready ? 0 : touch)};
}

std::string beside(double time, double bound) { return fmt::format("{:.2f} ({:.2f})", time, time / bound); }

/// A case beside its bounds. A restore has its own repair before it.
void print(const Case& one, const Bound& bound) {
  const double repaired = median(one.repaired);
  fmt::print("{:<14} {:<24} {:>14} {:>14} {:>14} {:>14} {:>15} {:>16}\n", one.subject, one.options,
             beside(median(one.detect), bound.exit), beside(median(one.interrupt), bound.revoke),
             beside(median(one.agree), bound.agree), beside(median(one.rebuild), bound.rebuild),
             beside(repaired, bound.repaired()), beside(median(one.restored), repaired + bound.restore));
}

const char* verdict(bool is_met) { return is_met ? "met" : "missed"; }

void print_aims(const Series& series) {
  for (const Case& one : series.cases) {
    if (!one.options.empty()) continue;
    const Bound bound = bound_of(one, series.bounds);
    const double repaired = median(one.repaired);
    const double of_restored = median(one.restored) / (repaired + bound.restore);
    if (series.ranks == 2) {
      const bool is_met = repaired <= most_until_repaired * bound.repaired() && repaired <= most_ms_until_repaired;
      fmt::print(
          "{}: kill to repaired within {:g} of its bound and {:g} ms: {} ms ({:.2f} of the bounds without the exit): "
          "{}\n",
          one.subject, most_until_repaired, most_ms_until_repaired, beside(repaired, bound.repaired()),
          repaired / (bound.repaired() - bound.exit), verdict(is_met));
    }
    fmt::print("{}: kill to restored within {:g} of repaired, exchange and first touch: {:.2f}: {}\n", one.subject,
               most_until_restored, of_restored, verdict(of_restored <= most_until_restored));
  }
}

void print(const Series& series, const Arguments& arguments) {
  fmt::print(
      "{} ranks and {} spare(s), one rank killed in a loop of MPI_Allreduce, {:g} MiB a rank; medians of {}, in ms "
      "(in\n"
      "brackets: times the bound). Detect: until the first process knows; phases: of the slowest process, each by\n"
      "itself. The bounds: the kernel's exit of a process of that size; a bare revoke; agree; shrink and split; their\n"
      "sum; and repaired, a bare exchange of a rank's data, and the first touch of as much memory unless it was "
      "ready.\n\n"
      "{:<14} {:<24} {:>14} {:>14} {:>14} {:>14} {:>15} {:>16}\n",
      series.ranks, arguments.spares, arguments.mebibytes, arguments.samples, "recovery", "options", "detect",
      "interrupt", "agree", "rebuild", "kill to repaired", "kill to restored");
  for (const Case& one : series.cases) print(one, bound_of(one, series.bounds));
  const Bound bound = bound_of(series.cases.front(), series.bounds);
  fmt::print("{:<14} {:<24} {:>14.2f} {:>14.2f} {:>14.2f} {:>14.2f} {:>15.2f}\n", "bounds", "", bound.exit,
             bound.revoke, bound.agree, bound.rebuild, bound.repaired());
  fmt::print("exchange {:.2f}; first touch by one process {:.2f}, by all {:.2f}\n\n", median(series.bounds.exchange),
             median(series.bounds.touch_one), median(series.bounds.touch_all));
  print_aims(series);
  if (series.left_out > 0) fmt::print("{} jobs are left out: they had no recovery, or several\n", series.left_out);
  fmt::print("\n");
}

nlohmann::json document_of(const Series& series) {
  nlohmann::json cases;
  for (const Case& one : series.cases) {
    cases.push_back({{"recovery", one.subject},
                     {"options", one.options},
                     {"detect_ms", one.detect},
                     {"interrupt_ms", one.interrupt},
                     {"agree_ms", one.agree},
                     {"rebuild_ms", one.rebuild},
                     {"repaired_ms", one.repaired},
                     {"restored_ms", one.restored}});
  }
  const RecoveryBounds& bounds = series.bounds;
  return {{"ranks", series.ranks},
          {"jobs_left_out", series.left_out},
          {"cases", cases},
          {"bounds",
           {{"exit_ms", bounds.exit},
            {"revoke_ms", bounds.revoke},
            {"agree_ms", bounds.agree},
            {"shrink_ms", bounds.shrink},
            {"split_ms", bounds.split},
            {"exchange_ms", bounds.exchange},
            {"touch_one_ms", bounds.touch_one},
            {"touch_all_ms", bounds.touch_all}}}};
}

int compare(const Arguments& arguments) {
  // As where there are more processes than cores: the bounds at two ranks would be those of processes that never yield.
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  std::vector<Series> all;
  for (const int ranks : arguments.ranks) all.push_back({ranks});
  for (int i = 0; i < arguments.samples; ++i) {
    for (Series& series : all) {
      sample_bounds(series, arguments);
      for (Case& one : series.cases) sample(one, series, arguments);
    }
  }
  nlohmann::json result;
  for (const Series& series : all) {
    for (const Case& one : series.cases)
      if (one.repaired.empty()) throw std::runtime_error("no job has recovered from its failure");
    print(series, arguments);
    result.push_back(document_of(series));
  }
  write_json(arguments.json, result);
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  using namespace mend::bench;
  mend::bench::CommandLine line("bench_recovery", "Measures mend's recovery on this machine, by killing processes.");
  Arguments arguments;
  line.add("--ranks", arguments.ranks, "Numbers of ranks, each measured by itself", 2, 1000);
  line.add("--spares", arguments.spares, "Spares beside them", 1, 1000);
  line.add("--samples", arguments.samples, "Kills of each kind");
  line.add("--size", arguments.mebibytes, "MiB of data a rank", 0.001, 65536);
  line.add("--json", arguments.json, "Write all measurements to this file");
  line.add("--run", arguments.run_options, "Options of mend run for the jobs, in one word: \"--network tcp\"");
  line.add_hidden("--subject", arguments.subject);
  line.add_hidden("--record", arguments.record);
  line.allow_options_of_mend_beside("--subject");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    if (arguments.subject.empty()) return compare(arguments);
    if (arguments.subject == "bounds") return measure_bounds(argc, argv, arguments.mebibytes, arguments.record);
    return play(argc, argv, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_recovery: {}\n", error.what());
    return 1;
  }
}
