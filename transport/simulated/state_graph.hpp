// The states that an exploration has visited, by number, with the first step that led to each and the states that
// follow it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mend::transport {

template <class Step>
class StateGraph {
 public:
  /// Adds the next state, which was reached by `step` from state `parent`. Both are ignored for state 0.
  void add(std::uint32_t parent, Step step) { reached_.push_back({parent, step}); }
  std::size_t size() const { return reached_.size(); }

  /// Notes that a step leads from the current state to `next`. The current state is 0 at first.
  void add_successor(std::uint32_t next) { successors_.push_back(next); }
  /// Ends the successors of the current state. The next state becomes the current one.
  void end_successors() { successors_end_.push_back(successors_.size()); }

  /// Returns the steps of the shortest run from state 0 to `state`.
  std::vector<Step> run_to(std::uint32_t state) const {
    std::vector<Step> steps;
    for (; state != 0; state = reached_[state].parent) steps.push_back(reached_[state].step);
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  /// Returns the first state on a cycle or after one; nothing if every run ends. The successors of all states must have
  /// been noted. Removes states that no step leads to any more; the remaining states are on a cycle or after one.
  std::optional<std::uint32_t> find_endless_run() const {
    std::vector<std::uint32_t> ways_in(size());
    for (const std::uint32_t next : successors_) ++ways_in[next];
    std::vector<std::uint32_t> open{0};
    std::size_t taken = 0;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      ++taken;
      for (std::uint64_t i = at == 0 ? 0 : successors_end_[at - 1]; i < successors_end_[at]; ++i) {
        if (--ways_in[successors_[i]] == 0) open.push_back(successors_[i]);
      }
    }
    if (taken == size()) return std::nullopt;
    const auto left = std::find_if(ways_in.begin() + 1, ways_in.end(), [](std::uint32_t ways) { return ways > 0; });
    return static_cast<std::uint32_t>(left - ways_in.begin());
  }

 private:
  struct Reached {
    std::uint32_t parent;
    Step step;
  };

  std::vector<Reached> reached_;
  std::vector<std::uint32_t> successors_;      // of state 0, then of state 1, ...
  std::vector<std::uint64_t> successors_end_;  // for each state, the end of its successors in successors_
};

}  // namespace mend::transport
