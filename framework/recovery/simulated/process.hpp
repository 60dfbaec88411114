// One process of a simulated recovery. A part of simulation.hpp.

#pragma once

#include "agreement/simulated/fixed_outcome.hpp"
#include "framework/recovery/simulated/simulation.hpp"
#include "store/restore/restore_plan.hpp"

#include <deque>
#include <set>
#include <tuple>

namespace mend::recovery {

using agreement::ballot_contribution;
using agreement::FixedOutcome;

inline constexpr CommId no_comm = ~CommId{0};

struct RecoverySimulation::Group {
  std::unique_ptr<agreement::Core> core;
  agreement::AgreementId next;
};

struct RecoverySimulation::Process {
  enum class Wait : std::uint8_t {
    nothing,
    body,
    leaving,  ///< it computes, and leaves the body at its next call
    parked,
    agreement,  ///< of mend's protocols
    call,       ///< of the library, or the restore
    guest,      ///< as the host: a process is being started
    joining,    ///< a newcomer
  };

  std::optional<RecoveryCore> core;  // a newcomer gets it when it is admitted
  std::optional<detector::Detector> detector;
  std::uint32_t standing = 0;  // how many memberships the detector has had
  SimulatedTime armed = SimulatedTime::max();
  std::vector<std::pair<SimulatedTime, ProcessId>> told;  // deaths that the kernel will report to it

  CommId base = no_comm;
  CommId candidate = no_comm;
  CommId application_candidate = no_comm;
  CommId application = no_comm;
  CommId meeting = no_comm;
  CommId joined = no_comm;

  std::map<GroupKey, Group> groups;
  CommId first_live = 0;  // the first communicator whose agreements are kept
  std::map<GroupKey, std::vector<std::pair<ProcessId, Agreeing>>> early;
  std::deque<std::pair<ProcessId, Agreeing>> unanswered;  // mend answers these in a call of its own
  std::deque<ProcessId> untold;                           // deaths that mend handles in a call of its own

  Wait wait = Wait::nothing;
  GroupKey agrees_in{no_comm, false};
  agreement::Proposal proposal = agreement::Proposal::recover;
  std::optional<agreement::BallotResult> closed;  // the ballots of the epoch, with this result
  Call call = Call::settle;
  CommId on = no_comm;
  std::vector<LibraryStep> steps;
  std::size_t step = 0;
  std::uint32_t number = 0;  // of the step, among those taken on the communicator
  std::uint32_t round = 0;
  bool restoring = false;
  ProcessSet shrunk_without;  // the dead members of the communicator that is shrunk
  std::map<CommId, std::uint32_t> next_number;
  std::map<std::pair<CommId, Call>, std::uint32_t> calls;           // the number of calls of each kind
  std::map<std::pair<CommId, std::uint32_t>, std::uint64_t> heard;  // by step: rounds
  std::map<std::pair<CommId, std::uint32_t>, std::size_t> brought;  // by part of a restore: messages
  std::set<CommId> revoked;
  SimulatedTime leaves_at = SimulatedTime::max();
  /// A message of a restore that is being sent, or the copying of this rank's own data. Neither delays heartbeats, and
  /// neither delays the other.
  struct Later {
    SimulatedTime at;
    std::optional<std::pair<ProcessId, Note>> transfer;  // none: the data is copied
  };
  std::vector<Later> later;
  SimulatedTime sends_until{0};
  std::vector<CallSpares> spare_calls;  // that it has received

  // as a host
  std::optional<ProcessId> guest;
  std::deque<ProcessId> waiting;  // newcomers that were started and have no rank yet
  // as a newcomer
  ProcessId host;
  bool has_called = false;
  std::optional<Position> position;
  Course course;
  std::size_t greeted = 0;

  // accounts
  bool is_survivor = false;  // it held a rank before
  Phase phase = Phase::over;
  SimulatedTime since{0};
  std::uint32_t depth = 0;
  std::uint32_t depth_at = 0;
  std::array<SimulatedTime, phases> times{};
  std::array<std::uint32_t, phases> rounds{};
  std::array<std::uint64_t, phases> messages{};
  std::array<std::uint64_t, phases> bytes{};
  std::optional<SimulatedTime> done;
};

/// The messages between a host and a newcomer, by round.
enum GuestRound : std::uint32_t { known_peers, introduction, invitation, greeting, admission };

/// The work of the ranks in a restore. In a job each rank computes it for itself; here it is computed once for all.
struct RecoverySimulation::RestoreParts {
  static constexpr std::size_t count = 2;  // first each rank gets what it lacks; then all data is redundant again
  ByteCount inventory = 0;                 // of the rank with the longest inventory
  RestorePlan plan;
  struct Transfer {
    Rank to;
    ByteCount bytes;
  };
  std::vector<std::array<std::vector<Transfer>, count>> sends;  // by rank
  std::vector<std::array<std::size_t, count>> expects;          // messages, by rank
};

}  // namespace mend::recovery
