// The recovery engine: what happens around the body.
//
// What comes next is decided by the recovery core (framework/recovery/core.hpp). The engine tells it what MPI, the
// agreements and the body have come to, and carries out what it wants.
//
// Every process goes round the same loop: as a rank it plays the body, as a spare it waits; then all decide together
// and learn what comes next - the end, or a recovery, after which the loop goes round again, perhaps with another part.
//
// A body that repairs in place (Session::repair) goes through the same ballot, job decision and rebuild from inside,
// and then goes on.
//
//        +----------------------------------------------------------+
//        v                                                          |
//   play the body  --returned--> ballot(finish)  --+                |
//     (ranks)      --failure---> ballot(recover) --+-> job decision --recover--> rebuild
//                  --exception-> ballot(abandon) --+      |
//   wait (spares)  --called, or saw a rank die-----+      +--finish/abandon--> end
//
// The life of a failure along this path: the first MPI call or report that notices it takes the time and interrupts
// (revokes what the application can be blocked in), the body is left by exception, ballot and job decision gather
// everyone for the recovery, rebuild agrees on the dead and makes the new world, and the body restores its data on
// re-entry.

#pragma once

#include "base/clock.hpp"
#include "base/place.hpp"
#include "detector/runtime_witness.hpp"
#include "framework/recovery/announcer.hpp"
#include "framework/recovery/commit_economy.hpp"
#include "framework/recovery/commit_schedule.hpp"
#include "framework/recovery/core.hpp"
#include "framework/recovery/job_decision.hpp"
#include "framework/recovery/result_file.hpp"
#include "framework/options.hpp"
#include "framework/recovery_report.hpp"
#include "framework/spawn/recruiter.hpp"
#include "framework/run.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/world.hpp"
#include "spares/policy.hpp"
#include "store/disk/folder_lock.hpp"
#include "store/store_engine.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mend {

class Engine {
 public:
  /// Makes the first world. Collective over all processes launched. Throws, on all alike, UsageError when the
  /// spares leave nobody to work and Unrecoverable when too many processes have died.
  Engine(const Options& options, FailureDetector& detector);
  /// In a process that the job has started later: joins the others, who are in the middle of a recovery, and takes part
  /// in what is left of that.
  Engine(const Options& options, FailureDetector& detector, Arrival& arrival);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Goes round the loop until the job ends. Collective over all processes. Returns what all agreed to exit with.
  ExitCode run(const Body& body);

  // --- instead of run(), for interfaces that hand it no body but call it at each step (fenix/job.cpp) -----
  /// Returns when this process has a rank to play, at once if it has; false when the job is over. Collective.
  bool wait_for_rank();
  /// This rank is done. True: all are, and the job is over; false: a failure came before that and has been recovered
  /// from, so this rank goes on. Collective over the ranks.
  bool finish();
  /// Ends the job because of what is wrong here. The others are interrupted, wherever they are; returns when all have
  /// agreed to end.
  void abandon(ExitCode code, const std::string& sentence);
  /// What all have agreed to exit with, once the job is over.
  std::optional<ExitCode> ended() const { return ended_; }
  /// Whether a rank is known to have died. Local.
  bool knows_of_failure() const;
  /// Has `store` work with this epoch's ranks. Local; once an epoch, and end_epoch() before the next.
  void take_into_epoch(StoreEngine& store);
  /// Something was committed to such a store. Local.
  void note_progress() { progressed_ = true; }
  /// Such a store has given the application its data back, which took so long. Local.
  void note_restore(Seconds time) { restored_elsewhere_ += time; }

  /// Whether a process of the launch has died: known when run() has returned, to all alike.
  bool has_lost() const { return has_lost_; }

  /// What this process's commits have cost, and what another interval would have saved.
  CommitEconomy commit_economy() const;

