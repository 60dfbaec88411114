// The recoveries of a job as this process has seen them, and what it has done in the present epoch: committed
// anything, spent time on restoring. Pure.

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
  /// In a process that joins: what was before.
  void inherit(std::vector<RecoveryReport> recoveries) { recoveries_ = std::move(recoveries); }
  void add(RecoveryReport report) { recoveries_.push_back(std::move(report)); }
  /// Of the recovery under way.
  RecoveryClock& clock() { return clock_; }

  /// `store`: as its statistics are now.
  void begin_epoch(const StoreStatistics& store);
  /// Something was committed by another store.
  void note_progress() { progressed_ = true; }
  /// Another store has given the application its data back, which took so long.
  void note_restore(Seconds time) { restored_elsewhere_ += time; }

  /// Whether this rank has committed anything in this epoch.
  bool has_progressed(const StoreStatistics& now) const;
  /// The commits of this epoch, and what they took.
  struct Commits {
    std::uint64_t count = 0;
    Seconds time{};
  };
  Commits commits(const StoreStatistics& now) const;
  /// The restore phase of the last recovery ends when the body has its data; what it took is known only afterwards.
  void close_restore_time(const StoreStatistics& now);

  std::span<const RecoveryReport> recoveries() const { return recoveries_; }
  /// The last `count` of them, or all if there are fewer. None when `count` is negative.
  std::span<const RecoveryReport> last(int count) const;

 private:
  std::vector<RecoveryReport> recoveries_;
  RecoveryClock clock_;
  StoreStatistics before_epoch_;
  bool progressed_ = false;
  Seconds restored_elsewhere_{};
};

}  // namespace mend
