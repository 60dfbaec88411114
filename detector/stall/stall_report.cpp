#include "detector/stall/stall_report.hpp"

#include "base/name_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace mend::detector {
namespace {

constexpr const char* way_to_the_recovery = ": ProcessFailure must leave the body, or be followed by repair()";

/// The ranks that are in one call.
struct Company {
  std::vector<Rank> ranks;
  std::chrono::milliseconds longest{};
};

const char* verb(const std::vector<Rank>& ranks, const char* of_one, const char* of_several) {
  return ranks.size() == 1 ? of_one : of_several;
}

std::string in_seconds(std::chrono::milliseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0);
}

/// Describes ranks that have met a failure and have not come to the recovery.
std::string describe_interrupted(Company company, const ProcessSet& dead) {
  std::ranges::sort(company.ranks);
  const std::string what = dead.empty()
                               ? "of a failure"
                               : fmt::format("that {} {} dead", name_processes(dead), dead.size() == 1 ? "is" : "are");
  const char* const has = verb(company.ranks, "has", "have");
  return fmt::format("{} {} known for {} {}, and {} not come to the recovery{}", name_ranks(company.ranks), has,
                     in_seconds(company.longest), what, has, way_to_the_recovery);
}

}  // namespace

bool waits_as_rank(const Whereabouts& where) {
  return where.rank && where.place != Place::none && where.place != Place::spare;
}

std::optional<LongestWait> find_longest_wait(const Answers& answers) {
  std::optional<LongestWait> found;
  for (const auto& [process, where] : answers) {
    if (where && waits_as_rank(*where) && (!found || where->waited > found->where.waited)) found = {process, *where};
  }
  return found;
}

std::string describe_stall(const Answers& answers, const ProcessSet& dead) {
  std::map<Place, Company> companies;
  std::vector<Rank> missing;
  std::vector<std::uint32_t> silent;
  for (const auto& [process, where] : answers) {
    if (!where) {
      silent.push_back(process.value);
    } else if (waits_as_rank(*where)) {
      Company& company = companies[where->place];
      company.ranks.push_back(*where->rank);
      company.longest = std::max(company.longest, where->waited);
    } else if (where->rank) {
      missing.push_back(*where->rank);
    }
  }
  const bool recovers = companies.contains(Place::recovery) || companies.contains(Place::end);
  if (const auto interrupted = companies.extract(Place::interrupted)) {
    if (!recovers) return describe_interrupted(interrupted.mapped(), dead);
    std::ranges::copy(interrupted.mapped().ranks, std::back_inserter(missing));
  }
  const bool all_are_together = companies.size() == 1 && missing.empty() && silent.empty();
  if (companies.empty() || all_are_together) return "";

  std::vector<std::string> parts;
  for (auto& [place, company] : companies) {
    std::ranges::sort(company.ranks);
    parts.push_back(fmt::format("{} {} {} {} for {}", name_ranks(company.ranks), verb(company.ranks, "has", "have"),
                                companies.size() == 1 ? "waited" : "been", describe(place),
                                in_seconds(company.longest)));
  }
  std::string sentence = fmt::format("{}", fmt::join(parts, ", "));
  if (!missing.empty()) {
    std::ranges::sort(missing);
    sentence += fmt::format("; {} {} not come", name_ranks(missing), verb(missing, "has", "have"));
  }
  if (!silent.empty()) {
    const bool one = silent.size() == 1;
    sentence += fmt::format("; {} {} {} not answer", one ? "process" : "processes", fmt::join(silent, ", "),
                            one ? "does" : "do");
  }
  if (recovers && !missing.empty()) {
    sentence += way_to_the_recovery;
  } else if (companies.size() > 1 && !recovers) {
    sentence += ": every rank must come to these in the same order";
  }
  return sentence;
}

std::optional<std::chrono::milliseconds> find_quiet(const Answers& answers) {
  std::optional<std::chrono::milliseconds> shortest;
  for (const auto& [process, where] : answers) {
    if (!where) return std::nullopt;
    if (!where->rank) continue;
    if (where->place != Place::none) return std::nullopt;
    shortest = std::min(shortest.value_or(where->waited), where->waited);
  }
  return shortest;
}

bool are_all_in_mpi(const Answers& answers) {
  return std::ranges::all_of(answers, [](const auto& answer) {
    const auto& where = answer.second;
    return where && (!where->rank || where->call != MpiCall::none);
  });
}

std::string describe_quiet(const Answers& answers, std::chrono::milliseconds quiet) {
  std::map<MpiCall, std::vector<Rank>> ranks;
  for (const auto& [process, where] : answers) {
    if (where && where->rank) ranks[where->call].push_back(*where->rank);
  }
  std::vector<std::string> parts;
  for (auto& [call, who] : ranks) {
    std::ranges::sort(who);
    const bool computes = call == MpiCall::none;
    parts.push_back(computes ? fmt::format("{} {}", name_ranks(who), verb(who, "computes", "compute"))
                             : fmt::format("{} {} in {}", name_ranks(who), verb(who, "is", "are"), name_of(call)));
  }
  std::ranges::rotate(parts, parts.begin() + (ranks.contains(MpiCall::none) ? 1 : 0));
  return fmt::format("mend has seen no progress in any rank for {}: {}", in_seconds(quiet), fmt::join(parts, ", "));
}

}  // namespace mend::detector
