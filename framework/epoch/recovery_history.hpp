// The recoveries of a job as this process has seen them, and its commits and restores in the present epoch. Pure.

#pragma once

#include "base/clock.hpp"
#include "framework/epoch/recovery_clock.hpp"
#include "framework/recovery_report.hpp"
#include "store/store.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mend {

class RecoveryHistory {
 public:
  /// Takes over the earlier recoveries, in a process that joins.
  void inherit(std::vector<RecoveryReport> recoveries) { recoveries_ = std::move(recoveries); }
  void add(RecoveryReport report) { recoveries_.push_back(std::move(report)); }
  /// Returns the clock of the recovery under way.
  RecoveryClock& clock() { return clock_; }

  /// `store`: its present statistics.
  void begin_epoch(const StoreStatistics& store);
  /// Records that another store has committed something.
  void note_progress() { ++committed_elsewhere_; }
  /// Records that another store has restored data of the application in `time`.
  void note_restore(Seconds time) { restored_elsewhere_ += time; }

  /// Returns true if this rank has committed anything in this epoch.
  bool has_progressed(const StoreStatistics& now) const { return committed(now) > 0; }
  /// Returns true if this rank has committed more than once in this epoch.
  bool has_committed_twice(const StoreStatistics& now) const { return committed(now) > 1; }
  /// The commits of this epoch and their total time.
  struct Commits {
    std::uint64_t count = 0;
    Seconds time{};
  };
  Commits commits(const StoreStatistics& now) const;
  /// Sets the restore phase of the last recovery, which is known only after the body has restored its data. Later
  /// restores in the same epoch, such as those of transactions, do not belong to it.
  void close_restore_time(const StoreStatistics& now);

  std::span<const RecoveryReport> recoveries() const { return recoveries_; }
  /// Returns the last `count` recoveries, or all if there are fewer. Returns none if `count` is negative.
  std::span<const RecoveryReport> last(int count) const;

 private:
  std::uint64_t committed(const StoreStatistics& now) const;

  std::vector<RecoveryReport> recoveries_;
  RecoveryClock clock_;
  StoreStatistics before_epoch_;
  std::uint64_t committed_elsewhere_ = 0;
  Seconds restored_elsewhere_{};
};

}  // namespace mend
