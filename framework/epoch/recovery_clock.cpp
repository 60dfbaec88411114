#include "framework/epoch/recovery_clock.hpp"

#include "base/telemetry/trace.hpp"

#include <algorithm>

namespace mend {

void RecoveryClock::stamp(RecoveryReport& report, std::optional<Moment> first_death, Moment now) const {
  Moment noticed = noticed_.value_or(left_body_);
  if (first_death) noticed = noticed_ ? std::min(*noticed_, *first_death) : *first_death;
  report.set_moments(noticed, left_body_, agreed_, now);
}

void RecoveryClock::trace(const RecoveryReport& report) const {
  const auto after = [&](Milliseconds time) {
    return report.noticed + std::chrono::duration_cast<WallClock::duration>(time);
  };
  const trace::Note epoch{"epoch", report.epoch.value};
  trace::record("interrupt", report.noticed, after(report.interrupt), {epoch});
  trace::record("agree", after(report.interrupt), after(report.interrupt + report.agree), {epoch});
  trace::record("rebuild", after(report.interrupt + report.agree), after(report.until_rebuilt()), {epoch});
  trace::record("recovery", began_.value_or(left_body_), WallClock::now(), {epoch});
}

}  // namespace mend
