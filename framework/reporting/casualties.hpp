// Which ranks have lost their processes, of what, and whether that is the program's own fault: what this process knows
// of deaths, put together for decisions and sentences.

#pragma once

#include "base/process_set.hpp"
#include "detector/local/runtime_witness.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/repeated_deaths.hpp"
#include "framework/reporting/vacancies.hpp"
#include "spares/failure_policy.hpp"
#include "spares/roster.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mend {

class Casualties {
 public:
  /// `tries`: recoveries in a row that a rank which dies by the program's fault is worth. `spares`: of the job at its
  /// start. `witness` outlives it.
  Casualties(RuntimeWitness& witness, Policy policy, int tries, int spares)
      : witness_(witness), policy_(std::move(policy)), tries_(tries), spares_(spares) {}

  /// Whether a process that holds a rank has died.
  bool are_in(const Roster& roster) const;
  /// Whether deaths have been reported since the last question; costs one load.
  bool have_news() { return news_.is_there(witness_); }
  /// All deaths are news again.
  void begin_epoch() { news_ = {}; }

  /// Everybody of whose death this process knows.
  ProcessSet known() const;
  /// When the first of `dead` that held a rank died, as far as it is known.
  std::optional<WallClock::time_point> first_of(const ProcessSet& dead, const Roster& before) const;

  /// The rank in `roster` that dies again and again by the program's fault, if one does. `before`: the recoveries with
  /// no commit in between.
  std::optional<RepeatedDeath> repeated(std::span<const RecoveryReport> before, const Roster& roster) const;
  /// Whether a process that takes over one of these ranks would die like those before it.
  bool are_in_vain(std::span<const RecoveryReport> before, const Roster& roster) const;

  /// All have decided to recover, and some process that would be `in_vain`: who is to blame for that, as far as this
  /// one knows.
  void judge(bool in_vain, std::span<const RecoveryReport> before, const Roster& roster);
  /// By the last judgement that was in vain. Times are 0 where another process knows.
  RepeatedDeath to_blame() const { return to_blame_.value_or(RepeatedDeath{}); }

  /// Why the job ends that had the roster `before`, has lost `dead`, and has come to the roster `now`. Waits a moment
  /// for the causes. `tries`: in vain, so that no more processes are started. `all_recoveries`: of the job;
  /// `recoveries`: those of them with no commit since.
  std::string describe(std::span<const RecoveryReport> all_recoveries, std::span<const RecoveryReport> recoveries,
                       const Roster& before, const Roster& now, const ProcessSet& dead, std::optional<int> tries) const;
  /// What would have kept the data of those who died in `recoveries`, in a job of `ranks` ranks.
  std::string advise(std::span<const RecoveryReport> recoveries, int ranks, bool has_disk) const;

 private:
  CauseOf cause_of() const;
  Rank number_of(const Roster& roster, Rank rank) const { return policy_.blank ? roster.seat(rank).origin : rank; }
  std::vector<Loss> losses(const Roster& roster, const ProcessSet& dead) const;
  std::vector<Rank> vacancies(const Roster& before, const Roster& now, const ProcessSet& dead) const;

  ProcessSet lost_spares(std::span<const RecoveryReport> all, const Roster& before, const ProcessSet& dead) const;

  RuntimeWitness& witness_;
  Policy policy_;
  int tries_;
  int spares_;
  std::optional<RepeatedDeath> to_blame_;
  DeathNews news_;  // while this process waits
};

}  // namespace mend
