// The recovery engine: it runs the body, and handles failures and the end of the job.
//
// The recovery core (framework/recovery/core/recovery_core.hpp) decides what comes next. The engine gives it the
// results of MPI, the agreements and the body as events, and carries out its actions (engine_actions.cpp).
//
// Every process repeats the same loop: a rank plays the body, a spare waits; then all decide together on the end of the
// job or on a recovery. After a recovery the loop begins again, and a spare may have become a rank.
//
// A body that repairs in place (Session::repair) goes through the same ballot, job decision and rebuild, and then
// continues.
//
//        +----------------------------------------------------------+
//        v                                                          |
//   play the body  --returned--> ballot(finish)  --+                |
//     (ranks)      --failure---> ballot(recover) --+-> job decision --recover--> rebuild
//                  --exception-> ballot(abandon) --+      |
//   wait (spares)  --called, or saw a rank die-----+      +--finish/abandon--> end
//
// A failure is handled as follows. The first MPI call or report that notices it records the time and interrupts, that
// is, it revokes the communicators in which the application can be blocked. The body is left by exception. Ballot and
// job decision gather all processes for the recovery. The rebuild agrees on the dead and makes the communicators of the
// next epoch. The body restores its data when it is entered again.
//
// The engine's state is kept in classes of its own: the communicators that can be revoked (EpochCommunicators), the
// history and the reports (JobReporter), the messages to spares (SpareBriefing), the commit interval (CommitPacing),
// and the end of the job (JobEnd).

#pragma once

#include "detector/local/runtime_witness.hpp"
#include "framework/commits/commit_pacing.hpp"
#include "framework/commits/outside_requests.hpp"
#include "framework/epoch/epoch_communicators.hpp"
#include "framework/epoch/repair_callbacks.hpp"
#include "framework/epoch/spare_briefing.hpp"
#include "framework/options.hpp"
#include "framework/process/body_guard.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/body_outcome.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "framework/recovery/checkpoint_folder.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "framework/recovery/job_decision.hpp"
#include "framework/recovery/job_end.hpp"
#include "framework/recovery_report.hpp"
#include "framework/local_rollback/clusters/cluster_rollback.hpp"
#include "framework/local_rollback/local_rollback.hpp"
#include "framework/local_rollback/local_rollback_store.hpp"
#include "framework/local_rollback/rollback_counts.hpp"
#include "framework/reporting/job_reporter.hpp"
#include "framework/run.hpp"
#include "framework/spawn/newcomer.hpp"
#include "framework/spawn/newcomer_host.hpp"
#include "store/engine/store_engine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <span>
#include <vector>

namespace mend {

class Engine {
 public:
  /// During its lifetime, this process is inside a transaction.
  class InTransaction {
   public:
    explicit InTransaction(Engine& engine) : engine_(engine) { ++engine_.transactions_under_way_; }
    ~InTransaction() { --engine_.transactions_under_way_; }
    InTransaction(const InTransaction&) = delete;
    InTransaction& operator=(const InTransaction&) = delete;

   private:
    Engine& engine_;
  };

  /// Makes the communicators of the first epoch. Collective over all processes launched. Throws, on all alike,
  /// UsageError if the spares leave no process to work, and Unrecoverable if too many processes have died.
  Engine(const Options& options, FailureDetector& detector);
  /// For a process that the job has started later: joins the others, which are in a recovery, and takes part in the
  /// rest of it.
  Engine(const Options& options, FailureDetector& detector, Newcomer& newcomer);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Repeats the loop until the job ends. Returns the agreed exit code. Collective over all processes.
  ExitCode run(const Body& body);

  // --- instead of run(), for interfaces without a body, which call the engine at each step (fenix/process/job.cpp) ---
  /// Waits until this process has a rank. Returns true then, false if the job is over. Collective.
  bool wait_for_rank();
  /// Called when this rank has finished. Returns true if all ranks have and the job is over. Returns false if there was
  /// a failure before, from which the job has recovered; this rank then continues. Collective over the ranks.
  bool finish();
  /// Ends the job because of an error in this process. Interrupts the others, and returns when all have agreed to end.
  void abandon(ExitCode code, const std::string& sentence);
  /// Returns the agreed exit code, if the job is over.
  std::optional<ExitCode> ended() const { return end_.agreed; }
  /// Returns true if a rank is known to have died. Local.
  bool knows_of_failure() const;
  /// Returns the place for communicators of earlier epochs that are not used any more.
  LeftCommunicators& left_communicators() { return left_; }
  /// Begins this epoch for `store`. Call it once an epoch; call store.end_epoch() before the next. Local.
  void take_into_epoch(StoreEngine& store);
  /// Lets a failure also interrupt the processes that wait in `comm`, which has all ranks, until the epoch ends. At
  /// most one in an epoch. Local.
  void take_into_epoch(MPI_Comm comm) { communicators_.take_own(comm); }
  /// Records what a recovery under local rollback has done. Local.
  void note(RollbackReport report) { reporter_.note(std::move(report)); }
  /// Records that something was committed to a store of take_into_epoch(). Local.
  void note_progress() { reporter_.history().note_progress(); }
  /// Records that a store of take_into_epoch() has restored the application's data in `time`. Local.
  void note_restore(Seconds time) { reporter_.history().note_restore(time); }

  /// Communicators of the ranks that outlive the engine.
  struct Kept {
    Communicator application;
    Communicator store;  ///< not known to the application
  };
  /// Call it when the job is over, before it is closed, and after all objects that use the communicators are gone.
  /// Local.
  Kept keep_communicators() { return {std::move(epoch_state_.application), std::move(epoch_state_.store)}; }

  /// Returns true if a process of the launch has died. Known when run() has returned; the same on all processes.
  bool has_lost() const { return end_.has_lost; }

