#include "framework/reporting/known_deaths.hpp"

#include "framework/reporting/loss_advice.hpp"

#include <algorithm>

namespace mend {

CauseOf KnownDeaths::cause_of() const {
  return [this](ProcessId process) { return witness_.cause_of(process); };
}

bool KnownDeaths::are_in(const Roster& roster) const {
  return witness_.has_died([&](ProcessId process) { return roster.rank_of(process).has_value(); });
}

ProcessSet KnownDeaths::known() const {
  ProcessSet dead;
  for (const WitnessedDeath& death : witness_.deaths()) dead.insert(death.process);
  return dead;
}

std::optional<WallClock::time_point> KnownDeaths::first_of(const ProcessSet& dead, const Roster& before) const {
  std::optional<WallClock::time_point> first;
  for (const WitnessedDeath& death : witness_.deaths()) {
    if (!dead.contains(death.process) || !before.rank_of(death.process)) continue;
    if (!first || death.when < *first) first = death.when;
  }
  return first;
}

std::vector<LostRank> KnownDeaths::losses(const Roster& roster, const ProcessSet& dead) const {
  std::vector<LostRank> lost;
  for (int i = 0; i < roster.size(); ++i) {
    const ProcessId holder = roster.seat(Rank{i}).holder.process;
    if (dead.contains(holder)) lost.push_back({number_of(roster, Rank{i}), holder});
  }
  return lost;
}

/// Returns the lost ranks that no living process has taken over. In `now`, some may have been given up.
std::vector<Rank> KnownDeaths::unfilled_ranks(const Roster& before, const Roster& now, const ProcessSet& dead) const {
  std::vector<Rank> vacant;
  for (int i = 0; i < before.size(); ++i) {
    const Seat& seat = before.seat(Rank{i});
    if (!dead.contains(seat.holder.process)) continue;
    const auto here = now.now(seat.origin);
    if (!here || dead.contains(now.seat(*here).holder.process)) vacant.push_back(number_of(before, Rank{i}));
  }
  return vacant;
}

/// Returns the dead processes that never held a rank. `dead`: all deaths that this process knows.
ProcessSet KnownDeaths::lost_spares(std::span<const RecoveryReport> all, const Roster& before,
                                    const ProcessSet& dead) const {
  ProcessSet lost = dead;
  for (const RecoveryReport& report : all) {
    for (const ProcessId process : report.dead) lost.insert(process);
  }
  for (const RecoveryReport& report : all) {
    for (const Replacement& one : report.replacements) lost.erase(one.dead);
    for (const LostRank& one : report.given_up) lost.erase(one.dead);
  }
  for (const Seat& seat : before.seats) lost.erase(seat.holder.process);
  return lost;
}

std::optional<RepeatedDeath> KnownDeaths::repeated(std::span<const RecoveryReport> before, const Roster& roster) const {
  return find_repeated_death(before, losses(roster, known()), cause_of());
}

bool KnownDeaths::are_in_vain(std::span<const RecoveryReport> before, const Roster& roster) const {
  const auto found = repeated(before, roster);
  return found && found->times > tries_;
}

void KnownDeaths::judge(bool in_vain, std::span<const RecoveryReport> before, const Roster& roster) {
  to_blame_ = in_vain ? repeated(before, roster) : std::nullopt;
}

std::string KnownDeaths::describe(std::span<const RecoveryReport> all_recoveries,
                                  std::span<const RecoveryReport> recoveries, const Roster& before, const Roster& now,
                                  const ProcessSet& dead, std::optional<int> tries, Between between) const {
  witness_.wait_for_causes(dead.members());
  ProcessSet all = known();
  all.insert(dead);
  UnfilledRanks found{losses(before, all), unfilled_ranks(before, now, all), tries, {}, {}, spares_, {}};
  found.between = between;
  found.lost_spares = lost_spares(all_recoveries, before, all);
  found.of_all_ranks = found.lost.size() == static_cast<std::size_t>(before.size());
  found.row = find_deaths_in_a_row(recoveries, found.lost, cause_of());
  // The runtime does not report the causes of death of processes that were started later.
  const Unknown unknown = policy_.spawn ? Unknown::is_no_fault : Unknown::counts;
  found.fault = find_repeated_death(recoveries, found.lost, cause_of(), unknown);
  return describe_unfilled_ranks(found, policy_, cause_of());
}

std::string KnownDeaths::advise(std::span<const RecoveryReport> recoveries, int ranks, bool has_disk) const {
  std::vector<ProcessId> dead;
  for (const RecoveryReport& report : recoveries) dead.insert(dead.end(), report.dead.begin(), report.dead.end());
  witness_.wait_for_causes(dead);
  std::vector<RankDeath> lost;
  const auto deaths = witness_.deaths();
  const auto add = [&](Rank rank, ProcessId process) {
    const auto found = std::ranges::find(deaths, process, &WitnessedDeath::process);
    if (found != deaths.end()) lost.push_back({rank, witness_.cause_of(process), found->when});
  };
  for (const RecoveryReport& report : recoveries) {
    for (const Replacement& one : report.replacements) add(one.rank, one.dead);
    for (const LostRank& one : report.given_up) add(one.rank, one.dead);
  }
  return advise_on_loss(lost, ranks, has_disk);
}

}  // namespace mend
