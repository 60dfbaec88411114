#include "base/name_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mend {
namespace {

/// `numbers`: ascending. Two consecutive numbers are not written as a run.
template <class Number>
std::string runs_of(const std::vector<Number>& numbers) {
  std::vector<std::string> runs;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    while (last + 1 != numbers.end() && (last + 1)->value == last->value + 1) ++last;
    const bool is_run = last - first > 1;
    for (auto one = first; !is_run && one <= last; ++one) runs.push_back(fmt::format("{}", one->value));
    if (is_run) runs.push_back(fmt::format("{}-{}", first->value, last->value));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

}  // namespace

std::string name_ranks(const std::vector<Rank>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", runs_of(ranks));
}

std::string name_processes(const ProcessSet& processes) {
  return fmt::format("{} {}", processes.size() == 1 ? "process" : "processes", runs_of(processes.members()));
}

std::string counted(std::size_t count, std::string_view one) { return counted(count, one, fmt::format("{}s", one)); }

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace mend
