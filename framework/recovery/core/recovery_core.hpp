// The recovery protocol of one process: what it does when processes die, decided without MPI, clocks or sockets.
//
// The picture
// -----------
// Every process runs this core above a driver. The driver turns results of MPI, the agreements and the body into
// events. The core answers each event with actions, in order. The process waits in the last action of an answer, whose
// result is the next event.
//
//   enter the body --left--> ballot --ended--> job decision --decided--> settle, end
//   park           --called--------------------^      |
//     ^                                               v recover
//     |                  +------> settle, shrink base, agree on base: who lives?
//     |                  |                            | plan: a pure function of roster and living
//     |                  |        split candidate, agree on candidate: has everyone got its communicators?
//     |     a process died or failed                  |
//     |                  |                            v
//     |                  +--------- no <------- all done? -- yes --> candidate becomes the base
//     |                  |                                            |  ranks vacant: start a process, meet, connect,
//     +------------------|----------------------- every rank held <---+  merge, admit; then a round again
//                        +-----------------------------------------------'
//
// Invariants
// ----------
//   I1  Every decision is based on the result of an agreement among all processes that take part in it, so all decide
//       the same. What one process alone has seen (a failed split, no process could be started) is only a contribution
//       to the next agreement.
//   I2  The base is never revoked, and is given up only for a candidate that all have agreed on. So all processes can
//       meet there after any failure.
//   I3  A process that stops waiting for the others because of a failure revokes the communicators in which they wait.
//   I4  A process that has returned from an agreement must answer for it later. So before all processes wait in a call
//       of the library, they settle; and a death met inside an agreement interrupts the processes that have gone on.
//   I5  An error of this process alone is contributed to a later agreement, or ends this process. It never counts as
//       something that the others know too.
//
// Failure cases
// -------------
//   - a rank dies: its neighbours' calls fail, they leave the body and revoke, so all ranks come to the ballot. The
//     first rank calls the spares, which have also been told of the death;
//   - all ranks die: the spares learn of it and decide alone, to recover;
//   - a process dies during a round: the agreement that ends the round says so, and all take another round;
//   - a process dies after some have finished the last round: those that still wait in it revoke the new communicators
//     and call the spares back from the next epoch, so that all come back and answer. If the round is repeated instead,
//     the next epoch is without the dead process, and spares that have parked there ignore the call;
//   - a newcomer or its host dies: until the last agreement on it, it is not in the job, and all take another round;
//   - the host cannot start a process, because it lacks something, or because what it starts dies or does not come in
//     time: another process becomes the host, on another machine if there is one, up to most_hosts in a recovery;
//   - one process cannot get a communicator, although no process died: when all have agreed on that, this process ends,
//     and the others take another round. If no process can, the job ends;
//   - a rank dies again and again by a fault of the program: a process that knows this contributes it to the job
//     decision, so no spare and no new process takes that rank;
//   - no process is left for a rank: what is left is saved if there is a disk, and the job ends with a sentence.
//
// States, events and actions
// --------------------------
//   state        waits in               event        then
//   playing      EnterBody              BodyLeft     Revoke unless finished; CastBallot           -> balloting
//   parked       Park                   Called       DecideJob                                    -> deciding
//   balloting    CastBallot             BallotEnded  CallSpares; DecideJob                        -> deciding
//   deciding     DecideJob              Decided      recover: a round; else Settle                -> settling / closing
//   closing      Settle                 Settled      End                                          -> ended
//   settling     NewCandidate, Settle   Settled      Shrink                                       -> shrinking
//   shrinking    Shrink                 Shrunk       Agree on the base                            -> counting
//   counting     Agree                  Agreed       not all: a round; else Split, or Agree       -> splitting
//   splitting    Split                  SplitEnded   Revoke unless done; Agree on the candidate   -> confirming
//   confirming   Agree                  Agreed       a round; or AdoptCandidate and
//                                                    EnterBody, Park, SaveWhatIsLeft, Recruit, End
//   founding     Found                  Founded      as after AdoptCandidate (the first epoch only)
//   finding      StartProcess           NewcomerCalled, NewcomerLost    Agree on the base         -> announcing
//   announcing   Agree                  Agreed       Settle; nobody: a round without starting, or
//                                                    with another host                            -> gathering
//   gathering    Settle, Meet           MeetingEnded Agree on the base                            -> gathered
//   connecting   Connect                MeetingEnded Agree on the base                            -> connected
//   merging      Merge                  MeetingEnded Agree on the base                            -> merged
//   admitting    Admit                  Admitted     a round                                      -> settling
//   saving       SaveWhatIsLeft         BodyLeft     as from playing
//   in any: ProcessDied, FailureNoticed: Revoke what others may wait in, CallSpares. LocalError: see I5.

