// The times of a recovery in this process, and its phases in the report and in the time line:
//
//   noticed --interrupt--> body left --agree--> agreed on the dead --rebuild--> there are new communicators

#pragma once

#include "base/clock.hpp"
#include "framework/recovery_report.hpp"

#include <optional>

namespace mend {

class RecoveryClock {
 public:
  using Moment = WallClock::time_point;

  void begin_epoch() { noticed_.reset(); }
  /// Only the first call in an epoch counts.
  void notice(Moment now = WallClock::now()) {
    if (!noticed_) noticed_ = now;
  }
  /// Records that the body was left, that the spare was called, or that this process has joined.
  void leave_body(Moment now = WallClock::now()) { left_body_ = now; }
  void begin_recovery(Moment now = WallClock::now()) { began_ = now; }
  void agree_on_dead(Moment now = WallClock::now()) { agreed_ = now; }

  /// Fills in the phases of `report` when there are new communicators. `first_death`: the time of the first death of a
  /// process that held a rank, if it is known. A spare may have died, or have been called, long before such a death. If
  /// a moment lies before the previous one, both count as the same moment: a process may have waited for the others
  /// before it noticed the failure, or may have been notified late.
  void stamp(RecoveryReport& report, std::optional<Moment> first_death, Moment now = WallClock::now()) const;
  /// Writes the phases of a report that stamp() has filled to the time line.
  void trace(const RecoveryReport& report) const;

 private:
  std::optional<Moment> noticed_;
  Moment left_body_{};
  std::optional<Moment> began_;
  Moment agreed_{};
};

}  // namespace mend