  /// Records in the trace the epoch and this process's rank in it. Local.
  void trace_epoch() const;

  /// Returns the cost of this process's commits, and what the best interval would have saved.
  CommitEconomy commit_economy() const { return pacing_.economy(reporter_.history(), store_.statistics()); }

  // --- for Session ---------------------------------------------------------------------------------------------
  const EpochState& epoch_state() const { return epoch_state_; }
  ProcessId self() const { return core_.self(); }
  Rank rank() const;
  /// Returns the number of ranks at the start of the job.
  int first_size() const { return reporter_.first_ranks(); }
  bool plays(Rank rank) const { return part_.rank == rank; }
  bool newcomer() const { return part_.newcomer; }
  const Policy& policy() const { return core_.policy(); }
  StoreEngine& store() { return store_; }
  /// Throws Abandoned if the job is over and the body has not noticed it.
  agreement::Ballot& ballot();
  MPI_Comm session_comm() const { return local_ ? local_->comm() : epoch_state_.application.get(); }
  Store& session_store() { return local_store_ ? static_cast<Store&>(*local_store_) : store_; }
  bool agree(bool flag);
  Rollback rollback() const { return rollback_; }
  /// Throws UsageError if ranks roll back locally, because that does not cover `call`. Local.
  void refuse_if_local(const char* call) const;
  bool commit_due();
  bool should_exit() { return requests_.should_exit(); }
  void check();
  MPI_Comm derive(const std::function<MPI_Comm(MPI_Comm)>& factory) {
    return local_ ? factory(local_->comm()) : communicators_.derive(factory);
  }
  std::span<const RecoveryReport> recoveries() { return reporter_.recoveries(store_.statistics()); }
  /// Returns the same over all ranks (over_all_ranks), after they have finished; empty in a spare.
  std::span<const RecoveryReport> recoveries_of_all_ranks() const { return reporter_.recoveries_of_all_ranks(); }
  Answer& answer() { return reporter_.answer(); }
  // --- for local rollback --------------------------------------------------------------------------------------
  /// Returns true once if the program should leave when a failure discarded that. Local.
  bool take_was_leaving() { return requests_.take_was_leaving(); }
  /// The same as repair(), from inside a call of a rank that stays where it is. Collective over all processes. Throws
  /// Abandoned if the job ends.
  void recover_in_place();
  /// Returns the counts of what local rollback has done in the job, as far as this process knows.
  RollbackCounts& rollback_counts() { return rollback_counts_; }
  ClusterRollback& cluster_rollback() { return cluster_rollback_; }
  int steps_since_commit() const { return pacing_.steps_since_commit(); }
  void set_steps_since_commit(int steps) { pacing_.set_steps_since_commit(steps); }

  void repair();
  void on_repair(std::function<void()> callback) { callbacks_.add(std::move(callback)); }

 private:
  /// The part of this process in an epoch.
  struct Part {
    std::optional<Rank> rank;  ///< none for a spare
    bool newcomer = false;
  };

  Engine(const Options& options, FailureDetector& detector, Newcomer* newcomer);
  recovery::BodyLeft play(const Body& body);
  recovery::BodyLeft play_locally(const Body& body);
  agreement::Proposal enter_locally(const Body& body);
  void end_of_body();
  recovery::BodyLeft leaving(agreement::Proposal proposal);
  bool has_met_failure() const;
  recovery::Event wait_as_spare();
  void drive(recovery::Event event);
  void carry_out(const recovery::Event& event);
  std::optional<recovery::Event> attempt(const recovery::Action& action);
  void tell_that_it_cannot_host();
  std::optional<recovery::Event> perform(const recovery::Revoke& revoke);
  std::optional<recovery::Event> perform(const recovery::CallSpares& call);
  std::optional<recovery::Event> perform(const recovery::CastBallot& cast);
  std::optional<recovery::Event> perform(const recovery::DecideJob& decide);
  std::vector<Rank> who_asks();
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
  void leave_epoch();
  void enter_epoch(bool newcomer);
  void begin_epoch(bool newcomer);
  JobRecord record() const;
  BodyContext body_context() const;
  void notice_while_waiting();
  void interrupt();
  BodyRules rules_of_bodies();
  void tell_spares();
  ExitCode report_error(ExitCode code);
  void close_restore_time() { reporter_.history().close_restore_time(store_.statistics()); }
  void report_on_job();
  void heed_requests();
  void answer_requests(Version version, bool on_disk);
  void leave_if_asked();
  void show_on_board() const;
  void show_version_on_board() const;

  RuntimeWitness witness_;
  FailureDetector& detector_;
  AgreementProvider agreements_;
  LeftCommunicators left_;
  EpochState epoch_state_;
  EpochStateMaker maker_;
  RecoveryCore core_;
  NewcomerHost newcomer_host_;
  CheckpointFolder disk_;
  StoreEngine store_;

  Part part_;
  std::string obstacle_to_hosting_;
  bool asks_for_recovery_ = false;  // in this epoch, without having met a failure
  Request request_;                 // of all ranks, for this recovery
  EpochCommunicators communicators_;
  JobReporter reporter_;
  SpareBriefing briefing_;
  CommitPacing pacing_;
  OutsideRequests requests_;
  bool heeds_sigterm_;
  int transactions_under_way_ = 0;  // that this process is in, one inside the other
  RepairCallbacks callbacks_;
  Rollback rollback_;
  const LocalRollbackOptions local_options_;
  RollbackCounts rollback_counts_;
  ClusterRollback cluster_rollback_;
  std::optional<LocalRollback> local_;  // during a body with --mend-rollback local
  std::optional<LocalRollbackStore> local_store_;
  JobEnd end_;
};

}  // namespace mend
