// The history of the job as this process knows it, and the reports on it: the recoveries, the deaths and their causes,
// and the job's result file.

#pragma once

#include "base/ids.hpp"
#include "detector/local/runtime_witness.hpp"
#include "framework/epoch/recovery_history.hpp"
#include "framework/options.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/announcer.hpp"
#include "framework/reporting/known_deaths.hpp"
#include "framework/reporting/result_file.hpp"
#include "framework/spawn/join_info.hpp"
#include "store/store.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mend {

class JobReporter {
 public:
  /// `witness` must outlive this object.
  JobReporter(const Options& options, const RecoveryCore& core, RuntimeWitness& witness);

  RecoveryHistory& history() { return history_; }
  /// Records the effect of the last recovery under local rollback. A process that is new in it need not know which
  /// ranks rolled back. Local.
  void note(RollbackReport report);
  const RecoveryHistory& history() const { return history_; }
  KnownDeaths& deaths() { return deaths_; }
  const KnownDeaths& deaths() const { return deaths_; }
  /// Returns the fields that the application reports for the result file.
  Answer& answer() { return result_.answer; }
  /// The numbers of ranks and spares at the start of the job.
  int first_ranks() const { return first_ranks_; }
  int first_spares() const { return first_spares_; }

  /// Begins a job of this many ranks. Local.
  void begin_job(int ranks) { first_ranks_ = ranks; }
  /// Takes over `record`, the data of a job that this process has joined. Local.
  void join_job(const JobRecord& record);
  /// Called when the first epoch has begun: announces which processes have died before that. Local.
  void end_start(const RecoveryCore& core);
  /// Begins an epoch with the communicators of `epoch_state`. Local.
  void begin_epoch(const EpochState& epoch_state, const StoreStatistics& store);
  /// Adds the report of the recovery that has led to `epoch_state` to the history, and announces it. `request`: with
  /// the ranks as they were before the recovery. Local.
  void end_recovery(const RecoveryCore& core, const EpochState& epoch_state, Request request);
  /// Returns true if end_of_body() has anything to report: the same on all ranks. Local.
  bool has_a_report() const { return !result_.path.empty() || !history_.recoveries().empty(); }
  /// Combines the reports of all ranks at the end of the body, and writes the result file if one is wanted. Collective
  /// over the ranks of `epoch_state`. Throws ProcessFailure, EnvironmentError.
  void end_of_body(const EpochState& epoch_state, const StoreStatistics& store, Version version, Seconds run_time);
  /// Writes the result file of a job that has failed, if one is wanted and end_of_body() has not written it. Only in
  /// the process that reports the reason. Local.
  void end_in_failure(const FailedEnd& end, const StoreStatistics& store, Version version, Seconds run_time);
  /// Announces at the end of the job what has not been announced. Local.
  void end_job() { announcer_.finish(); }

  /// Returns the recoveries as this process saw them.
  std::span<const RecoveryReport> recoveries(const StoreStatistics& store);
  /// Returns the recoveries over all ranks (over_all_ranks); empty before end_of_body().
  std::span<const RecoveryReport> recoveries_of_all_ranks() const { return of_all_ranks_; }

  /// Returns why all processes end the job together although no rank has ended it.
  std::string describe_end(recovery::Ending why, const RecoveryCore& core, const Roster& now) const;
  /// Returns the advice after a message about lost data: what would have kept it. `has_disk`: versions are written to
  /// disk.
  std::string advise_on_loss(const recovery::Course& course, bool has_disk) const;

 private:
  std::span<const RecoveryReport> before(const recovery::Course& course) const {
    return history_.last(course.without_commit - 1);
  }

  int first_ranks_ = 0;
  int first_spares_;
  Policy policy_;
  RecoveryHistory history_;
  KnownDeaths deaths_;
  Announcer announcer_;
  ResultFile result_;
  bool has_written_result_ = false;  ///< in this epoch
  bool rolls_back_locally_;
  std::vector<RecoveryReport> of_all_ranks_;
  std::vector<RollbackReport> rollbacks_;
};

}  // namespace mend
