#include "framework/reporting/announcer.hpp"

#include "base/name_runs.hpp"
#include "base/telemetry/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace mend {
namespace {

/// Returns "; 1 spare is left"; empty for a job that had no spares.
std::string count_spares(std::optional<std::size_t> left) {
  if (!left) return "";
  if (*left == 0) return "; no spare is left";
  return fmt::format("; {} {} left", counted(*left, "spare"), *left == 1 ? "is" : "are");
}

/// Returns the processes in the report that died without holding a rank.
std::vector<ProcessId> spares_among(const RecoveryReport& report) {
  std::vector<ProcessId> spares = report.dead;
  for (const Replacement& one : report.replacements) std::erase(spares, one.dead);
  for (const LostRank& one : report.given_up) std::erase(spares, one.dead);
  return spares;
}

std::vector<LostRank> losses_of(const RecoveryReport& report) {
  std::vector<LostRank> losses;
  for (const Replacement& one : report.replacements) losses.push_back({one.rank, one.dead});
  return losses;
}

std::string describe_request(const Request& request) {
  if (!request.by_any) return "the ranks lost each other though nobody died";
  return fmt::format(
      "nobody died, and {} asked for a recovery (by repair(), or by a process failure that left the body though none "
      "had been met)",
      request.ranks.empty() ? "a rank" : name_ranks(request.ranks));
}

}  // namespace

std::string in_brackets(const DeathCause& cause) {
  return cause.is_known() ? fmt::format(" ({})", cause.to_string()) : "";
}

std::string describe_recovery(const RecoveryReport& report, std::optional<std::size_t> spares_left,
                              const CauseOf& cause_of, const Request& request) {
  std::vector<std::string> parts;
  for (const auto& [rank, dead, newcomer] : report.replacements) {
    parts.push_back(fmt::format("rank {}: process {} died{}, process {} took over", rank.value, dead.value,
                                in_brackets(cause_of(dead)), newcomer.value));
  }
  for (const auto& [rank, dead] : report.given_up) {
    parts.push_back(fmt::format("rank {}: process {} died{}, the rank was given up", rank.value, dead.value,
                                in_brackets(cause_of(dead))));
  }
  for (const ProcessId spare : spares_among(report))
    parts.push_back(fmt::format("spare process {} died{}", spare.value, in_brackets(cause_of(spare))));
  if (parts.empty()) parts.push_back(describe_request(request));
  parts.push_back(fmt::format("the ranks are complete after {:.1f} ms", report.until_rebuilt().count()));
  return fmt::format("{}{}", fmt::join(parts, "; "), count_spares(spares_left));
}

std::string describe_losses_at_start(std::span<const ProcessId> dead, RanksAtStart ranks,
                                     std::optional<std::size_t> spares_left, const CauseOf& cause_of) {
  std::vector<std::string> parts;
  for (const ProcessId process : dead) {
    parts.push_back(
        fmt::format("process {} died{} before the job had begun", process.value, in_brackets(cause_of(process))));
  }
  if (ranks.there < ranks.wanted)
    parts.push_back(fmt::format("the job begins with {} instead of {}",
                                counted(static_cast<std::size_t>(ranks.there), "rank"), ranks.wanted));
  return fmt::format("{}{}", fmt::join(parts, "; "), count_spares(spares_left));
}

std::string describe_repeated(const std::optional<RepeatedDeath>& repeated) {
  if (!repeated) return "";
  return fmt::format(
      "; rank {} has died {} times in a row with no commit in between ({}): it is probably the program that fails "
      "there",
      repeated->rank.value, repeated->times, repeated->cause.to_string());
}

Announcer::Announcer(ProcessId self, RuntimeWitness& witness, bool had_spares)
    : self_(self), witness_(witness), had_spares_(had_spares) {
  witness_.on_news([this] { hear(); });
}

Announcer::~Announcer() { witness_.on_news({}); }

