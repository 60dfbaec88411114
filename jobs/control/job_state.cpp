#include "jobs/control/job_state.hpp"

#include "base/launch.hpp"
#include "base/telemetry/microseconds.hpp"
#include "base/telemetry/resident_bytes.hpp"
#include "jobs/plan/quantities.hpp"
#include "jobs/watch/process_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

namespace mend::jobs {
namespace {

using nlohmann::json;

double seconds_since(std::chrono::microseconds then) {
  return std::max(0.0, Seconds(in_microseconds(Clock::now()) - then).count());
}

/// Returns the call that the process is in or waits in.
std::string where_is(const board::Slot& slot, const board::Whereabouts& now) {
  if (slot.process == board::Slot::none) return "starting";
  if (now.place == Place::none) return now.call == MpiCall::none ? "computes" : fmt::format("in {}", name_of(now.call));
  return std::string(describe(now.place));
}

/// An entry of the board, and other data on its process.
struct Entry {
  const board::Slot* slot;
  bool is_gone;
  const char* obstacle;  ///< why the entry may not be its present state; null if there is none
  std::uint64_t resident_bytes;
  std::string machine;
  bool is_here;  ///< the process has written the entry itself, up to its death
};

std::string name_of_machine(const board::SlotElsewhere& slot) {
  std::string name;
  for (const auto& letter : slot.machine) {
    if (letter == '\0') break;
    name += letter;
  }
  return name;
}

Entry entry_of(const board::Slot& slot) {
  const Condition condition = condition_of(slot.pid);
  return {&slot,
          condition == Condition::gone,
          condition == Condition::stopped ? "stopped" : nullptr,
          resident_bytes(slot.pid),
          launch::machine(),
          true};
}

Entry entry_of(const board::SlotElsewhere& slot, std::uint32_t look) {
  return {&slot,
          slot.is_dead != 0,
          slot.answered == look ? nullptr : "does not answer",
          slot.resident_bytes,
          name_of_machine(slot),
          false};
}

json state_of(const Entry& entry) {
  const board::Slot& slot = *entry.slot;
  const board::Whereabouts now = board::whereabouts(slot);
  json state{{"epoch", slot.epoch.load()},
             {"version", slot.version.load()},
             {"store_bytes", slot.store_bytes.load()},
             {"memory_bytes", entry.resident_bytes}};
  const bool is_present = !entry.is_gone && entry.obstacle == nullptr;
  state["where"] = entry.is_gone ? "died" : is_present ? where_is(slot, now) : entry.obstacle;
  state["pid"] = slot.pid == 0 ? json() : json(slot.pid.load());
  state["machine"] = entry.machine.empty() ? json() : json(entry.machine);
  state["process"] = slot.process == board::Slot::none ? json() : json(slot.process.load());
  state["rank"] = slot.rank == board::Slot::none ? json() : json(slot.rank.load());
  state["since_s"] = is_present && now.place != Place::none ? json(seconds_since(now.since)) : json();
  return state;
}

/// The sort key: ranks in their order, then spares, then processes that have not begun.
auto order(const json& process) {
  constexpr int last = 1 << 30;
  const auto number = [&](const char* key) { return process[key].is_null() ? last : process[key].get<int>(); };
  return std::tuple(number("rank"), number("process"), number("pid"));
}

/// Returns the entries of processes here, and of those elsewhere. If a process was asked before it wrote its own entry,
/// it has both, and its own is used.
std::vector<Entry> entries_on(const board::Board& board) {
  std::vector<Entry> entries;
  std::set<int> here;
  for (const board::Slot* slot : board.slots()) {
    here.insert(slot->process);
    entries.push_back(entry_of(*slot));
  }
  for (const board::SlotElsewhere* slot : board.slots_elsewhere()) {
    if (!here.contains(slot->process)) entries.push_back(entry_of(*slot, board.last_look()));
  }
  return entries;
}

/// Returns the living processes, and the dead ones from which the others have not recovered yet.
json processes_in(const std::vector<Entry>& entries) {
  std::set<int> held;
  std::uint32_t newest_epoch = 0;
  for (const Entry& entry : entries)
    if (!entry.is_gone) newest_epoch = std::max(newest_epoch, entry.slot->epoch.load());
  json processes = json::array();
  for (const bool gone : {false, true}) {
    for (const Entry& entry : entries) {
      const int rank = entry.slot->rank;
      const bool is_over =
          rank == board::Slot::none || held.contains(rank) || (entry.is_here && entry.slot->epoch < newest_epoch);
      if (entry.is_gone != gone || (gone && is_over)) continue;
      held.insert(rank);
      processes.push_back(state_of(entry));
    }
  }
  std::sort(processes.begin(), processes.end(), [](const json& a, const json& b) { return order(a) < order(b); });
  return processes;
}

/// Returns the number of processes elsewhere that were asked and have not answered.
int awaited_on(const board::Board& board) {
  const auto slots = board.slots_elsewhere();
  return static_cast<int>(std::ranges::count_if(slots, [&](const board::SlotElsewhere* slot) {
    return slot->is_dead == 0 && slot->answered != board.last_look();
  }));
}

std::string number_or_dash(const json& value) { return value.is_null() ? "-" : value.dump(); }

std::string place_text(const json& process) {
  const std::string where = process["where"];
  const json& since = process["since_s"];
  return since.is_null() ? where : fmt::format("{} for {}", where, text_of(Seconds(since.get<double>())));
}

/// A mend run of an earlier version does not name the machine.
std::string machine_text(const json& process) {
  const auto machine = process.find("machine");
  return machine == process.end() || machine->is_null() ? "-" : machine->get<std::string>();
}

/// Returns the width of a column for the machines of these processes; 0 if they are on one machine.
std::size_t width_of_machines(const json& processes) {
  std::set<std::string> machines;
  std::size_t width = std::string_view("machine").size();
  for (const json& process : processes) {
    width = std::max(width, machine_text(process).size());
    machines.insert(machine_text(process));
  }
  return machines.size() > 1 ? width : 0;
}

std::string commits_text(const json& state) {
  if (state["version"] == 0) return "nothing is committed yet";
  const std::string version = state["version"].dump();
  const json& since = state["committed_s_ago"];
  std::string text =
      since.is_null() ? fmt::format("continues from version {}; no commit since", version)
                      : fmt::format("last commit: version {}, {} ago", version, text_of(Seconds(since.get<double>())));
  if (state["has_disk"]) {
    const bool given_up = state["disk_given_up"];
    text += state["version_on_disk"] == 0 ? fmt::format("; nothing on disk{}", given_up ? "" : " yet")
                                          : fmt::format("; on disk: version {}", state["version_on_disk"].dump());
    if (given_up) text += ", and no more is written: that has failed";
  }
  return text;
}

}  // namespace

json state_of(const JobFacts& facts, const board::Board& board) {
  const std::vector<Entry> entries = entries_on(board);
  json state{{"job", facts.job},
             {"program", facts.program},
             {"ranks", facts.ranks},
             {"spares", facts.spares},
             {"launched", facts.ranks + facts.spares},
             {"all_here", facts.all_here},
             {"running_s", Seconds(Clock::now() - facts.begun).count()},
             {"look", board.last_look()},
             {"awaited", awaited_on(board)},
             {"processes", processes_in(entries)}};
  std::uint32_t epoch = 0;
  std::uint64_t version = 0;
  std::uint64_t on_disk = 0;
  std::int64_t committed_at = 0;
  DiskUse disk = DiskUse::none;
  for (const Entry& entry : entries) {
    const board::Slot* const slot = entry.slot;
    epoch = std::max(epoch, slot->epoch.load());
    version = std::max(version, slot->version.load());
    on_disk = std::max(on_disk, slot->disk_version.load());
    committed_at = std::max(committed_at, slot->committed_at.load());
    disk = std::max(disk, slot->disk.load());
  }
  state["epoch"] = epoch;
  state["version"] = version;
  state["version_on_disk"] = on_disk;
  state["has_disk"] = disk != DiskUse::none;
  state["disk_given_up"] = disk == DiskUse::given_up;
  state["committed_s_ago"] = committed_at == 0 ? json() : json(seconds_since(std::chrono::microseconds(committed_at)));
  const json& processes = state["processes"];
  const auto is_spare = [](const json& one) { return one["rank"].is_null() && !one["process"].is_null(); };
  const auto spares_left = std::count_if(processes.begin(), processes.end(), is_spare);
  state["spares_left"] = processes.empty() ? json() : json(spares_left);  // nothing is known then
  const auto leave = static_cast<board::Leave>(board.requests().leave.load());
  state["asked_to_leave"] = leave == board::Leave::no ? json() : json(board::describe(leave));
  return state;
}

std::string to_text(const json& state) {
  const json& left = state["spares_left"];
  std::string text =
      fmt::format("job {}: {}; {} ranks, {}{} spares{}; epoch {}; running for {}\n", state["job"].dump(),
                  state["program"].get<std::string>(), state["ranks"].dump(),
                  left.is_null() ? "" : left.dump() + " of ", state["spares"].dump(), left.is_null() ? "" : " left",
                  state["epoch"].dump(), text_of(Seconds(state["running_s"].get<double>())));
  if (!state["processes"].empty()) text += fmt::format("  {}\n", commits_text(state));
  if (!state["asked_to_leave"].is_null())
    text += fmt::format("  asked to leave: {}\n", state["asked_to_leave"].get<std::string>());
  const json& processes = state["processes"];
  if (processes.size() < state["launched"] && state["epoch"] == 0)
    text += fmt::format("  {} of {} processes are shown; {}\n", processes.size(), state["launched"].dump(),
                        state.value("all_here", false) ? "the others have not begun, or do not use mend"
                                                       : "no process on this machine can ask the others");
  if (processes.empty()) return text;
  const std::size_t width = width_of_machines(processes);  // 0: all are on one
  const auto column = [&](const std::string& machine) {
    return width == 0 ? "" : fmt::format("{:<{}}  ", machine, width);
  };
  text += fmt::format("  {:>5} {:>7} {:>8} {:>5} {:>8} {:>9} {:>9}  {}{}\n", "rank", "process", "pid", "epoch",
                      "version", "store", "memory", column("machine"), "where");
  for (const json& process : processes) {
    text += fmt::format("  {:>5} {:>7} {:>8} {:>5} {:>8} {:>9} {:>9}  {}{}\n", number_or_dash(process["rank"]),
                        number_or_dash(process["process"]), number_or_dash(process["pid"]), process["epoch"].dump(),
                        process["version"].dump(), size_text(process["store_bytes"].get<double>()),
                        size_text(process["memory_bytes"].get<double>()), column(machine_text(process)),
                        place_text(process));
  }
  return text;
}

}  // namespace mend::jobs