#pragma once

#include "agreement/agreement.hpp"
#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "base/rules.hpp"
#include "framework/recovery/job_decision.hpp"
#include "spares/failure_policy.hpp"
#include "spares/roster.hpp"
#include "spares/spare_selection.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace mend::recovery {

/// How the making of an epoch's communicators ended for one process. The result for all is the bitwise and: done if all
/// are done, broken if all are broken, interrupted if none is broken, and 0 if some are.
enum class Making : std::uint32_t { done = 0b011, interrupted = 0b010, broken = 0b100 };

// --- events -----------------------------------------------------------------------------------------------------

/// The process has entered the job: it begins the first epoch, or takes part in the recovery in which it joins.
struct Begin {};
/// The body was left, or saving has ended, with `proposal`. `code` is used with Proposal::abandon.
struct BodyLeft {
  agreement::Proposal proposal;
  ExitCode code = ExitCode::ok;
  bool progressed = false;       ///< this process has committed something in this epoch
  bool committed_twice = false;  ///< it has committed more than once
};
/// The parked process was called, or a rank has died.
struct Called {};
/// All ranks of the epoch know the result of the ballot.
struct BallotEnded {
  agreement::BallotResult result;
  ProcessSet known_dead;  ///< known to this process from any source
};
struct Decided {
  JobDecision decision;
};
struct Settled {};
struct Shrunk {
  bool succeeded;
  std::vector<ProcessId> members;  ///< of the candidate, by rank; if it succeeded
};
struct Agreed {
  agreement::Outcome outcome;
};
struct SplitEnded {
  Making how;
};
struct Founded {};
struct NewcomerCalled {
  ProcessId newcomer;
};
/// No process could be started, or no process has connected.
struct NewcomerLost {
  bool others_may_try = false;  ///< the cause is this process or its machine
};
/// Meet, Connect or Merge has ended.
struct MeetingEnded {
  bool succeeded;
};
struct Admitted {
  Placed newcomer;
};
/// A process has died while this process waits.
struct ProcessDied {
  ProcessId process;
};
/// An MPI call of the application has met a failure, or a failure was reported.
struct FailureNoticed {};
/// The action in which this process waits has ended with an error other than a process failure.
struct LocalError {};

using Event =
    std::variant<Begin, BodyLeft, Called, BallotEnded, Decided, Settled, Shrunk, Agreed, SplitEnded, Founded,
                 NewcomerCalled, NewcomerLost, MeetingEnded, Admitted, ProcessDied, FailureNoticed, LocalError>;

// --- actions ----------------------------------------------------------------------------------------------------

enum class Among : std::uint8_t { base, candidate };
enum class What : std::uint8_t {
  application,  ///< this epoch's communicators of the application, and all derived from them
  candidate,    ///< the candidate and the communicators made of it
  meeting,      ///< the communicator on which all processes meet a newcomer
};