void Announcer::enter(const Roster& roster, const std::vector<ProcessId>& members) {
  const std::lock_guard lock(mutex_);
  roster_ = roster;
  members_ = members;
  note_lost_spares();
  say_what_is_known();
}

void Announcer::tell_of_start(const ProcessSet& dead, RanksAtStart ranks) {
  if (dead.empty()) return;
  const std::vector<ProcessId> who = dead.members();
  for (const ProcessId process : who) witness_.report(process);  // it may have died before this process listened
  if (is_speaker()) witness_.wait_for_causes(who);
  const std::lock_guard lock(mutex_);
  told_.insert(who.begin(), who.end());
  if (!is_speaker()) return;
  const CauseOf cause_of = [this](ProcessId process) { return witness_.cause_of(process); };
  log::notice(describe_losses_at_start(who, ranks, spares_left(), cause_of));
}

void Announcer::tell(const RecoveryReport& report, std::vector<RecoveryReport> before, const Request& request) {
  const std::lock_guard lock(mutex_);
  say_all();
  RecoveryReport news = report;
  std::erase_if(news.dead, [&](ProcessId process) { return told_.contains(process); });
  told_.insert(report.dead.begin(), report.dead.end());
  waiting_.push_back({report.dead, [this, news, before = std::move(before), request] {
                        const CauseOf cause_of = [this](ProcessId process) { return witness_.cause_of(process); };
                        return describe_recovery(news, spares_left(), cause_of, request) +
                               describe_repeated(find_repeated_death(before, losses_of(news), cause_of));
                      }});
}

void Announcer::finish() {
  std::vector<ProcessId> dead;
  {
    const std::lock_guard lock(mutex_);
    if (is_speaker()) {
      for (const Waiting& line : waiting_) dead.insert(dead.end(), line.dead.begin(), line.dead.end());
    }
  }
  witness_.wait_for_causes(dead);
  const std::lock_guard lock(mutex_);
  say_all();
  over_ = true;
}

void Announcer::hear() {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  note_lost_spares();
  say_what_is_known();
}

/// Announces spares that have died. The death of a rank is announced by its recovery.
void Announcer::note_lost_spares() {
  for (const Placed& spare : roster_.spares) {
    const ProcessId process = spare.process;
    if (told_.contains(process) || !witness_.has_died([&](ProcessId dead) { return dead == process; })) continue;
    told_.insert(process);
    waiting_.push_back({{process}, [this, process] {
                          return fmt::format("spare process {} died{}{}", process.value,
                                             in_brackets(witness_.cause_of(process)), count_spares(spares_left()));
                        }});
  }
}

/// Returns true if this process is the first one alive.
bool Announcer::is_speaker() const {
  const auto lives = [&](ProcessId process) {
    return !witness_.has_died([&](ProcessId dead) { return dead == process; });
  };
  const auto first = std::ranges::find_if(members_, lives);
  return first != members_.end() && *first == self_;
}

std::optional<std::size_t> Announcer::spares_left() const {
  if (!had_spares_) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::count_if(roster_.spares, [&](const Placed& spare) {
    return !witness_.has_died([&](ProcessId dead) { return dead == spare.process; });
  }));
}

void Announcer::say_what_is_known() {
  const auto is_known = [&](const Waiting& line) {
    return std::ranges::all_of(line.dead, [&](ProcessId process) { return witness_.cause_of(process).is_known(); });
  };
  const auto unknown = std::ranges::find_if_not(waiting_, is_known);  // the lines are written in order
  const bool speaks = is_speaker();
  for (auto line = waiting_.begin(); speaks && line != unknown; ++line) log::notice(line->say());
  waiting_.erase(waiting_.begin(), unknown);
}

void Announcer::say_all() {
  const bool speaks = is_speaker();
  for (const Waiting& line : std::exchange(waiting_, {})) {
    if (speaks) log::notice(line.say());
  }
}

}  // namespace mend
