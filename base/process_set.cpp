#include "base/process_set.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mend {
namespace {

/// Returns the first run that does not lie completely below `process`.
auto run_at_or_after(auto& runs, ProcessId process) {
  return std::lower_bound(runs.begin(), runs.end(), process,
                          [](const ProcessSet::Run& run, ProcessId wanted) { return run.last < wanted; });
}

std::size_t length(const ProcessSet::Run& run) { return std::size_t{run.last.value} - run.first.value + 1; }

}  // namespace

ProcessSet::ProcessSet(std::initializer_list<ProcessId> members) : ProcessSet(of({members.begin(), members.size()})) {}

ProcessSet ProcessSet::of(std::span<const ProcessId> processes) {
  ProcessSet set;
  for (ProcessId process : processes) set.insert(process);
  return set;
}

ProcessSet ProcessSet::first(std::uint32_t count) {
  ProcessSet set;
  if (count > 0) set.runs_.push_back({ProcessId{0}, ProcessId{count - 1}});
  return set;
}

bool ProcessSet::insert(ProcessId process) {
  const auto at = run_at_or_after(runs_, process);
  if (at != runs_.end() && at->first <= process) return false;
  const bool touches_next = at != runs_.end() && at->first.value == process.value + 1;
  const bool touches_previous = at != runs_.begin() && std::prev(at)->last.value + 1 == process.value;
  if (touches_previous && touches_next) {
    std::prev(at)->last = at->last;
    runs_.erase(at);
  } else if (touches_previous) {
    std::prev(at)->last = process;
  } else if (touches_next) {
    at->first = process;
  } else {
    runs_.insert(at, {process, process});
  }
  return true;
}

bool ProcessSet::erase(ProcessId process) {
  const auto at = run_at_or_after(runs_, process);
  if (at == runs_.end() || process < at->first) return false;
  if (at->first == at->last) {
    runs_.erase(at);
  } else if (at->first == process) {
    ++at->first.value;
  } else if (at->last == process) {
    --at->last.value;
  } else {
    const Run upper{{process.value + 1}, at->last};
    at->last.value = process.value - 1;
    runs_.insert(std::next(at), upper);
  }
  return true;
}

void ProcessSet::insert(const ProcessSet& other) {
  std::vector<Run> merged;
  merged.reserve(runs_.size() + other.runs_.size());
  std::merge(runs_.begin(), runs_.end(), other.runs_.begin(), other.runs_.end(), std::back_inserter(merged),
             [](const Run& a, const Run& b) { return a.first < b.first; });
  runs_.clear();
  for (const Run& run : merged) {
    const bool joins = !runs_.empty() && run.first.value <= std::uint64_t{runs_.back().last.value} + 1;
    if (joins) {
      runs_.back().last = std::max(runs_.back().last, run.last);
    } else {
      runs_.push_back(run);
    }
  }
}

bool ProcessSet::finds(ProcessId process) const {
  const auto at = run_at_or_after(runs_, process);
  return at != runs_.end() && at->first <= process;
}

bool ProcessSet::contains(const ProcessSet& other) const {
  return std::all_of(other.runs_.begin(), other.runs_.end(), [&](const Run& run) {
    const auto at = run_at_or_after(runs_, run.first);
    return at != runs_.end() && at->first <= run.first && run.last <= at->last;
  });
}

bool ProcessSet::intersects(const ProcessSet& other) const {
  return std::any_of(other.runs_.begin(), other.runs_.end(), [&](const Run& run) {
    const auto at = run_at_or_after(runs_, run.first);
    return at != runs_.end() && at->first <= run.last;
  });
}

std::size_t ProcessSet::size() const {
  std::size_t total = 0;
  for (const Run& run : runs_) total += length(run);
  return total;
}

std::size_t ProcessSet::count_below(ProcessId process) const {
  std::size_t total = 0;
  for (const Run& run : runs_) {
    if (run.first >= process) break;
    total += std::min<std::size_t>(length(run), process.value - run.first.value);
  }
  return total;
}

ProcessSet ProcessSet::from_runs(std::span<const Run> runs) {
  ProcessSet set;
  set.runs_.assign(runs.begin(), runs.end());
  return set;
}

bool ProcessSet::are_runs(std::span<const Run> runs) {
  std::uint64_t least = 0;  // the smallest value with which the next run may begin
  return std::ranges::all_of(runs, [&](const Run& run) {
    const bool in_order = run.first.value >= least && run.first <= run.last;
    least = std::uint64_t{run.last.value} + 2;
    return in_order;
  });
}

std::vector<ProcessId> ProcessSet::members() const {
  std::vector<ProcessId> all;
  all.reserve(size());
  for (const Run& run : runs_) {
    for (std::uint64_t value = run.first.value; value <= run.last.value; ++value) {
      all.push_back({static_cast<std::uint32_t>(value)});
    }
  }
  return all;
}

std::string ProcessSet::to_string() const {
  std::string text;
  for (const Run& run : runs_) {
    if (!text.empty()) text += ", ";
    text += run.first == run.last ? fmt::format("{}", run.first.value)
                                  : fmt::format("{}-{}", run.first.value, run.last.value);
  }
  return "{" + text + "}";
}

ProcessSet difference(const ProcessSet& a, const ProcessSet& b) {
  std::vector<ProcessSet::Run> rest;
  for (const ProcessSet::Run& run : a.runs()) {
    std::uint64_t next = run.first.value;  // the first value not handled yet
    const auto keep_up_to = [&](std::uint64_t end) {
      if (next < end) rest.push_back({{static_cast<std::uint32_t>(next)}, {static_cast<std::uint32_t>(end - 1)}});
    };
    const auto runs = b.runs();
    for (auto hole = run_at_or_after(runs, run.first); hole != runs.end() && hole->first <= run.last; ++hole) {
      keep_up_to(hole->first.value);
      next = std::uint64_t{hole->last.value} + 1;
    }
    keep_up_to(std::uint64_t{run.last.value} + 1);
  }
  return ProcessSet::from_runs(rest);
}

}  // namespace mend