  // --- for Session ---------------------------------------------------------------------------------------------
  const World& world() const { return world_; }
  ProcessId self() const { return self_; }
  Rank rank() const { return *rank_; }
  /// How many ranks there were at the start.
  int first_size() const { return first_size_; }
  bool plays(Rank rank) const { return rank_ == rank; }
  bool newcomer() const { return newcomer_; }
  const Policy& policy() const { return policy_; }
  StoreEngine& store() { return store_; }
  /// Throws Abandoned when the job is over, and the body has not noticed.
  agreement::Ballot& ballot();
  bool commit_due();
  void check();
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory);
  std::span<const RecoveryReport> recoveries();
  Answer& answer() { return answer_; }
  void repair();
  void on_repair(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }

 private:
  /// What went wrong in this process, when it brings the job to its end.
  struct Error {
    ExitCode code;
    std::string text;
    bool disk_may_help = true;
  };

  Engine(const Options& options, FailureDetector& detector, Arrival* arrival);
  bool find_out_who_is_missing() const;
  void part() const;
  recovery::BodyLeft play(const Body& body);
  recovery::BodyLeft leaving(agreement::Motion motion);
  recovery::Event wait_as_spare();
  void drive(recovery::Event event);
  void carry_out(const recovery::Event& event);
  std::optional<recovery::Event> attempt(const recovery::Action& action);
  std::optional<recovery::Event> perform(const recovery::Revoke& revoke);
  std::optional<recovery::Event> perform(const recovery::CallSpares& call);
  std::optional<recovery::Event> perform(const recovery::CastBallot& cast);
  std::optional<recovery::Event> perform(const recovery::DecideJob& decide);
  std::optional<recovery::Event> perform(const recovery::NewCandidate&);
  std::optional<recovery::Event> perform(const recovery::Settle&);
  std::optional<recovery::Event> perform(const recovery::Shrink&);
  std::optional<recovery::Event> perform(const recovery::Agree& agree);
  std::optional<recovery::Event> perform(const recovery::Split& split);
  std::optional<recovery::Event> perform(const recovery::AdoptCandidate& adopt);
  std::optional<recovery::Event> perform(const recovery::Found&);
  std::optional<recovery::Event> perform(const recovery::StartProcess&);
  std::optional<recovery::Event> perform(const recovery::Meet&);
  std::optional<recovery::Event> perform(const recovery::Connect&);
  std::optional<recovery::Event> perform(const recovery::Merge&);
  std::optional<recovery::Event> perform(const recovery::Admit&);
  std::optional<recovery::Event> perform(const recovery::EnterBody& enter);
  std::optional<recovery::Event> perform(const recovery::Park&);
  std::optional<recovery::Event> perform(const recovery::SaveWhatIsLeft&);
  std::optional<recovery::Event> perform(const recovery::End& end);
  std::optional<recovery::Event> perform(const recovery::Die&);
  std::string sentence_on(recovery::Ending why) const;
  std::optional<Place> place_of(const recovery::Action& action) const;
  bool has_progressed() const;
  std::vector<Loss> lost_ranks() const;
  std::optional<RepeatedDeath> repeated_death() const;
  bool would_recover_in_vain() const;
  std::vector<RecoveryReport> fruitless_recoveries() const;
  bool holds_rank(ProcessId process) const { return world_.roster.rank_of(process).has_value(); }
  void leave_epoch();
  void enter_epoch(bool newcomer);
  void begin_epoch(bool newcomer);
  void report_recovery();
  std::string memories() const;
  void follow(MPI_Comm parent, MPI_Comm made);
  void notice_while_waiting();
  void interrupt();
  BodyRules rules_of_bodies();
  void tell_spares();
  void measure_commits(Seconds step_with_commit);
  ExitCode report_error(ExitCode code);
  std::string advice_on_loss() const;
  std::string advice_on_disk(ExitCode code) const;
  void close_restore_time();
  void write_result_file();

  RuntimeWitness witness_;
  FailureDetector& detector_;
  Policy policy_;
  AgreementProvider agreements_;
  World world_;
  WorldMaker maker_;
  RecoveryCore core_;
  ProcessId self_;
  Announcer announcer_;
  Recruiter recruiter_;
  int wanted_spares_;
  bool spares_prepare_;
  bool announced_ = false;          // in this epoch, that there is a commit
  std::vector<ByteCount> advised_;  // in this epoch
  std::optional<int> tries_;
  int first_size_ = 0;
  std::optional<Rank> rank_;
  bool newcomer_ = false;
  std::vector<MPI_Comm> derived_;
  std::vector<MPI_Comm>
      retired_;  // those of the epoch before, revoked: who uses one still gets an error, not another's
  std::vector<MPI_Comm> followed_;  // left to the application to free
  DeathNews news_;                  // while waiting, in this epoch
  std::vector<std::function<void()>> callbacks_;
  bool in_callbacks_ = false;
  std::optional<DiskOptions> disk_;
  std::optional<FolderLock> disk_lock_;
  StoreEngine store_;
  CommitSchedule schedule_;
  std::optional<Seconds> given_mtbf_;
  Stopwatch since_start_;
  Stopwatch since_rank_;  // that this process has one
  Stopwatch step_watch_;

  bool interrupted_ = false;
  bool progressed_ = false;               // in this epoch, though store_ knows nothing of it
  std::optional<RepeatedDeath> in_vain_;  // why the dead of this recovery get no more processes
  std::optional<WallClock::time_point> noticed_;
  WallClock::time_point left_body_{};
  std::optional<WallClock::time_point> recovery_began_;
  WallClock::time_point agreed_on_dead_{};
  std::vector<RecoveryReport> recoveries_;
  std::filesystem::path result_;  // file; empty: none
  Answer answer_;
  StoreStatistics before_epoch_;  // as they were when the epoch began
  Seconds restored_elsewhere_{};  // in this epoch, by other stores than store_
  std::optional<Error> error_;
  std::string own_error_;          // which the others do not have
  std::optional<ExitCode> ended_;  // all have agreed on it
  bool has_lost_ = false;
};

}  // namespace mend
