// A recovery on real processes, from the kill until the body runs again with its data: the time of each phase.
//
// Started directly, it launches jobs of itself with `mend run`, one for each kill. The cases take turns, so that
// disturbances of the machine affect all alike.

#include "base/median.hpp"
#include "bench/jobs.hpp"
#include "framework/mend.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

constexpr int ranks = 4;
constexpr int victim = 1;
constexpr Seconds settled{0.4};  // a new ring is more patient

struct Arguments {
  int samples = 30;
  double mebibytes = 16;  // for each rank
  std::string json;
  std::string subject;  // in a launched process: the kind of recovery
  std::string record;
};

// ---- A process of a job in which rank 1 is killed

/// Records when this process had its communicator and its data again, and the times of the phases.
void tell(Session& session, const Arguments& arguments, std::int64_t repaired, std::int64_t restored) {
  const RecoveryReport& report = session.recoveries().back();
  say(arguments.record, fmt::format("back {} {} {} {} {} {}\n", nanoseconds_of(report.noticed), repaired, restored,
                                    report.interrupt.count(), report.agree.count(), report.rebuild.count()));
}

void work_until_the_kill(Session& session, const Arguments& arguments) {
  const Stopwatch since_start;
  for (int sum = 0;;) {
    if (session.rank() == Rank{victim} && since_start.elapsed() > settled) {
      say(arguments.record, fmt::format("killed {}\n", now_ns()));
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

void sample(Case& one, const Arguments& arguments) {
  std::istringstream said(said_by_job(
      MEND_COMMAND, ranks, 1,
      fmt::format("--subject {} --size {} --mend-log off {}", one.subject, arguments.mebibytes, one.options)));
  std::int64_t killed = 0;
  std::int64_t noticed = 0;
  std::int64_t repaired = 0;
  std::int64_t restored = 0;
  std::array<double, 3> phases{};
  int back = 0;
  for (std::string word; said >> word;) {
    if (word == "killed") said >> killed;
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
  if (killed == 0 || back != ranks) throw std::runtime_error("a job did not recover from its failure");
  const auto since_kill = [&](std::int64_t time) { return static_cast<double>(time - killed) / 1e6; };
  one.detect.push_back(since_kill(noticed));
  one.interrupt.push_back(phases[0]);
  one.agree.push_back(phases[1]);
  one.rebuild.push_back(phases[2]);
  one.repaired.push_back(since_kill(repaired));
  one.restored.push_back(since_kill(restored));
}

void print(const std::vector<Case>& cases, const Arguments& arguments) {
  fmt::print(
      "{} ranks and a spare, one rank killed in a loop of MPI_Allreduce, {:g} MiB a rank; medians of {} (greatest in\n"
      "brackets), in ms. Detect: until the first process knows; phases: of the slowest process, each by itself.\n\n"
      "{:<14} {:<24} {:>8} {:>10} {:>8} {:>8} {:>22} {:>22}\n",
      ranks, arguments.mebibytes, arguments.samples, "recovery", "options", "detect", "interrupt", "agree", "rebuild",
      "kill to repaired", "kill to restored");
  for (const Case& one : cases) {
    fmt::print("{:<14} {:<24} {:>8.2f} {:>10.2f} {:>8.2f} {:>8.2f} {:>12.2f} ({:>7.2f}) {:>12.2f} ({:>7.2f})\n",
               one.subject, one.options, median(one.detect), median(one.interrupt), median(one.agree),
               median(one.rebuild), median(one.repaired), std::ranges::max(one.repaired), median(one.restored),
               std::ranges::max(one.restored));
  }
}

int compare(const Arguments& arguments) {
  std::vector<Case> cases{{"re-entry", ""},
                          {"in-place", ""},
                          {"in-place-ready", ""},
                          {"in-place-kept", ""},
                          {"re-entry", "--mend-detector runtime"},
                          {"re-entry", "--mend-agreement mpi"}};
  for (int i = 0; i < arguments.samples; ++i) {
    for (Case& one : cases) sample(one, arguments);
  }
  print(cases, arguments);
  if (arguments.json.empty()) return 0;
  nlohmann::json result;
  for (const Case& one : cases) {
    result.push_back({{"recovery", one.subject},
                      {"options", one.options},
                      {"detect_ms", one.detect},
                      {"interrupt_ms", one.interrupt},
                      {"agree_ms", one.agree},
                      {"rebuild_ms", one.rebuild},
                      {"repaired_ms", one.repaired},
                      {"restored_ms", one.restored}});
  }
  std::ofstream(arguments.json) << result.dump(2) << "\n";
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  using namespace mend::bench;
  CLI::App app("Measures mend's recovery on this machine, by killing processes.", "bench_recovery");
  Arguments arguments;
  app.add_option("--samples", arguments.samples, "Kills of each kind")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--size", arguments.mebibytes, "MiB of data a rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", arguments.json, "Write all measurements to FILE")->type_name("FILE");
  app.add_option("--subject", arguments.subject, "How a process of a launched job recovers")->group("");
  app.add_option("--record", arguments.record, "Where it says what happened")->group("");
  app.allow_extras();  // --mend-...
  CLI11_PARSE(app, argc, argv);
  try {
    return arguments.subject.empty() ? compare(arguments) : play(argc, argv, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_recovery: {}\n", error.what());
    return 1;
  }
}
