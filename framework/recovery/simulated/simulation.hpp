// A job in the simulator, from the death of some of its processes until all ranks have their data again. For tests and
// benchmarks.
//
// The cores are those of a real job: RecoveryCore decides what each process does, agreement cores (ERA) decide
// together, detectors find the dead and report them, the store's plan determines which rank sends which data to which.
// They are driven as by the engine (framework/recovery/engine.cpp), and their messages travel through the simulated
// network.
//
// The steps of the MPI library inside its calls are a model of Open MPI 5.0 (library_calls.hpp): a revocation goes
// along a binomial graph; shrinking is four of the library's agreements; splitting is an allgather and three
// allreduces; a newcomer is connected by broadcasts and allreduces, and greets all members. Computing takes no
// simulated time, except copying and hashing a process's data.

#pragma once

#include "agreement/ballot.hpp"
#include "agreement/core.hpp"
#include "detector/detector.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "framework/recovery/simulated/library_calls.hpp"
#include "store/redundancy.hpp"
#include "transport/simulated/simulator.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mend::recovery {

using transport::SimulatedTime;

/// The way in which deaths are found.
enum class Finding : std::uint8_t {
  told,     ///< the kernel or the runtime tells the process that observes the dead one
  silence,  ///< no process is told: a node is lost or a process hangs, and the time-out finds it
};

struct SimulationOptions {
  int ranks = 4;
  int spares = 1;
  Policy policy;
  transport::NetworkModel network;  ///< it reports deaths to no process, whatever its settings
  detector::Timing timing{std::chrono::milliseconds(100), std::chrono::milliseconds(1000)};
  Finding finding = Finding::told;
  SimulatedTime told_after{std::chrono::microseconds(500)};  ///< delay of the report of a death; with Finding::told
  SimulatedTime until_call{0};  ///< longest time that a rank computes before its next call of MPI
  SimulatedTime start_process{std::chrono::milliseconds(150)};  ///< from the request until the new process calls
  ByteCount bytes_per_rank = 1U << 20U;                         ///< committed by each rank
  double memory_speed = 4;                                      ///< bytes per nanosecond, copied and hashed
  Redundancy redundancy;
  int failures = 1;                            ///< ranks whose processes die at once, spread evenly over the job
  std::optional<SimulatedTime> another_after;  ///< after this time, one more rank dies
  std::uint64_t seed = 1;
};

/// The state of a process in a recovery. The states from `settle` to `admit` may come more than once.
enum class Phase : std::uint8_t {
  detect,     ///< until it learns of a death or a revocation
  interrupt,  ///< until it has left the body
  ballot,     ///< of the ranks
  decide,     ///< with the spares: recover, or end
  settle,
  shrink,
  count,    ///< agreement on the base: has every process a candidate?
  split,    ///< the communicators of application and store
  confirm,  ///< agreement on the candidate: has every process its communicators?
  start,    ///< start of a process, and the agreement that it has come
  meet,
  connect,
  merge,
  admit,
  restore,  ///< all ranks exchange their inventories
  data,     ///< ranks get the data that they lack, all copy theirs into their members, and vote that it has worked
  over,
};
inline constexpr std::size_t phases = static_cast<std::size_t>(Phase::over) + 1;
const char* name_of(Phase phase);

/// The cost of a phase.
struct PhaseCost {
  SimulatedTime time{0};     ///< of the survivor that gets its data last
  std::uint32_t rounds = 0;  ///< messages, each sent after the one before had come, on the way to its end
  double messages = 0;       ///< that a process sends, on average
  std::uint64_t most_messages = 0;
  double bytes = 0;
  std::uint64_t most_bytes = 0;
};

class RecoverySimulation {
 public:
  /// Throws UsageError for options that no job can have.
  explicit RecoverySimulation(const SimulationOptions& options);
  ~RecoverySimulation();

  /// Runs until all ranks are in the body again with their data, or the job has ended.
  void run();

  /// Returns the error at the end, if any: a process that never continues, different rosters, a living process that is
  /// declared dead, a rank without a process.
  std::optional<std::string> verdict() const;
  /// Returns why the job has ended, if it has.
  std::optional<End> end() const { return end_; }
  /// Returns true if processes have ended because too few of the others answered, as on the smaller side of a cut
  /// network.
  bool was_cut_off() const { return was_cut_off_; }
  /// Returns the ranks whose data is lost; empty if there are none.
  const std::vector<Rank>& lost() const { return lost_; }
  PhaseCost cost(Phase phase) const;
  /// Returns the time from the deaths until the last rank had its data.
  SimulatedTime total() const;
  /// Returns the time from the deaths until a process knew of one.
  SimulatedTime first_known() const { return *first_known_ - died_at_; }
  std::uint64_t messages_sent() const { return simulator_->messages_sent(); }
  const Roster& roster() const;
  const std::vector<ProcessId>& victims() const { return victims_; }

