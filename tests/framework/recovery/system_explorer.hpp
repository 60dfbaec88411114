// Explores every run of a system whose processes share more than messages.
//
// transport/simulated/explorer.hpp models processes and channels. A recovery waits in communicators, which belong to
// all their members at once. So here the whole system is one object that lists the possible next steps. States are
// visited breadth first. For each state, its fingerprint and the step that first led to it are kept; a run is shown by
// taking its steps again.

#pragma once

#include "transport/simulated/explorer.hpp"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace mend::testing {

/// System: copyable, with
///   std::vector<Step> steps() const                 the possible next steps
///   bool progresses(Step) const                     true if the step is not a fault, so that a run may rely on it
///   bool take(Step, std::string* told)              false: the step is not possible after all
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
        graph_.add_successor(visit(std::move(next), at, step, open));
      }
      graph_.end_successors();
      if (at_rest) ++found.at_rest;
      if (auto broken = system.broken(at_rest)) {
        found.violation = *broken;
        found.transcript = transcript_to(at);
        break;
      }
      if (graph_.size() > most_states_) break;
      found.complete = open.empty();
    }
    found.states = graph_.size();
    if (!found.complete) return found;
    if (const auto endless = graph_.find_endless_run()) {
      found.violation = transport::endless_run;
      found.transcript = transcript_to(*endless);
    }
    return found;
  }

 private:
  std::uint32_t visit(System system, std::uint32_t parent, Step step, std::deque<System>& open) {
    const auto [at, fresh] = numbers_.emplace(system.print(), static_cast<std::uint32_t>(graph_.size()));
    if (fresh) {
      graph_.add(parent, step);
      open.push_back(std::move(system));
    }
    return at->second;
  }

  std::string transcript_to(std::uint32_t index) {
    std::string text;
    System system = first_;
    for (const Step& step : graph_.run_to(index)) system.take(step, &text);
    return text + system.describe();
  }

  System first_;
  std::uint64_t most_states_;
  std::unordered_map<transport::Fingerprint, std::uint32_t, transport::FingerprintHash> numbers_;
  transport::StateGraph<Step> graph_;
};

}  // namespace mend::testing