struct Revoke {
  What what;
};
/// Wakes the parked processes that wait in `epoch`. With `because_of`, only if this process, which has died, is a
/// member of the job in that epoch.
struct CallSpares {
  Epoch epoch;
  std::optional<ProcessId> because_of{};
};
struct CastBallot {
  agreement::Proposal proposal;
};
/// The driver adds whether replacements for the dead would die as well.
struct DecideJob {
  Intent intent;
  ExitCode code = ExitCode::ok;
  bool progressed = false;
  bool committed_twice = false;
};
/// Forgets the last candidate, and numbers the groups of the next.
struct NewCandidate {};
struct Settle {};
/// Makes the candidate from the living members of the base.
struct Shrink {};
struct Agree {
  Among among;
  std::uint32_t contribution;
};
/// Makes the application's communicators from the candidate. `rank`: of this process in them, if any.
struct Split {
  std::optional<Rank> rank;
};
/// Makes the candidate the base, with the roster and the members of the core.
struct AdoptCandidate {
  bool complete;  ///< every rank has a process
};
/// Sets up the job's own agreements over the first base.
struct Found {};
/// The host waits until a process that it has started has connected.
struct StartProcess {};
/// Makes a communicator of the base's members that can be revoked. Succeeds if it has all members.
struct Meet {};
/// All make an intercommunicator with the newcomer. The host connects to it.
struct Connect {
  bool hosting;
};
/// All greet the newcomer and merge with it.
struct Merge {
  bool hosting;
};
/// The newcomer is a member: all set up the agreements again, with it.
struct Admit {
  bool hosting;
};
struct EnterBody {
  Rank rank;
  bool newcomer;  ///< the process has no data
};
struct Park {};
struct SaveWhatIsLeft {};

/// Why a job ends.
enum class Ending : std::uint8_t {
  finished,
  abandoned,      ///< a rank has ended the job
  no_shrink,      ///< the library could not make a candidate, and deaths do not explain it
  no_split,       ///< no process could make its communicators
  program_fails,  ///< recoveries fail although no process dies
  nobody_left,    ///< ranks are vacant, and --mend-on-failure allows nothing more
  rank_fails,     ///< ranks are vacant, because the program fails there repeatedly
};
struct End {
  ExitCode code;
  Ending why;
};
/// Ends this process only; the others recover.
struct Die {};

using Action =
    std::variant<Revoke, CallSpares, CastBallot, DecideJob, NewCandidate, Settle, Shrink, Agree, Split, AdoptCandidate,
                 Found, StartProcess, Meet, Connect, Merge, Admit, EnterBody, Park, SaveWhatIsLeft, End, Die>;
using Actions = std::vector<Action>;

std::string to_string(const Event& event);
std::string to_string(const Action& action);

/// Returns the host, which starts newcomers: the first member on the best of `places`; if there is none, the first
/// member on the machine of a vacant rank; if there is none, the first member on the machine with the fewest processes.
/// Members that are `unable` are left out, and so are their machines if there are others. Pure.
ProcessId host_of(const Roster& roster, const std::vector<ProcessId>& members, std::span<const NodeId> places,
                  const ProcessSet& unable = {});

/// The number of processes that try to start newcomers in one recovery, one after the other. If they all fail, the
/// cause is probably the program.
inline constexpr std::size_t most_hosts = 3;
/// If this many newcomers of a host die in the recovery in which they were started, the host counts as unable.
inline constexpr std::size_t most_lost_newcomers = 3;

// --- the core ---------------------------------------------------------------------------------------------------

/// The rules of the protocol, so that tests can omit one and show that it is needed.
enum class Rule : std::uint8_t {
  revoke_when_leaving,  ///< a process that leaves the body because of a failure revokes the application's communicators
  revoke_when_waiting,  ///< ... and a process that meets a rank's death in an agreement
  call_spares,          ///< the first rank alive calls the spares to the job decision
  call_spares_back,     ///< a death in a round calls back spares that may have parked already
  revoke_what_some_may_have,  ///< ... and revokes the communicators that some processes may have already
  settle_before_shrinking,    ///< all have returned from earlier agreements before they wait in the library
  settle_before_ending,       ///< ... and before they stop answering
  agree_on_shrinking,         ///< a candidate counts when all processes have one
  agree_on_splitting,         ///< the communicators count when all processes have theirs
  revoke_failed_candidates,   ///< a process that fails in a split revokes the candidate
  broken_ends_some,           ///< of the processes in a split, those that have an error end unless all have one
  errors_end_one,             ///< any other error of one process ends that process
  survivors_keep_data,        ///< a process that held a rank before is not a newcomer
  save_before_ending,         ///< with a disk, the remaining data are saved
  agree_on_the_newcomer,      ///< all learn from an agreement whether a newcomer comes
  ask_another_host,           ///< a process that cannot start newcomers leaves that to another one
  revoke_failed_meetings,     ///< a process that fails in meeting a newcomer revokes the meeting
  agree_on_connecting,        ///< a newcomer is merged when all have connected to it
  agree_on_merging,           ///< a newcomer is a member when all have merged with it
};

