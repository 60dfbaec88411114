// Local rollback in whole programs, beside the global one:
//
//   programs    the mini-apps without a death: what the logs cost
//   recoveries  the stencil with a death some steps after a commit: the time that the death costs
//
// Launches jobs with `mend run`. The kinds take turns, so that disturbances of the machine affect all alike. The time
// of a program is its own, from its start until it has its result. The time that a death costs is that from the death
// to the next commit, less that of the steps that the rank still had to do until then. How long a step takes is
// measured in the same job, between that commit and the one after it.

#include "bench/command_line.hpp"
#include "base/median.hpp"
#include "jobs/report/trace_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

// What is aimed at.
constexpr double most_with_two_clusters = 1.05;

struct Arguments {
  int samples = 7;
  std::vector<int> ranks{2, 4};
  int steps = 400;
};

struct Kind {
  std::string name;
  std::string options;
};

/// Runs a job, and returns its result. Throws if it fails.
nlohmann::json result_of(int ranks, int spares, const std::string& program) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("mend-bench-{}.json", ::getpid());
  const std::string line = fmt::format("{} run -n {} --spares {} -- {} --result {} >/dev/null 2>&1", MEND_COMMAND,
                                       ranks, spares, program, file.string());
  if (std::system(line.c_str()) != 0) throw std::runtime_error("this job has failed: " + line);
  std::ifstream in(file);
  nlohmann::json result = nlohmann::json::parse(in);
  std::filesystem::remove(file);
  std::filesystem::remove(file.string() + ".kills");
  return result;
}

/// The times of one kind of job.
struct Times {
  std::vector<double> milliseconds;
  std::string answer;  // the hash of the field

  void add(double time, const nlohmann::json& result) {
    milliseconds.push_back(time);
    answer = result.at("field_hash").get<std::string>();
  }
  double typical() const { return median(milliseconds); }
};

void require_same_answer(const std::vector<Times>& all) {
  for (const Times& one : all)
    if (one.answer != all.front().answer) throw std::runtime_error("two jobs have different answers");
}

/// The times of jobs that take turns, by kind.
std::vector<Times> measure(int samples, int ranks, const std::string& program, const std::vector<Kind>& kinds) {
  std::vector<Times> times(kinds.size());
  for (int sample = 0; sample < samples; ++sample)
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto result = result_of(ranks, 0, program + " " + kinds[i].options);
      times[i].add(1000 * result.at("phase_seconds").at("total").get<double>(), result);
    }
  require_same_answer(times);
  return times;
}

void compare_programs(const Arguments& arguments) {
  const std::vector<Kind> kinds{{"global", ""},
                                {"1 cluster", "--mend-rollback local --mend-clusters 1"},
                                {"2 clusters", "--mend-rollback local --mend-clusters 2"},
                                {"each rank", "--mend-rollback local"}};
  fmt::print(
      "without a death: ms, medians of {}; beside them the ratio to the global rollback (aim: {} with 2 clusters)\n",
      arguments.samples, most_with_two_clusters);
  fmt::print("{:<8} {:>5}", "", "ranks");
  for (const Kind& kind : kinds) fmt::print(" {:>16}", kind.name);
  fmt::print("\n");
  const std::vector<Kind> programs{
      {"stencil", fmt::format("{} --size 64 --steps {} --commit-every 20", MEND_STENCIL, arguments.steps)},
      {"minife", fmt::format("{} --nx 24 --steps {} --commit-every 2", MEND_MINIFE, arguments.steps / 10)}};
  for (const Kind& program : programs) {
    for (const int ranks : arguments.ranks) {
      const auto times = measure(arguments.samples, ranks, program.options, kinds);
      fmt::print("{:<8} {:>5}", program.name, ranks);
      for (const Times& one : times)
        fmt::print(" {:>8.0f} ({:.3f})", one.typical(), one.typical() / times.front().typical());
      fmt::print("\n");
    }
  }
}

/// When process 0 had `version` complete, in microseconds.
std::int64_t completion(const std::vector<jobs::TraceEvent>& events, std::int64_t version) {
  const auto event = std::ranges::find_if(events, [&](const jobs::TraceEvent& one) {
    return one.name == "commit" && one.process == 0 && one.note("bytes") && one.note("version") == version;
  });
  if (event == events.end()) throw std::runtime_error(fmt::format("the trace has no commit of version {}", version));
  return event->end_us();
}

/// The stencil with three commits, a death `lost` steps after the first, and what that costs in ms.
void add_death(Times& times, int ranks, int interval, int lost, const std::string& options) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("mend-bench-trace-{}", ::getpid());
  const auto result =
      result_of(ranks, 1,
                fmt::format("{} --size 64 --steps {} --commit-every {} --kill 2@{} --mend-trace {} {}", MEND_STENCIL,
                            3 * interval, interval, interval + lost, folder.string(), options));
  const auto events = jobs::parsed(jobs::read_trace(folder));
  std::filesystem::remove_all(folder);
  const auto death = result.at("kills").at(0).at("time_us").get<std::int64_t>();
  const std::int64_t second = completion(events, 2);
  const double step = static_cast<double>(completion(events, 3) - second) / interval;
  times.add((static_cast<double>(second - death) - step * (interval - lost)) / 1000, result);
}

void compare_recoveries(const Arguments& arguments) {
  constexpr int ranks = 8;
  const int interval = arguments.steps / 3;
  const std::vector<Kind> kinds{{"global", ""},
                                {"4 clusters", "--mend-rollback local --mend-clusters 4"},
                                {"each rank", "--mend-rollback local"}};
  fmt::print(
      "\nrank 2 of {} dies in the stencil: ms that this costs, medians of {}, and the ratio to the global rollback "
      "(aim: below 1 after 100 steps)\n{:>18}",
      ranks, arguments.samples, "steps since commit");
  for (const Kind& kind : kinds) fmt::print(" {:>16}", kind.name);
  fmt::print("\n");
  for (const int lost : {1, 10, 100}) {
    if (lost >= interval) continue;
    std::vector<Times> times(kinds.size());
    for (int sample = 0; sample < arguments.samples; ++sample)
      for (std::size_t i = 0; i < kinds.size(); ++i) add_death(times[i], ranks, interval, lost, kinds[i].options);
    require_same_answer(times);
    fmt::print("{:>18}", lost);
    for (const Times& one : times)
      fmt::print(" {:>8.1f} ({:.3f})", one.typical(), one.typical() / times.front().typical());
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  mend::bench::Arguments arguments;
  mend::bench::CommandLine line("bench_rollback",
                                "What local rollback costs and saves in whole programs. Launches jobs with mend run.");
  line.add("--samples", arguments.samples, "Jobs of each kind");
  line.add("--ranks", arguments.ranks, "Numbers of ranks of the programs without a death", 2, 1024);
  line.add("--steps", arguments.steps, "Steps of the stencil", 20, 1'000'000);
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    mend::bench::compare_programs(arguments);
    mend::bench::compare_recoveries(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_rollback: {}\n", error.what());
    return 1;
  }
  return 0;
}
