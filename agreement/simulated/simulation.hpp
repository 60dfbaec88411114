// A group of members in the simulator. Their callers come to one agreement after another, and the results are checked.
// For tests and benchmarks.

#pragma once

#include "agreement/core.hpp"
#include "transport/simulated/simulator.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mend::agreement {

using transport::SimulatedTime;

struct SimulationOptions {
  std::uint32_t members = 4;
  Protocol protocol = Protocol::era;
  Layout layout = Layout::binary();
  Rebalancing rebalancing = Rebalancing::when_degenerated;
  transport::NetworkModel network;
  std::uint64_t seed = 1;
  std::uint32_t agreements = 1;
  std::uint32_t at_once = 1;    ///< agreements that a caller has under way; beyond 1 they are nonblocking
  SimulatedTime pause{0};       ///< the longest time that a caller spends before its next agreement
  SimulatedTime in_step{0};     ///< if not 0: agreement k begins at all members at k times this
  SimulatedTime per_member{0};  ///< time spent for every member of the group at the start of each agreement
  /// The number of decisions in a hundred that kill the first member to decide, at some moment among the sends that
  /// spread the decision.
  std::uint32_t fatal_decisions = 0;
  bool keep_transcript = false;
  /// Makes the cores instead of make_core, if set.
  std::function<std::unique_ptr<Core>(Member self, std::shared_ptr<const Tree> tree)> make = nullptr;
};

class GroupSimulation {
 public:
  explicit GroupSimulation(const SimulationOptions& options);
  ~GroupSimulation();

  void kill(Member member, SimulatedTime at);
  /// Runs until no event is left.
  void run();

  /// Returns an error in the results, if there is one: a violation of Termination, Agreement or Participation, or
  /// living members that were agreed dead. Call after run().
  std::optional<std::string> verdict() const;

  /// Returns the time of agreement `k`, over the living members: from the first that came to it to the last that
  /// returned.
  SimulatedTime duration(std::uint32_t k) const;
  /// Returns the longest time, over the living members, between coming to agreement `k` and returning from it.
  SimulatedTime longest_wait(std::uint32_t k) const;
  std::uint64_t messages_sent() const;
  const Core& core(Member member) const { return *cores_[member.value]; }
  bool lives(Member member) const;
  std::size_t deaths() const { return deaths_.size(); }
  /// Returns one line for each event: time, member, event.
  std::string transcript() const;

  // The calls of the simulator.
  void receive(Member to, Member from, const Message& message);
  void dead(Member to, Member gone);
  void wake(Member member);
  ByteCount size_of(const Message& message) const;

 private:
  struct Caller {
    std::uint32_t next = 0;      // the agreement to come to next
    std::uint32_t returned = 0;  // how many agreements the caller has returned from
  };
  /// The results of the members in one agreement.
  struct Record {
    std::vector<Decision> decisions;     // the distinct ones
    std::vector<std::uint8_t> returned;  // by member: 1 + index of its decision, 0 if none
    std::vector<SimulatedTime> came;
    std::vector<SimulatedTime> went;
    std::string complaint;
  };

  Contribution contribution_of(Member member, std::uint32_t k) const;
  void come(Member member);
  void plan_next(Member member);
  void perform(Member member);
  void strike(Member member, AgreementId id, SimulatedTime before);
  void record(Member member, const Actions::Decided& decided);
  void tell(SimulatedTime at, Member member, const std::string& what);
  void tell(Member member, const std::string& what) { tell(simulator_.now(member), member, what); }

  SimulationOptions options_;
  transport::Simulator<Message, GroupSimulation> simulator_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<Caller> callers_;
  std::vector<Record> records_;
  std::map<Member, SimulatedTime> deaths_;
  Actions actions_;
  std::vector<std::pair<SimulatedTime, std::string>> told_;  // the transcript's lines, in the order of the calls
};

}  // namespace mend::agreement
