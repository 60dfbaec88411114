#include "jobs/control/job_state.hpp"

#include "jobs/plan/quantities.hpp"
#include "jobs/watch/process_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <set>
#include <string_view>
#include <tuple>

namespace mend::jobs {
namespace {

using nlohmann::json;

double seconds_since(std::chrono::microseconds then) {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
  return std::max(0.0, Seconds(now - then).count());
}

/// The resident memory of a process; 0 if it is gone.
std::uint64_t resident_bytes(pid_t process) {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process)) >> mapped >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// The call that the process is in or waits in.
std::string where_is(const board::Slot& slot, Condition condition, const board::Whereabouts& now) {
  if (condition == Condition::gone) return "died";
  if (condition == Condition::stopped) return "stopped";
  if (slot.process == board::Slot::none) return "starting";
  if (now.place == Place::none) return now.call == MpiCall::none ? "computes" : fmt::format("in {}", name_of(now.call));
  return std::string(describe(now.place));
}

json state_of(const board::Slot& slot, Condition condition) {
  const board::Whereabouts now = board::whereabouts(slot);
  json state{{"pid", slot.pid.load()},
             {"where", where_is(slot, condition, now)},
             {"epoch", slot.epoch.load()},
             {"version", slot.version.load()},
             {"store_bytes", slot.store_bytes.load()},
             {"memory_bytes", resident_bytes(slot.pid)}};
  state["process"] = slot.process == board::Slot::none ? json() : json(slot.process.load());
  state["rank"] = slot.rank == board::Slot::none ? json() : json(slot.rank.load());
  const bool waits = condition == Condition::alive && now.place != Place::none;
  state["since_s"] = waits ? json(seconds_since(now.since)) : json();
  return state;
}

/// The sort key: ranks in their order, then spares, then processes that have not begun.
auto order(const json& process) {
  constexpr int last = 1 << 30;
  const auto number = [&](const char* key) { return process[key].is_null() ? last : process[key].get<int>(); };
  return std::tuple(number("rank"), number("process"), process["pid"].get<int>());
}

/// The living processes, and the dead ones whose rank no process has taken over yet.
json processes_of(const board::Board& board) {
  std::set<int> held;
  json processes = json::array();
  for (const bool gone : {false, true}) {
    for (const board::Slot* slot : board.slots()) {
      const Condition condition = condition_of(slot->pid);
      const int rank = slot->rank;
      if ((condition == Condition::gone) != gone) continue;
      if (gone && (rank == board::Slot::none || held.contains(rank))) continue;
      held.insert(rank);
      processes.push_back(state_of(*slot, condition));
    }
  }
  std::sort(processes.begin(), processes.end(), [](const json& a, const json& b) { return order(a) < order(b); });
  return processes;
}

std::string number_or_dash(const json& value) { return value.is_null() ? "-" : value.dump(); }

std::string place_text(const json& process) {
  const std::string where = process["where"];
  const json& since = process["since_s"];
  return since.is_null() ? where : fmt::format("{} for {}", where, text_of(Seconds(since.get<double>())));
}

std::string commits_text(const json& state) {
  if (state["version"] == 0) return "nothing is committed yet";
  std::string text = fmt::format("last commit: version {}, {} ago", state["version"].dump(),
                                 text_of(Seconds(state["committed_s_ago"].get<double>())));
  if (state["has_disk"]) {
    text += state["version_on_disk"] == 0 ? "; nothing on disk yet"
                                          : fmt::format("; on disk: version {}", state["version_on_disk"].dump());
  }
  return text;
}

}  // namespace

json state_of(const JobFacts& facts, const board::Board& board) {
  json state{{"job", facts.job},
             {"program", facts.program},
             {"ranks", facts.ranks},
             {"spares", facts.spares},
             {"launched", facts.ranks + facts.spares},
             {"running_s", Seconds(Clock::now() - facts.begun).count()},
             {"processes", processes_of(board)}};
  std::uint32_t epoch = 0;
  std::uint64_t version = 0;
  std::uint64_t on_disk = 0;
  std::int64_t committed_at = 0;
  bool has_disk = false;
  for (const board::Slot* slot : board.slots()) {
    epoch = std::max(epoch, slot->epoch.load());
    version = std::max(version, slot->version.load());
    on_disk = std::max(on_disk, slot->disk_version.load());
    committed_at = std::max(committed_at, slot->committed_at.load());
    has_disk = has_disk || slot->has_disk != 0;
  }
  state["epoch"] = epoch;
  state["version"] = version;
  state["version_on_disk"] = on_disk;
  state["has_disk"] = has_disk;
  state["committed_s_ago"] = committed_at == 0 ? json() : json(seconds_since(std::chrono::microseconds(committed_at)));
  const json& processes = state["processes"];
  const auto is_spare = [](const json& one) { return one["rank"].is_null() && !one["process"].is_null(); };
  const auto spares_left = std::count_if(processes.begin(), processes.end(), is_spare);
  state["spares_left"] = spares_left;
  const auto leave = static_cast<board::Leave>(board.requests().leave.load());
  state["asked_to_leave"] = leave == board::Leave::no ? json() : json(board::describe(leave));
  return state;
}

std::string to_text(const json& state) {
  std::string text =
      fmt::format("job {}: {}; {} ranks, {} of {} spares left; epoch {}; running for {}\n", state["job"].dump(),
                  state["program"].get<std::string>(), state["ranks"].dump(), state["spares_left"].dump(),
                  state["spares"].dump(), state["epoch"].dump(), text_of(Seconds(state["running_s"].get<double>())));
  text += fmt::format("  {}\n", commits_text(state));
  if (!state["asked_to_leave"].is_null())
    text += fmt::format("  asked to leave: {}\n", state["asked_to_leave"].get<std::string>());
  const json& processes = state["processes"];
  if (processes.size() < state["launched"] && state["epoch"] == 0)
    text += fmt::format("  {} of {} processes are on this machine; the others are not shown\n", processes.size(),
                        state["launched"].dump());
  if (!processes.empty())
    text += fmt::format("  {:>5} {:>7} {:>8} {:>5} {:>8} {:>9} {:>9}  {}\n", "rank", "process", "pid", "epoch",
                        "version", "store", "memory", "where");
  for (const json& process : processes) {
    text += fmt::format("  {:>5} {:>7} {:>8} {:>5} {:>8} {:>9} {:>9}  {}\n", number_or_dash(process["rank"]),
                        number_or_dash(process["process"]), process["pid"].dump(), process["epoch"].dump(),
                        process["version"].dump(), size_text(process["store_bytes"].get<double>()),
                        size_text(process["memory_bytes"].get<double>()), place_text(process));
  }
  return text;
}

}  // namespace mend::jobs
