#include "jobs/report/trace_gaps.hpp"

#include "base/name_runs.hpp"
#include "jobs/report/trace_files.hpp"
#include "jobs/run/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace mend::jobs {
namespace {

using nlohmann::json;

/// Returns the number in a note if it can be a number of processes, or of one of them. That of a damaged trace may be
/// any number.
std::optional<std::uint32_t> number_of_processes_in(const TraceEvent& event, const char* note) {
  constexpr std::int64_t most_ranks_and_spares = 2 * most_processes;
  const auto number = event.note(note);
  if (!number || *number < 0 || *number > most_ranks_and_spares) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/// Data from the traces of one launch.
struct LaunchTraces {
  std::set<std::uint32_t> sizes{};  ///< the initial number of processes of the job, as reported by each process
  std::set<std::uint32_t> files{};
  std::set<std::uint32_t> with_events{};
  std::set<std::uint32_t> finished{};
  std::set<std::uint32_t> dead{};
  std::int64_t last_begin_us = 0;  ///< of a process in the first epoch
  std::int64_t first_end_us = std::numeric_limits<std::int64_t>::max();

  void include(const TraceEvent& event) {
    with_events.insert(event.process);
    if (const auto process = number_of_processes_in(event, "process")) dead.insert(*process);
    if (const auto size = number_of_processes_in(event, "processes")) sizes.insert(*size);
    if (event.name == "epoch" && event.note("epoch") == 0) last_begin_us = std::max(last_begin_us, event.begin_us);
    if (event.name != "finished") return;
    finished.insert(event.process);
    first_end_us = std::min(first_end_us, event.begin_us);
  }

  /// Returns true if an earlier job has left its traces: a process has begun after the job's end, or the traces
  /// contradict each other.
  bool are_of_several_jobs() const { return sizes.size() > 1 || last_begin_us > first_end_us; }
};

std::map<int, LaunchTraces> launches_in(const json& events) {
  std::map<int, LaunchTraces> launches;
  for (const json& event : events)
    if (const auto file = file_named_by(event)) launches[file->launch].files.insert(file->process);
  for (const TraceEvent& event : parsed(events)) launches[event.launch].include(event);
  return launches;
}

std::string names_of(const std::set<std::uint32_t>& processes) {
  ProcessSet all;
  for (const std::uint32_t process : processes) all.insert(ProcessId{process});
  return name_processes(all);
}

/// "there is no trace of process 1, the trace of process 2 is empty".
std::string gaps_of(const LaunchTraces& traces) {
  std::set<std::uint32_t> missing(traces.dead);
  for (std::uint32_t process = 0; !traces.sizes.empty() && process < *traces.sizes.begin(); ++process)
    missing.insert(process);
  std::set<std::uint32_t> empty;
  for (const std::uint32_t process : traces.files)
    if (!traces.with_events.contains(process)) empty.insert(process);
  std::set<std::uint32_t> cut_off;
  for (const std::uint32_t process : traces.with_events)
    if (!traces.finished.contains(process) && !traces.dead.contains(process)) cut_off.insert(process);
  for (const std::uint32_t process : traces.files) missing.erase(process);
  for (const std::uint32_t process : traces.with_events) missing.erase(process);

  const auto traces_of = [](const std::set<std::uint32_t>& processes, const char* one, const char* several) {
    return fmt::format("the {} of {} {}", processes.size() == 1 ? "trace" : "traces", names_of(processes),
                       processes.size() == 1 ? one : several);
  };
  std::vector<std::string> gaps;
  if (!missing.empty()) gaps.push_back(fmt::format("there is no trace of {}", names_of(missing)));
  if (!empty.empty()) gaps.push_back(traces_of(empty, "is empty", "are empty"));
  if (!cut_off.empty() && !traces.finished.empty())
    gaps.push_back(traces_of(cut_off, "ends before the job", "end before the job"));
  return fmt::format("{}", fmt::join(gaps, ", "));
}

}  // namespace

std::vector<std::string> gaps_in(const json& events) {
  const auto launches = launches_in(events);
  if (std::ranges::any_of(launches, [](const auto& one) { return one.second.are_of_several_jobs(); }))
    return {
        "the traces are of more than one job, and are shown as if they were of one: give each job a folder of its "
        "own (--mend-trace)"};
  std::vector<std::string> sentences;
  for (const auto& [launch, traces] : launches) {
    const std::string gaps = gaps_of(traces);
    if (gaps.empty()) continue;
    sentences.push_back(launches.size() > 1 ? fmt::format("launch {}: {}", launch, gaps) : gaps);
  }
  if (!launches.empty() && launches.rbegin()->second.finished.empty())
    sentences.emplace_back(
        "the traces do not have the end of the job: it runs still, or all of its processes were killed");
  return sentences;
}

}  // namespace mend::jobs
