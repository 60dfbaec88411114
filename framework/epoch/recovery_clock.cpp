#include "framework/epoch/recovery_clock.hpp"

#include "base/telemetry/trace.hpp"

#include <algorithm>

namespace mend {

void RecoveryClock::stamp(RecoveryReport& report, std::optional<Moment> first_death, Moment now) const {
  Moment noticed = noticed_.value_or(left_body_);
  if (first_death) noticed = noticed_ ? std::min(*noticed_, *first_death) : *first_death;
  const Moment left_body = std::max(left_body_, noticed);
  const Moment agreed = std::max(agreed_, left_body);
  const Moment rebuilt = std::max(now, agreed);
  report.noticed = noticed;
  report.interrupt = left_body - noticed;
  report.agree = agreed - left_body;
  report.rebuild = rebuilt - agreed;
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