/// The state of a process; the table above says what it waits for.
enum class State : std::uint8_t {
  unborn,
  playing,
  parked,
  balloting,
  deciding,
  closing,
  settling,
  shrinking,
  counting,
  splitting,
  confirming,
  founding,
  finding,
  announcing,
  gathering,
  gathered,
  connecting,
  connected,
  merging,
  merged,
  admitting,
  saving,
  ended,
};
std::string to_string(State state);

/// The settings of a process. They never change.
struct Setup {
  ProcessId self;
  Policy policy;
  int spawn_tries = 10;        ///< recoveries in a row without progress after which no process is started
  bool disk = false;           ///< the remaining data can be saved to disk
  std::vector<NodeId> places;  ///< machines on which to start processes, the best first
  int spare_nodes = 0;         ///< the last nodes, whose processes become spares first
  SparePlacement placement = SparePlacement::spread;
};

/// The members of the job and their ranks. The same on all members.
struct Position {
  std::vector<ProcessId> members;  ///< of the base, by rank
  Roster roster;                   ///< its ranks may be vacant
  Epoch epoch;
  std::uint32_t processes = 0;  ///< how many process numbers were given; the next number

  bool has(ProcessId process) const;
  /// Returns true if `call` wakes a process that is parked here.
  bool heeds(const CallSpares& call) const;
};

/// Recoveries in a row that are alike, with at most one commit between two of them. Either some rank has lost its
/// process in each of them, or no process has died in any. A job under frequent failures loses different ranks, or
/// commits more often.
struct Row {
  int length = 0;
  /// The ranks that have lost their process in each, by their numbers at the start. Empty if no process has died.
  std::vector<Rank> ranks;

  /// Returns the row with one more recovery, in which `lost` have lost their process. Pure.
  Row with(const std::vector<Rank>& lost) const;
  friend bool operator==(const Row&, const Row&) = default;
};

/// A recovery under way. The same on all processes that take part in it, whenever they joined.
struct Course {
  Roster before;                   ///< the roster with which it began
  ProcessSet dead;                 ///< agreed deaths since the earlier recovery
  int without_commit = 0;          ///< recoveries in a row without a commit in between, this one included
  int rounds = 0;                  ///< how often communicators were made; once more for each process that joins
  std::vector<LostRank> given_up;  ///< ranks that were given up
  bool in_vain = false;            ///< replacements for the dead would die as well
  Row row;                         ///< the row that this recovery may continue
  ProcessSet unable;               ///< members that could not start a process in this recovery
  ProcessSet started;              ///< processes that the present host has started in it

  /// Returns the row with this recovery, if `all_dead` are all that have died in it. Pure.
  Row row_with(const ProcessSet& all_dead) const;
};

/// The recovery, following `Rules` (base/rules.hpp). Use RecoveryCore; only tests omit rules.
template <class Rules>
class BasicCore {
 public:
  /// At the start of a job: `ranks` of the `launched` processes work and the others wait. `introduced`, in ascending
  /// order: the processes whose machines are known. The others have died.
  BasicCore(Setup setup, std::vector<ProcessId> launched, std::vector<Placed> introduced, int ranks);
  /// For a process that joins during a recovery.
  BasicCore(Setup setup, Position position, Course course);

  Actions step(const Event& event);

