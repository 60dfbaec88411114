// A group of members in the simulator, whose callers come to one agreement after another; and a judge of what they
// return with. For tests and benchmarks.

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
  SimulatedTime pause{0};       ///< the longest a caller does something else before its next agreement
  SimulatedTime in_step{0};     ///< if not 0: agreement k begins everywhere at k times this
  SimulatedTime per_member{0};  ///< spent for every member of the group at the start of each agreement
  /// How many of a hundred decisions kill the first to take them, somewhere among the sends that spread them.
  std::uint32_t fatal_decisions = 0;
  bool keep_transcript = false;
  /// Makes the cores, if not make_core.
  std::function<std::unique_ptr<Core>(Member self, std::shared_ptr<const Tree> tree)> make = nullptr;
};

class GroupSimulation {
 public:
  explicit GroupSimulation(const SimulationOptions& options);
  ~GroupSimulation();

  void kill(Member member, SimulatedTime at);
  /// Until nothing is left to happen.
  void run();

  /// What is wrong with what the members returned, if anything: Termination, Agreement, Participation, or members
  /// agreed dead that live. Call after run().
  std::optional<std::string> verdict() const;

  /// Of agreement `k`, over the members that live: from the first that came to it to the last that returned.
  SimulatedTime duration(std::uint32_t k) const;
  /// The greatest, over the members that live, of the times between coming to it and returning.
  SimulatedTime longest_wait(std::uint32_t k) const;
  std::uint64_t messages_sent() const;
  const Core& core(Member member) const { return *cores_[member.value]; }
  bool lives(Member member) const;
  std::size_t deaths() const { return deaths_.size(); }
  /// One line for each event: when, who, what.
  std::string transcript() const;

  // The simulator's side.
  void receive(Member to, Member from, const Message& message);
  void dead(Member to, Member gone);
  void wake(Member member);
  ByteCount size_of(const Message& message) const;

 private:
  struct Caller {
    std::uint32_t next = 0;      // agreement to come to
    std::uint32_t returned = 0;  // from how many
  };
  /// What the members made of one agreement.
  struct Record {
    std::vector<Decision> decisions;     // the different ones
    std::vector<std::uint8_t> returned;  // by member: 1 + which of them, 0 if none
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
  std::vector<std::pair<SimulatedTime, std::string>> told_;  // the transcript's lines, as they came up
};

}  // namespace mend::agreement
