#include "detector/stall_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mend::detector {
namespace {

/// Those who are in one call.
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

std::string with_time(Place place, const Company& company) {
  return fmt::format("{} since {}", describe(place), in_seconds(company.longest));
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

std::string name_ranks(const std::vector<Rank>& ranks) {
  std::vector<std::string> runs;
  for (auto first = ranks.begin(); first != ranks.end();) {
    auto last = first;
    while (last + 1 != ranks.end() && (last + 1)->value == last->value + 1) ++last;
    const bool is_run = last - first > 1;
    for (auto one = first; !is_run && one <= last; ++one) runs.push_back(fmt::format("{}", one->value));
    if (is_run) runs.push_back(fmt::format("{}-{}", first->value, last->value));
    first = last + 1;
  }
  return fmt::format("{} {}", verb(ranks, "rank", "ranks"), fmt::join(runs, ", "));
}

std::string describe_stall(const Answers& answers) {
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
  const bool all_are_together = companies.size() == 1 && missing.empty() && silent.empty();
  if (companies.empty() || all_are_together) return "";

  std::vector<std::string> parts;
  for (auto& [place, company] : companies) {
    std::ranges::sort(company.ranks);
    const char* const is =
        companies.size() == 1 ? verb(company.ranks, "waits", "wait") : verb(company.ranks, "is", "are");
    parts.push_back(fmt::format("{} {} {}", name_ranks(company.ranks), is, with_time(place, company)));
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
  const bool recovers = companies.contains(Place::recovery) || companies.contains(Place::end);
  if (recovers && !missing.empty()) {
    sentence += ": ProcessFailure must leave the body, or be followed by repair()";
  } else if (companies.size() > 1 && !recovers) {
    sentence += ": every rank must come to these in the same order";
  }
  return sentence;
}

}  // namespace mend::detector
