// What has happened in the job, as this process knows it, and what it reports of that: the recoveries, the deaths and
// their causes, and the result that the job leaves.

#pragma once

#include "base/ids.hpp"
#include "detector/local/runtime_witness.hpp"
#include "framework/epoch/recovery_history.hpp"
#include "framework/options.hpp"
#include "framework/recovery/recovery_core.hpp"
#include "framework/recovery/world.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/announcer.hpp"
#include "framework/reporting/casualties.hpp"
#include "framework/reporting/result_file.hpp"
#include "framework/spawn/join_info.hpp"
#include "store/store.hpp"

#include <span>
#include <string>
#include <vector>

namespace mend {

class JobReporter {
 public:
  /// `witness` outlives it.
  JobReporter(const Options& options, const RecoveryCore& core, RuntimeWitness& witness);

  RecoveryHistory& history() { return history_; }
  const RecoveryHistory& history() const { return history_; }
  Casualties& casualties() { return casualties_; }
  const Casualties& casualties() const { return casualties_; }
  /// What the application reports of its answer.
  Answer& answer() { return result_.answer; }
  /// How many ranks, and how many spares, the job had at its start.
  int first_ranks() const { return first_ranks_; }
  int first_spares() const { return first_spares_; }

  /// The job begins with so many ranks. Local.
  void begin_job(int ranks) { first_ranks_ = ranks; }
  /// This process has joined a job of which it was told `record`. Local.
  void join_job(const JobRecord& record);
  /// `world` has the communicators of a new epoch. Local.
  void begin_epoch(const World& world, const StoreStatistics& store);
  /// A recovery of `core` has led to `world`: adds its report to the history, and announces it. `request`: with the
  /// ranks as they were before it. Local.
  void end_recovery(const RecoveryCore& core, const World& world, Request request);
  /// Returns true if end_of_body() has anything to report: the same on all ranks. Local.
  bool has_a_report() const { return !result_.path.empty() || !history_.recoveries().empty(); }
  /// All ranks have come to the end of the body: puts together what they saw of the recoveries, and writes the result
  /// if one is wanted. Collective over the ranks of `world`. Throws ProcessFailure, EnvironmentError.
  void end_of_body(const World& world, const StoreStatistics& store, Version version, Seconds run_time);
  /// The job is over: announces what has not been announced. Local.
  void end_job() { announcer_.finish(); }

  /// The recoveries as this process saw them.
  std::span<const RecoveryReport> recoveries(const StoreStatistics& store);
  /// The same as all ranks report them; empty before end_of_body().
  std::span<const RecoveryReport> recoveries_of_all_ranks() const { return of_all_ranks_; }

  /// Why all processes end the job together, though no rank has said so.
  std::string describe_end(recovery::Ending why, const RecoveryCore& core, const Roster& now) const;
  /// What follows a sentence on lost data: what would have kept it. `has_disk`: whether versions are written to disk.
  std::string advise_on_loss(const recovery::Course& course, bool has_disk) const;

 private:
  std::span<const RecoveryReport> before(const recovery::Course& course) const {
    return history_.last(course.fruitless - 1);
  }

  int first_ranks_ = 0;
  int first_spares_;
  Policy policy_;
  RecoveryHistory history_;
  Casualties casualties_;
  Announcer announcer_;
  ResultFile result_;
  std::vector<RecoveryReport> of_all_ranks_;
};

}  // namespace mend
