// A set of processes that costs little memory when it has few members.
//
// In a job of a million processes, the important sets (the dead, the suspected) hold few members, and these tend to
// form runs: a lost node takes neighbouring numbers with it. So a set is stored as sorted, disjoint, non-touching runs
// [first, last]. Membership is a binary search; a whole lost node is one run.

#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace mend {

class ProcessSet {
 public:
  /// Consecutive processes first, first+1, ..., last.
  struct Run {
    ProcessId first;
    ProcessId last;
    bool operator==(const Run&) const = default;
  };

  ProcessSet() = default;
  ProcessSet(std::initializer_list<ProcessId> members);

  /// Returns the set of all `processes`, given in any order.
  static ProcessSet of(std::span<const ProcessId> processes);
  /// Returns the set of 0 ... count-1.
  static ProcessSet first(std::uint32_t count);

  /// Adds `process`. Returns true if it was new.
  bool insert(ProcessId process);
  /// Removes `process`. Returns true if it was a member.
  bool erase(ProcessId process);
  void insert(const ProcessSet& other);
  void clear() { runs_.clear(); }

  bool contains(ProcessId process) const { return !empty() && finds(process); }
  bool contains(const ProcessSet& other) const;
  bool intersects(const ProcessSet& other) const;
  bool empty() const { return runs_.empty(); }
  std::size_t size() const;

  /// Returns how many members are smaller than `process`.
  std::size_t count_below(ProcessId process) const;

  /// Returns the runs in ascending order. The set is stored and sent in this form.
  std::span<const Run> runs() const { return runs_; }
  static ProcessSet from_runs(std::span<const Run> runs);
  /// Returns true if `runs` can make a set: each ends after it begins, and they ascend with a gap between them.
  static bool are_runs(std::span<const Run> runs);

  /// Returns true if all members are below `end`.
  bool is_below(std::uint32_t end) const { return runs_.empty() || runs_.back().last.value < end; }

  /// Returns all members in ascending order. Costs size() memory: meant for the few dead, not for the many living
  /// processes.
  std::vector<ProcessId> members() const;

  /// "{0, 4-7}"
  std::string to_string() const;

  bool operator==(const ProcessSet&) const = default;

 private:
  bool finds(ProcessId process) const;

  std::vector<Run> runs_;
};

/// Returns the members of `a` that are not in `b`.
ProcessSet difference(const ProcessSet& a, const ProcessSet& b);

}  // namespace mend