  ProcessId self() const { return setup_.self; }
  const Policy& policy() const { return setup_.policy; }
  const std::vector<NodeId>& places() const { return setup_.places; }
  const Position& position() const { return position_; }
  const Course& course() const { return course_; }
  std::optional<Rank> rank() const { return rank_; }
  /// Returns the rank of a process in the plan for the candidate.
  std::optional<Rank> planned_rank(ProcessId process) const { return plan_->roster.rank_of(process); }
  int spawn_tries() const { return setup_.spawn_tries; }
  /// Returns true if there were too many recoveries without a commit, so that no new process is started.
  bool out_of_tries() const { return course_.without_commit > setup_.spawn_tries; }
  /// Returns the row of recoveries that this one belongs to, by the deaths that are agreed on.
  Row row() const { return course_.row_with(course_.dead); }
  /// Returns true if the row is so long that no new process is started, although there were commits.
  bool goes_in_circles() const { return row().length > setup_.spawn_tries; }
  bool first_epoch() const { return !introduced_.empty(); }
  /// Returns the number of ranks of the job; before the first epoch, the number that it is to have.
  int ranks() const { return first_epoch() ? first_ranks_ : position_.roster.size(); }
  /// Returns true if the job is about to end and the remaining data are being saved to disk.
  bool saves() const { return saving_; }
  /// Returns the process that starts newcomers now.
  ProcessId host() const { return host_of(position_.roster, position_.members, setup_.places, course_.unable); }
  bool hosts() const { return hosting_; }
  /// Returns false if this process could not start newcomers in this recovery.
  bool can_host() const { return !course_.unable.contains(setup_.self); }
  State state() const { return state_; }
  void add_to(transport::Fingerprint& print) const;

 private:
  static constexpr bool keeps(Rule rule) { return Rules::keep(rule); }

  void on(const Begin&, Actions& actions);
  void on(const BodyLeft&, Actions& actions);
  void on(const Called&, Actions& actions);
  void on(const BallotEnded&, Actions& actions);
  void on(const Decided&, Actions& actions);
  void on(const Settled&, Actions& actions);
  void on(const Shrunk&, Actions& actions);
  void on(const Agreed&, Actions& actions);
  void on(const SplitEnded&, Actions& actions);
  void on(const Founded&, Actions& actions);
  void on(const NewcomerCalled&, Actions& actions);
  void on(const NewcomerLost&, Actions& actions);
  void on(const MeetingEnded&, Actions& actions);
  void on(const Admitted&, Actions& actions);
  void on(const ProcessDied&, Actions& actions);
  void on(const FailureNoticed&, Actions& actions);
  void on(const LocalError&, Actions& actions);

  void interrupt(Actions& actions);
  void call_spares(const ProcessSet& known_dead, Actions& actions);
  void decide(Intent intent, Actions& actions);
  void begin_recovery(const JobDecision& decision, Actions& actions);
  void begin_round(Actions& actions);
  void shrink(Actions& actions);
  void count(bool all_have_one, Actions& actions);
  void make_plan(Actions& actions);
  void confirm(const agreement::Outcome& outcome, Actions& actions);
  void adopt(Actions& actions);
  void go_on(Actions& actions);
  void enter_epoch(Actions& actions);
  void descend_ladder(Actions& actions);
  Ending ending_without_processes() const { return course_.in_vain ? Ending::rank_fails : Ending::nobody_left; }
  void judge_host();
  void exclude_host();
  bool someone_can_host() const;
  void recruit(Actions& actions);
  void announced(const agreement::Outcome& outcome, Actions& actions);
  void meeting_agreed(const agreement::Outcome& outcome, Actions& actions);
  void try_without_newcomer(Actions& actions);
  void agree(State next, Among among, std::uint32_t contribution, Actions& actions);
  void end(ExitCode code, Ending why, Actions& actions);
  bool in_epoch() const;
  bool in_round() const;
  bool meets() const;

  Setup setup_;
  Position position_;
  State state_ = State::unborn;
  std::vector<Placed> introduced_;  // until the first epoch begins
  int first_ranks_ = 0;

  // of an epoch
  std::optional<Rank> rank_;
  bool held_rank_ = false;  // before the recovery
  bool interrupted_ = false;
  Intent intent_ = Intent::follow;
  ExitCode code_ = ExitCode::ok;
  bool progressed_ = false;
  bool committed_twice_ = false;

  // of a recovery
  Course course_;
  Policy policy_;        // the remaining means to fill vacant ranks
  bool saving_ = false;  // the job is about to end, and the remaining data are being saved to disk
  std::vector<ProcessId> candidate_;
  std::optional<RankAssignment> plan_;
  std::size_t failed_shrinks_ = 0;
  bool broken_ = false;  // the last split, by an error of this process
  bool hosting_ = false;
  End end_{ExitCode::ok, Ending::finished};
};

extern template class BasicCore<AllRules>;

}  // namespace mend::recovery

namespace mend {

using RecoveryCore = recovery::BasicCore<AllRules>;

}  // namespace mend
