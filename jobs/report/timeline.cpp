#include "jobs/report/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

namespace mend::jobs {
namespace {

using nlohmann::json;

constexpr std::array<const char*, kinds> names{"computes", "waits",      "recovery", "interrupt", "agree",
                                               "rebuild",  "restore",    "commit",   "disk",      "again",
                                               "died",     "takes over", "silent",   "learns",    "message"};

struct Mark {
  std::int64_t at = 0;
  int epoch = 0;
  std::optional<int> rank;       ///< none for a spare
  std::int64_t first_epoch = 0;  ///< of the launch
};

/// The events of a process, in the order of their beginnings.
struct ProcessEvents {
  std::vector<Mark> epochs;
  std::vector<const TraceEvent*> events;
  std::int64_t end = 0;
  bool died = false;

  /// The epoch of the process at that time; before its first epoch, the first one.
  const Mark* at(std::int64_t moment) const {
    const auto next = std::ranges::upper_bound(epochs, moment, {}, &Mark::at);
    if (next != epochs.begin()) return &*std::prev(next);
    return epochs.empty() ? nullptr : &epochs.front();
  }
  const Mark* in(int epoch) const {
    const auto found = std::ranges::find(epochs, epoch, &Mark::epoch);
    return found == epochs.end() ? nullptr : &*found;
  }
  std::optional<int> last_rank() const { return epochs.empty() ? std::nullopt : epochs.back().rank; }
};

using EventsByProcess = std::map<int, ProcessEvents>;

std::optional<Kind> kind_of(const TraceEvent& event) {
  static const std::map<std::string, Kind, std::less<>> known{
      {"recovery", Kind::recovery}, {"interrupt", Kind::interrupt}, {"agree", Kind::agree}, {"rebuild", Kind::rebuild},
      {"restore", Kind::restore},   {"commit", Kind::commit},       {"disk", Kind::disk},   {"silent", Kind::silent},
      {"dead", Kind::learns},       {"message", Kind::message}};
  const auto found = known.find(event.name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

/// The time at which other processes first knew of each death.
std::map<int, std::int64_t> deaths_in(const std::vector<TraceEvent>& events) {
  std::map<int, std::int64_t> deaths;
  for (const TraceEvent& event : events) {
    if (event.name != "dead") continue;
    if (const auto process = event.note("process")) deaths.try_emplace(static_cast<int>(*process), event.begin_us);
  }
  return deaths;
}

/// Returns the epochs that began with a recovery. The processes that agree on the end of the job mark one more epoch,
/// with the ranks of the remaining processes; no process computes in it.
std::set<std::int64_t> recovered_epochs(const std::vector<TraceEvent>& events) {
  std::set<std::int64_t> epochs;
  for (const TraceEvent& event : events)
    if (event.name == "rebuild" || event.name == "interrupt") epochs.insert(event.note("epoch").value_or(0));
  return epochs;
}

EventsByProcess events_by_process(const std::vector<TraceEvent>& events) {
  EventsByProcess by_process;
  const std::set<std::int64_t> recovered = recovered_epochs(events);
  std::set<int> finished;
  for (const TraceEvent& event : events) {
    ProcessEvents& process_events = by_process[static_cast<int>(event.process)];
    process_events.events.push_back(&event);
    process_events.end = std::max(process_events.end, event.end_us());
    if (event.name == "finished") finished.insert(static_cast<int>(event.process));
    if (event.name != "epoch") continue;
    if (!process_events.epochs.empty() && !recovered.contains(event.note("epoch").value_or(0))) continue;
    const auto rank = event.note("rank");
    process_events.epochs.push_back({event.begin_us, static_cast<int>(event.note("epoch").value_or(0)),
                                     rank ? std::optional(static_cast<int>(*rank)) : std::nullopt,
                                     event.epochs_before});
  }
  for (const auto& [process, at] : deaths_in(events)) {
    const auto found = by_process.find(process);
    if (found == by_process.end() || finished.contains(process)) continue;
    found->second.died = true;
    found->second.end = std::max(found->second.end, at);
  }
  return by_process;
}

// --- local rollback --------------------------------------------------------------------------------------------

/// Returns the time at which the process had its data and began to compute in this epoch.
std::int64_t begin_of_work(const ProcessEvents& process_events, const Mark& mark) {
  for (const TraceEvent* event : process_events.events) {
    const Mark* of = event->name == "restore" ? process_events.at(event->begin_us) : nullptr;
    if (of != nullptr && of->epoch == mark.epoch) return event->end_us();
  }
  return mark.at;
}

/// Returns the event of the process about the recovery into `epoch` under local rollback; null if it has none.
const TraceEvent* rollback_of(const ProcessEvents& process_events, int epoch) {
  for (const TraceEvent* event : process_events.events)
    if (event->name == "rollback" && event->note("epoch") == epoch) return event;
  return nullptr;
}

/// Returns how many steps a process had computed since it last committed, or rolled back. A restore of a process that
/// stays serves other ranks, and does not count as a rollback.
std::int64_t steps_at_end(const ProcessEvents& process_events) {
  std::int64_t steps = 0;
  for (const TraceEvent* event : process_events.events) {
    if (event->name == "step") ++steps;
    if (event->name == "commit" && event->note("bytes")) steps = 0;
    const Mark* mark = event->name == "restore" ? process_events.at(event->begin_us) : nullptr;
    const TraceEvent* told = mark == nullptr ? nullptr : rollback_of(process_events, mark->epoch);
    if (mark != nullptr && (told == nullptr || told->note("stays") == 0)) steps = 0;
  }
  return steps;
}

/// Returns how many steps a survivor had computed since it last committed, or rolled back, before the event `rollback`.
std::int64_t steps_before(const ProcessEvents& process_events, const TraceEvent& rollback) {
  std::int64_t steps = 0;
  for (const TraceEvent* event : process_events.events) {
    if (event == &rollback) break;
    if (event->name == "step") ++steps;
    if (event->name == "commit" && event->note("bytes")) steps = 0;
    if (event->name == "rollback" && event->note("stays") == 0) steps = 0;
  }
  return steps;
}

/// Returns the dead process that held `rank` last before `epoch`; null if there is none.
const ProcessEvents* predecessor_of(const EventsByProcess& by_process, int rank, int epoch) {
  const ProcessEvents* last = nullptr;
  for (const auto& [process, process_events] : by_process) {
    if (!process_events.died || process_events.epochs.empty() || process_events.last_rank() != rank ||
        process_events.epochs.back().epoch >= epoch)
      continue;
    if (last == nullptr || process_events.end > last->end) last = &process_events;
  }
  return last;
}

/// Returns the number of steps that a process computes again if it rolls back in this epoch under local rollback;
/// nothing for all others.
std::optional<std::int64_t> lost_steps(const EventsByProcess& by_process, int process, const Mark& mark) {
  const ProcessEvents& process_events = by_process.at(process);
  const TraceEvent* told = rollback_of(process_events, mark.epoch);
  const bool is_new = &mark == process_events.epochs.data() || !std::prev(&mark)->rank;
  if (told == nullptr || told->note("stays") != 0 || !mark.rank) return std::nullopt;
  if (!is_new && told->note("back").value_or(0) == 0) return std::nullopt;
  if (!is_new) return steps_before(process_events, *told);
  const ProcessEvents* before = predecessor_of(by_process, *mark.rank, mark.epoch);
  return before == nullptr ? 0 : steps_at_end(*before);
}

/// Returns which ranks rolled back in the recovery into `epoch`, and what the others kept; null if all rolled back.
json local_of(const EventsByProcess& by_process, int epoch) {
  json local{{"version", 0}, {"back", json::array()}, {"ranks", json::array()}};
  std::map<int, json> ranks;
  for (const auto& [process, process_events] : by_process) {
    const Mark* mark = process_events.in(epoch);
    const TraceEvent* told = rollback_of(process_events, epoch);
    if (mark == nullptr || !mark->rank || told == nullptr) continue;
    const auto value = [told](const char* name) { return told->note(name).value_or(0); };
    local["version"] = std::max(local["version"].get<std::int64_t>(), value("version"));
    ranks[*mark->rank] = {{"rank", *mark->rank},
                          {"kept", value("kept")},
                          {"logged", value("logged")},
                          {"resent", value("resent")},
                          {"resent_bytes", value("resent_bytes")}};
    if (const auto lost = lost_steps(by_process, process, *mark)) {
      local["back"].push_back({{"rank", *mark->rank}, {"process", process}, {"again", *lost}});
    }
  }
  for (json& rank : ranks | std::views::values) local["ranks"].push_back(std::move(rank));
  return ranks.empty() ? json() : local;
}

// --- rows and bars ---------------------------------------------------------------------------------------------

class Drawing {
 public:
  Drawing(Timeline& timeline, const EventsByProcess& by_process) : timeline_(timeline), by_process_(by_process) {
    lay_out_rows();
  }

  void draw() {
    for (const auto& [process, process_events] : by_process_) {
      draw_epochs(process, process_events);
      draw_events(process, process_events);
      if (process_events.died)
        add(process, process_events.at(process_events.end), Kind::died, process_events.end, 0, -1);
    }
    const auto place = [](const Bar& bar) { return std::tuple(bar.row, bar.begin, bar.kind); };
    std::ranges::stable_sort(timeline_.bars, {}, place);
  }

 private:
  void lay_out_rows() {
    std::set<int> ranks;
    std::set<int> spares;
    for (const auto& [process, process_events] : by_process_) {
      if (process_events.epochs.empty()) spares.insert(process);
      for (const Mark& mark : process_events.epochs) mark.rank ? ranks.insert(*mark.rank) : spares.insert(process);
    }
    for (const int rank : ranks) {
      row_of_rank_[rank] = static_cast<int>(timeline_.rows.size());
      timeline_.rows.push_back({fmt::format("rank {}", rank), rank, std::nullopt});
    }
    for (const int process : spares) {
      row_of_spare_[process] = static_cast<int>(timeline_.rows.size());
      timeline_.rows.push_back({fmt::format("spare {}", process), std::nullopt, process});
    }
    timeline_.ranks = static_cast<int>(ranks.size());
  }

  int row_of(int process, const Mark* mark) const {
    return mark != nullptr && mark->rank ? row_of_rank_.at(*mark->rank) : row_of_spare_.at(process);
  }

  void add(int process, const Mark* mark, Kind kind, std::int64_t begin_us, std::int64_t length, std::int64_t number) {
    timeline_.bars.push_back({row_of(process, mark), kind, process, begin_us - timeline_.origin_us, length, number});
  }

  /// Draws the epochs of a process. Recoveries between two epochs are drawn over these bars.
  void draw_epochs(int process, const ProcessEvents& process_events) {
    for (std::size_t i = 0; i < process_events.epochs.size(); ++i) {
      const Mark& mark = process_events.epochs[i];
      const std::int64_t end =
          i + 1 < process_events.epochs.size() ? process_events.epochs[i + 1].at : process_events.end;
      add(process, &mark, mark.rank ? Kind::computes : Kind::waits, mark.at, end - mark.at, mark.epoch);
      if (mark.rank) draw_again(process, process_events, i);
      const bool was_spare = i > 0 && !process_events.epochs[i - 1].rank;
      const bool is_new = i == 0 && mark.epoch > mark.first_epoch;
      if (mark.rank && (was_spare || is_new)) add(process, &mark, Kind::takes_over, mark.at, 0, mark.epoch);
    }
  }

  /// Draws the time from the moment when it begins to compute until it has done as many steps as were lost.
  void draw_again(int process, const ProcessEvents& process_events, std::size_t i) {
    const Mark& mark = process_events.epochs[i];
    const auto lost = lost_steps(by_process_, process, mark);
    if (!lost || *lost == 0) return;
    const std::int64_t begin = begin_of_work(process_events, mark);
    const std::int64_t next =
        i + 1 < process_events.epochs.size() ? process_events.epochs[i + 1].at : process_events.end;
    std::int64_t end = next;
    std::int64_t done = 0;
    for (const TraceEvent* event : process_events.events) {
      if (event->name != "step" || event->begin_us < begin || ++done < *lost) continue;
      end = event->begin_us;
      break;
    }
    add(process, &mark, Kind::again, begin, end - begin, *lost);
  }

  void draw_events(int process, const ProcessEvents& process_events) {
    for (const TraceEvent* event : process_events.events) {
      const auto kind = kind_of(*event);
      if (!kind) continue;
      std::int64_t number = -1;
      for (const char* note : {"version", "epoch", "process", "from", "to"})
        if (const auto value = event->note(note)) number = *value;
      add(process, process_events.at(event->begin_us), *kind, event->begin_us, event->length_us, number);
    }
  }

  Timeline& timeline_;
  const EventsByProcess& by_process_;
  std::map<int, int> row_of_rank_;
  std::map<int, int> row_of_spare_;
};

// --- commits ---------------------------------------------------------------------------------------------------

/// Finds the commits. A commit has two parts; it is complete at the end of the second one, which notes the bytes. The
/// time of a failed attempt counts towards the attempt that succeeds.
std::vector<Commit> commits_in(const EventsByProcess& by_process, std::int64_t origin_us) {
  // By launch, version, and the number of commits of that version.
  std::map<std::tuple<int, std::int64_t, int>, Commit> commits;
  for (const auto& [process, process_events] : by_process) {
    std::map<std::int64_t, Commit> under_way;
    std::map<std::int64_t, int> times;
    for (const TraceEvent* event : process_events.events) {
      const auto version = event->name == "commit" ? event->note("version") : std::nullopt;
      if (!version) continue;
      Commit& own = under_way.try_emplace(*version, Commit{*version, event->begin_us - origin_us, 0, 0}).first->second;
      own.cost += event->length_us;
      const auto bytes = event->note("bytes");
      if (!bytes) continue;
      Commit& all = commits.try_emplace({event->launch, *version, times[*version]++}, own).first->second;
      all.begin = std::min(all.begin, own.begin);
      all.cost = std::max(all.cost, own.cost);
      all.bytes = std::max(all.bytes, *bytes);
      under_way.erase(*version);
    }
  }
  std::vector<Commit> found;
  for (const auto& [key, commit] : commits) found.push_back(commit);
  std::ranges::sort(found, {}, &Commit::begin);
  return found;
}

// --- recoveries ------------------------------------------------------------------------------------------------

/// The recovery that has led into an epoch, as seen by one process. Times in microseconds.
struct OwnRecovery {
  std::int64_t noticed = 0;
  std::array<std::int64_t, 4> phases{};  ///< interrupt, agree, rebuild, restore

  std::int64_t whole() const { return phases[0] + phases[1] + phases[2] + phases[3]; }
};

/// The recoveries of a process, by the epoch that they have led into.
std::map<std::int64_t, OwnRecovery> own_recoveries(const ProcessEvents& process_events) {
  static constexpr std::array<const char*, 3> until_rebuilt{"interrupt", "agree", "rebuild"};
  std::map<std::int64_t, OwnRecovery> found;
  std::map<std::int64_t, std::int64_t> restored;
  for (const TraceEvent* event : process_events.events) {
    for (std::size_t i = 0; i < until_rebuilt.size(); ++i) {
      const auto epoch = event->name == until_rebuilt[i] ? event->note("epoch") : std::nullopt;
      if (!epoch) continue;
      OwnRecovery& own = found[*epoch];
      own.phases[i] += event->length_us;
      if (i == 0) own.noticed = event->begin_us;
    }
    const Mark* mark = event->name == "restore" ? process_events.at(event->begin_us) : nullptr;
    if (mark != nullptr) restored[mark->epoch] += event->length_us;
  }
  for (auto& [epoch, own] : found) own.phases[3] = restored[epoch];
  return found;
}

/// Returns the time at which the last process had made the communicators of `epoch`.
std::int64_t begin_of(const EventsByProcess& by_process, int epoch) {
  std::int64_t last = 0;
  for (const auto& [process, process_events] : by_process)
    if (const Mark* mark = process_events.in(epoch)) last = std::max(last, mark->at);
  return last;
}

/// Returns the process that takes over `rank` in `epoch` and did not have it before.
std::optional<int> newcomer_at(const EventsByProcess& by_process, int rank, int epoch) {
  for (const auto& [process, process_events] : by_process) {
    const Mark* mark = process_events.in(epoch);
    if (mark == nullptr || mark->rank != rank) continue;
    if (mark == process_events.epochs.data() || !std::prev(mark)->rank) return process;
  }
  return std::nullopt;
}

/// The recoveries by epoch, each as seen by the rank for which it took longest. Left out is one that no rank has
/// completed: the processes have agreed on the dead processes, and ended.
std::map<int, OwnRecovery> slowest_recoveries(const EventsByProcess& by_process) {
  std::map<int, OwnRecovery> slowest;
  for (const auto& [process, process_events] : by_process) {
    const auto recoveries = own_recoveries(process_events);
    for (const Mark& mark : process_events.epochs) {
      const auto own = recoveries.find(mark.epoch);
      if (!mark.rank || own == recoveries.end()) continue;
      OwnRecovery& longest = slowest.try_emplace(mark.epoch, own->second).first->second;
      if (own->second.whole() >= longest.whole()) longest = own->second;
    }
  }
  return slowest;
}

/// An event of a process that was in `epoch`.
const TraceEvent& event_in(const EventsByProcess& by_process, int epoch) {
  const auto is_in = [epoch](const auto& one) { return one.second.in(epoch) != nullptr; };
  return *std::ranges::find_if(by_process, is_in)->second.events.front();
}

json recovery_into(const EventsByProcess& by_process, int epoch, const std::vector<int>& dead,
                   const OwnRecovery& slowest) {
  const auto milliseconds = [&](std::size_t phase) { return static_cast<double>(slowest.phases[phase]) / 1000; };
  json recovery{{"epoch", epoch},
                {"dead", dead},
                {"replacements", json::array()},
                {"given_up", json::array()},
                {"noticed_us", slowest.noticed},
                {"interrupt_ms", milliseconds(0)},
                {"agree_ms", milliseconds(1)},
                {"rebuild_ms", milliseconds(2)},
                {"restore_ms", milliseconds(3)}};
  for (const int process : dead) {
    const auto rank = by_process.at(process).last_rank();
    if (!rank) continue;
    if (const auto newcomer = newcomer_at(by_process, *rank, epoch)) {
      recovery["replacements"].push_back({{"rank", *rank}, {"dead", process}, {"newcomer", *newcomer}});
    } else {
      recovery["given_up"].push_back({{"rank", *rank}, {"dead", process}});
    }
  }
  if (json local = local_of(by_process, epoch); !local.is_null()) recovery["local"] = std::move(local);
  if (const TraceEvent& seen = event_in(by_process, epoch); seen.launch > 1) {
    recovery["launch"] = seen.launch;
    recovery["epoch"] = epoch - seen.epochs_before;  // as the launch itself numbers it
  }
  return recovery;
}

json recoveries_in(const EventsByProcess& by_process) {
  std::set<int> epochs;
  for (const auto& [process, process_events] : by_process)
    for (const Mark& mark : process_events.epochs) epochs.insert(mark.epoch);
  const auto slowest = slowest_recoveries(by_process);
  json recoveries = json::array();
  std::int64_t before = 0;
  for (const int epoch : epochs) {
    const std::int64_t now = begin_of(by_process, epoch);
    std::vector<int> dead;
    for (const auto& [process, process_events] : by_process)
      if (process_events.died && process_events.end > before && process_events.end <= now) dead.push_back(process);
    const auto own = epoch > 0 ? slowest.find(epoch) : slowest.end();
    if (own != slowest.end()) recoveries.push_back(recovery_into(by_process, epoch, dead, own->second));
    before = now;
  }
  return recoveries;
}

/// "process 4: spare, rank 2".
std::string title_of(int process, const ProcessEvents& process_events) {
  std::vector<std::string> parts;
  for (const Mark& mark : process_events.epochs) {
    std::string part = mark.rank ? fmt::format("rank {}", *mark.rank) : "spare";
    if (parts.empty() || parts.back() != part) parts.push_back(std::move(part));
  }
  if (parts.empty()) return fmt::format("process {}", process);
  return fmt::format("process {}: {}", process, fmt::join(parts, ", "));
}

}  // namespace

std::string name_of(Kind kind) { return names.at(static_cast<std::size_t>(kind)); }

CommitEconomy Timeline::economy() const {
  const auto seconds = [](std::int64_t microseconds) { return Seconds(static_cast<double>(microseconds) / 1e6); };
  CommitEconomy economy{
      .run_time = seconds(length), .commits = commits.size(), .failures = recoveries.size(), .mtbf = {}};
  for (const Commit& commit : commits) economy.commit_time += seconds(commit.cost);
  economy.mtbf = mtbf_of(std::nullopt, economy.run_time, economy.failures);
  return economy;
}

Timeline timeline_of(const std::vector<TraceEvent>& events) {
  Timeline timeline;
  if (events.empty()) return timeline;
  const EventsByProcess by_process = events_by_process(events);  // points into `events`
  timeline.origin_us = events.front().begin_us;
  for (const auto& [process, process_events] : by_process) {
    timeline.length = std::max(timeline.length, process_events.end - timeline.origin_us);
    timeline.deaths += process_events.died ? 1 : 0;
    timeline.spares += !process_events.epochs.empty() && process_events.epochs.front().epoch == 0 &&
                               !process_events.epochs.front().rank
                           ? 1
                           : 0;
  }
  timeline.processes = static_cast<int>(by_process.size());
  Drawing(timeline, by_process).draw();
  timeline.commits = commits_in(by_process, timeline.origin_us);
  timeline.recoveries = recoveries_in(by_process);
  return timeline;
}

json for_perfetto(const json& events) {
  json all = json::array();
  const std::vector<TraceEvent> understood = parsed(events);
  for (const auto& [process, process_events] : events_by_process(understood)) {
    all.push_back({{"name", "process_name"},
                   {"ph", "M"},
                   {"pid", process},
                   {"args", {{"name", title_of(process, process_events)}}}});
    all.push_back({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", process}, {"args", {{"sort_index", process}}}});
  }
  const json of_launch = "process_name";
  for (const json& event : events)
    if (event.is_object() && (!event.contains("name") || event["name"] != of_launch)) all.push_back(event);
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(all)}};
}

}  // namespace mend::jobs
