// Every run of a system whose processes share more than messages.
//
// transport/simulated/explorer.hpp knows processes and channels. What a recovery waits in are communicators, which
// belong to all their members at once, so here the whole system is one object that lists what can happen next. States
// are visited breadth first. A visited state is kept as its fingerprint and the step that led to it first; a run is
// told again by taking its steps anew.

#pragma once

#include "transport/simulated/explorer.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mend::testing {

/// System: copyable, with
///   std::vector<Step> steps() const                 what can happen next
///   bool progresses(Step) const                     whether that is no fault, so that a run may rely on it
///   bool take(Step, std::string* told)              false: it cannot be taken after all
///   transport::Fingerprint print() const
///   std::optional<std::string> broken(bool at_rest) const
///   std::string describe() const
template <class System>
class SystemExplorer {
 public:
  using Step = typename System::Step;

  explicit SystemExplorer(System first, std::uint64_t most_states = 20'000'000)
      : first_(std::move(first)), most_states_(most_states) {}

  transport::Exploration run() {
    transport::Exploration found;
    std::deque<System> open;
    visit(first_, 0, Step{}, open);
    for (std::uint32_t at = 0; !open.empty(); ++at) {
      const System system = std::move(open.front());
      open.pop_front();
      bool at_rest = true;
      for (const Step step : system.steps()) {
        System next = system;
        if (!next.take(step, nullptr)) continue;
        if (system.progresses(step)) at_rest = false;
        ++found.steps;
        successors_.push_back(visit(std::move(next), at, step, open));
      }
      successors_end_.push_back(successors_.size());
      if (at_rest) ++found.at_rest;
      if (auto broken = system.broken(at_rest)) {
        found.violation = *broken;
        found.transcript = transcript_to(at);
        break;
      }
      if (ways_.size() > most_states_) break;
      found.complete = open.empty();
    }
    found.states = ways_.size();
    if (found.complete) look_for_endless_run(found);
    return found;
  }

 private:
  struct Way {
    std::uint32_t parent;
    Step step;
  };

  std::uint32_t visit(System system, std::uint32_t parent, Step step, std::deque<System>& open) {
    const auto [at, fresh] = numbers_.emplace(system.print(), static_cast<std::uint32_t>(ways_.size()));
    if (fresh) {
      ways_.push_back({parent, step});
      open.push_back(std::move(system));
    }
    return at->second;
  }

  void look_for_endless_run(transport::Exploration& found) {
    std::vector<std::uint32_t> ways_in(ways_.size());
    for (const std::uint32_t next : successors_) ++ways_in[next];
    std::vector<std::uint32_t> open{0};
    std::uint64_t taken = 0;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      ++taken;
      for (std::uint64_t i = at == 0 ? 0 : successors_end_[at - 1]; i < successors_end_[at]; ++i) {
        if (--ways_in[successors_[i]] == 0) open.push_back(successors_[i]);
      }
    }
    if (taken == ways_.size()) return;
    found.violation = "Termination: a run goes round in a circle";
    const auto in_circle =
        std::find_if(ways_in.begin() + 1, ways_in.end(), [](std::uint32_t ways) { return ways > 0; });
    found.transcript = transcript_to(static_cast<std::uint32_t>(in_circle - ways_in.begin()));
  }

  std::string transcript_to(std::uint32_t index) {
    std::vector<Step> steps;
    for (; index != 0; index = ways_[index].parent) steps.push_back(ways_[index].step);
    std::string text;
    System system = first_;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) system.take(*step, &text);
    return text + system.describe();
  }

  System first_;
  std::uint64_t most_states_;
  std::unordered_map<transport::Fingerprint, std::uint32_t, transport::FingerprintHash> numbers_;
  std::vector<Way> ways_;
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint64_t> successors_end_;
};

}  // namespace mend::testing