  // The simulator's side.
  struct Note {
    enum class Kind : std::uint8_t { revoke, call_spares, step, guest, restore };
    Kind kind = Kind::step;
    CommId comm = 0;
    std::uint32_t number = 0;  // of the step, the epoch of a call, the part of the restore
    std::uint32_t round = 0;
    ByteCount bytes = 0;
    std::optional<ProcessId> because_of{};  // of a call
  };
  struct Agreeing {
    CommId comm = 0;
    bool of_library = false;
    agreement::Message message;
  };
  struct Message {
    std::variant<Note, Agreeing, detector::Message> what;
    std::uint32_t depth = 0;
  };
  void receive(ProcessId to, ProcessId from, const Message& message);
  void dead(ProcessId, ProcessId) {}
  void wake(ProcessId process);
  ByteCount size_of(const Message& message) const;

 private:
  struct Process;
  struct Group;
  using Result = std::optional<Event>;
  using GroupKey = std::pair<CommId, bool>;

  // simulation.cpp
  Process& at(ProcessId process) { return *processes_[process.value]; }
  const Process& at(ProcessId process) const { return *processes_[process.value]; }
  SimulatedTime now(ProcessId process) const { return simulator_->now(process); }
  bool lives(ProcessId process) const;
  void launch();
  void strike();
  void send(ProcessId from, ProcessId to, Message message, Phase phase);
  void send(ProcessId from, ProcessId to, const Note& note) { send(from, to, {note, 0}, phase_of(from)); }
  Phase phase_of(ProcessId process) const;
  void enter_phase(ProcessId process, Phase phase);
  bool all_is_over() const;
  void drive(ProcessId process, Event event);

  // detection
  void detect(ProcessId process);
  void take(ProcessId process, detector::Actions& actions);
  void arm(ProcessId process);
  void enter_detection(ProcessId process, CommId members);
  void learn(ProcessId process, const ProcessSet& gone);
  void wake_spare(ProcessId process);
  void leave_body(ProcessId process);
  void leave_now(ProcessId process);

  // agreements
  Group& group(ProcessId process, GroupKey key);
  void contribute(ProcessId process, GroupKey key, std::uint32_t value);
  void tell_group(ProcessId process, GroupKey key, ProcessId died);
  void perform(ProcessId process, GroupKey key, agreement::Actions& actions);
  void library_decided(ProcessId process, const agreement::Decision& decision);
  void decided(ProcessId process, GroupKey key, const agreement::Decision& decision);
  void deliver(ProcessId process, ProcessId from, const Agreeing& agreeing);
  bool answers(ProcessId process) const;
  void answer(ProcessId process);
  void forget_groups(ProcessId process);

  // actions of the core: actions.cpp
  void perform(ProcessId process, const Revoke& action);
  void perform(ProcessId process, const CallSpares& action);
  void perform(ProcessId process, const CastBallot& action);
  void perform(ProcessId process, const DecideJob& action);
  void perform(ProcessId process, const NewCandidate& action);
  void perform(ProcessId process, const Settle& action);
  void perform(ProcessId process, const Shrink& action);
  void perform(ProcessId process, const Agree& action);
  void perform(ProcessId process, const Split& action);
  void perform(ProcessId process, const AdoptCandidate& action);
  void perform(ProcessId process, const Found& action);
  void perform(ProcessId process, const StartProcess& action);
  void perform(ProcessId process, const Meet& action);
  void perform(ProcessId process, const Connect& action);
  void perform(ProcessId process, const Merge& action);
  void perform(ProcessId process, const Admit& action);
  void perform(ProcessId process, const EnterBody& action);
  void perform(ProcessId process, const Park& action);
  void perform(ProcessId process, const SaveWhatIsLeft& action);
  void perform(ProcessId process, const End& action);
  void perform(ProcessId process, const Die& action);

  // calls of the library: actions.cpp
  void call(ProcessId process, Call call, CommId comm);
  void begin_step(ProcessId process);
  void go_on(ProcessId process);
  void take_note(ProcessId process, ProcessId from, const Note& note);
  void call_ends(ProcessId process, bool succeeded);
  void revoke(ProcessId process, CommId comm);
  void hear_revocation(ProcessId process, CommId comm);
  void fail_waits_on_dead(ProcessId process);

  // a newcomer: newcomers.cpp
  void start_newcomer(ProcessId host);
  void call_host(ProcessId guest);
  void let_in(ProcessId host);
  void give_up_guest(ProcessId host);
  void guest_hears(ProcessId guest, ProcessId from, const Note& note);

  // the restore: restore.cpp
  struct RestoreParts;
  void begin_restore(ProcessId process);
  void restore_goes_on(ProcessId process);
  void carry_out_later(ProcessId process);
  void restore_ends(ProcessId process, agreement::BallotResult result);
  const RestoreParts& restore_parts(CommId application, ProcessId asking);

  SimulationOptions options_;
  Comms comms_;
  std::vector<std::unique_ptr<Process>> processes_;
  ProcessId hand_;  // a process of the simulator that kills the others
  std::unique_ptr<transport::Simulator<Message, RecoverySimulation>> simulator_;
  std::map<CommId, std::unique_ptr<RestoreParts>> restores_;
  Roster with_data_;  // the roster whose ranks have committed or restored last
  std::vector<ProcessId> victims_;
  bool struck_ = false;
  SimulatedTime died_at_{0};
  SimulatedTime last_death_{0};
  std::optional<SimulatedTime> first_known_;
  std::optional<End> end_;
  bool was_cut_off_ = false;
  std::vector<Rank> lost_;
};

}  // namespace mend::recovery
