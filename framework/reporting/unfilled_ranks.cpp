#include "framework/reporting/unfilled_ranks.hpp"

#include "base/name_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace mend {
namespace {

constexpr const char* more_spares = "start with more spares (mend run --spares N, or --mend-spares N)";

constexpr const char* about_silence =
    "it did not respond for longer than --mend-timeout and was killed: find out what blocks it there (SIGSTOP, or "
    "reading from a terminal, for instance), or give it more time (--mend-timeout MS)";

std::vector<Rank> ranks_of(const std::vector<LostRank>& lost) {
  std::vector<Rank> ranks;
  for (const LostRank& one : lost) ranks.push_back(one.rank);
  return ranks;
}

/// Returns "rank 1 (process 1)", "ranks 0-3 (processes 0-2, 7)".
std::string name_lost(const std::vector<LostRank>& lost) {
  ProcessSet processes;
  for (const LostRank& one : lost) processes.insert(one.dead);
  return fmt::format("{} ({})", name_ranks(ranks_of(lost)), name_processes(processes));
}

/// Returns "; cause: ranks 0-2 (SIGKILL), rank 3 (exit(3))"; empty if no cause is known.
std::string name_causes(const std::vector<LostRank>& lost, const CauseOf& cause_of) {
  std::map<std::string, std::vector<Rank>> ranks;
  for (const LostRank& one : lost) {
    if (const DeathCause cause = cause_of(one.dead); cause.is_known()) ranks[cause.to_string()].push_back(one.rank);
  }
  std::vector<std::string> causes;
  for (const auto& [cause, who] : ranks) causes.push_back(fmt::format("{} ({})", name_ranks(who), cause));
  return causes.empty() ? "" : fmt::format("; cause: {}", fmt::join(causes, ", "));
}

std::string in_a_row(const RepeatedDeath& death, std::string_view verb, Between between = Between::no_commit) {
  return fmt::format("rank {} {} {} times in a row with {} commit in between ({})", death.rank.value, verb, death.times,
                     between == Between::no_commit ? "no" : "at most one",
                     death.cause.is_known() ? death.cause.to_string() : "of an unknown cause");
}

/// Returns the history that completes the sentence before: a rank that has died repeatedly, or the causes.
std::string name_history(const UnfilledRanks& unfilled, const CauseOf& cause_of) {
  return unfilled.row ? "; " + in_a_row(*unfilled.row, "has died", unfilled.between)
                      : name_causes(unfilled.lost, cause_of);
}

/// Returns " (2 spares were lost before: processes 4, 5)"; empty if none was lost.
std::string name_lost_spares(const ProcessSet& lost) {
  if (lost.empty()) return "";
  return fmt::format(" ({} {} lost before: {})", counted(lost.size(), "spare"), lost.size() == 1 ? "was" : "were",
                     name_processes(lost));
}

/// Returns "rank 1 (process 1) died and no spare is left for rank 1".
std::string name_loss(const UnfilledRanks& unfilled, const Policy& policy) {
  const auto& vacant = unfilled.vacant;
  const std::string for_whom = vacant.empty() || vacant == ranks_of(unfilled.lost) ? "" : " for " + name_ranks(vacant);
  const bool never_had_spares = !policy.spare && unfilled.spares == 0;
  return fmt::format("{} died and {}{}{}", name_lost(unfilled.lost),
                     never_had_spares ? "nobody took over" : "no spare is left", for_whom,
                     name_lost_spares(unfilled.lost_spares));
}

/// Returns the cause of all ranks' deaths, if it is one and the same fault of the program. Needs at least two ranks,
/// because with one there is no death to compare with.
std::optional<DeathCause> common_fault(const UnfilledRanks& unfilled, const CauseOf& cause_of) {
  if (!unfilled.of_all_ranks || unfilled.lost.size() < 2) return std::nullopt;
  const DeathCause first = cause_of(unfilled.lost.front().dead);
  const bool alike =
      std::ranges::all_of(unfilled.lost, [&](const LostRank& one) { return cause_of(one.dead) == first; });
  return alike && first.is_fault_of_program() ? std::optional(first) : std::nullopt;
}

}  // namespace

std::string describe_unfilled_ranks(const UnfilledRanks& unfilled, const Policy& policy, const CauseOf& cause_of) {
  const auto& [lost, vacant, tries, fault, row, spares, lost_spares, of_all_ranks, between] = unfilled;
  if (fault && !tries) {
    return fmt::format(
        "{}, and no spare is left: the program probably fails there by itself, and further spares would be lost as "
        "well; "
        "if that is wrong, {}",
        in_a_row(*fault, "died", between), more_spares);
  }
  if (const auto common = common_fault(unfilled, cause_of); common && !tries) {
    return fmt::format(
        "{}: all ranks died of {}, so it is probably the program that fails, and further spares would be lost as well; "
        "if "
        "that is wrong, {}",
        name_loss(unfilled, policy), common->to_string(), more_spares);
  }
  const std::string history = name_history(unfilled, cause_of);
  if (!policy.takes_over_ranks()) {
    return fmt::format("{} died and no rank is left to go on: allow spares to take over (--mend-on-failure spare,{}){}",
                       name_lost(lost), policy.blank ? "blank" : "shrink", history);
  }
  const std::string loss = name_loss(unfilled, policy);
  const bool stood_still = row && row->cause.kind == DeathCause::Kind::silence;
  if (tries) {
    const std::string in_vain =
        fmt::format("{} in a row {}", counted(static_cast<std::size_t>(*tries), "recovery", "recoveries"),
                    between == Between::no_commit ? "without a commit" : "with at most one commit in between");
    if (stood_still) {
      return fmt::format("{}, and no more processes are started after {}{}: {}", loss, in_vain, history, about_silence);
    }
    return fmt::format(
        "{}, and no more processes are started after {}: perhaps it is the "
        "program that fails; if not, allow for more (--mend-tries N){}",
        loss, in_vain, history);
  }
  if (policy.spawn) {
    return fmt::format(
        "{}, and no process could be started instead: {}, or allow to go on with fewer ranks "
        "(--mend-on-failure spare,spawn,shrink){}",
        loss, more_spares, history);
  }
  if (stood_still) return fmt::format("{}{}: {}", loss, history, about_silence);
  if (row) {
    return fmt::format("{}{}: find out what ends it there (a lack of memory, for instance), or {}", loss, history,
                       more_spares);
  }
  return fmt::format(
      "{}: {}, or allow to start processes (--mend-on-failure spare,spawn) or to go on with fewer ranks "
      "(--mend-on-failure spare,shrink){}",
      loss, more_spares, history);
}

std::string describe_fault(const RepeatedDeath& fault) {
  constexpr const char* end =
      "the program itself fails there, so no further processes are started for it; if that is wrong, --mend-tries N "
      "allows more";
  if (fault.times == 0) return fmt::format("a rank died again and again with no commit in between: {}", end);
  return fmt::format("{}: {}", in_a_row(fault, "died"), end);
}

}  // namespace mend
