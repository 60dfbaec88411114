// The deaths that this process knows: which ranks have lost their processes, the causes, and whether the program itself
// is at fault. Used for decisions and messages.

#pragma once

#include "base/process_set.hpp"
#include "detector/local/runtime_witness.hpp"
#include "framework/recovery_report.hpp"
#include "framework/reporting/repeated_deaths.hpp"
#include "framework/reporting/unfilled_ranks.hpp"
#include "spares/failure_policy.hpp"
#include "spares/roster.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mend {

class KnownDeaths {
 public:
  /// `tries`: the number of consecutive recoveries that one rank may cause by a fault of the program. `spares`: of the
  /// job at its start. `witness` must outlive this object.
  KnownDeaths(RuntimeWitness& witness, Policy policy, int tries, int spares)
      : witness_(witness), policy_(policy), tries_(tries), spares_(spares) {}

  /// Returns true if a process that holds a rank has died.
  bool are_in(const Roster& roster) const;
  /// Returns true if deaths were reported since the last call. Costs one load.
  bool have_news() { return news_.is_there(witness_); }
  /// Makes all deaths count as new again.
  void begin_epoch() { news_ = {}; }

  /// Returns all processes whose death this process knows.
  ProcessSet known() const;
  /// Returns the time of the first known death among the processes of `dead` that held a rank.
  std::optional<WallClock::time_point> first_of(const ProcessSet& dead, const Roster& before) const;

  /// Returns the rank in `roster` that dies repeatedly by the program's fault, if there is one. `before`: the
  /// recoveries with no commit in between.
  std::optional<RepeatedDeath> repeated(std::span<const RecoveryReport> before, const Roster& roster) const;
  /// Returns true if a process that takes over one of these ranks would die like the earlier ones.
  bool are_in_vain(std::span<const RecoveryReport> before, const Roster& roster) const;

  /// Records, after the job decision, which rank makes a recovery `in_vain`, as far as this process knows.
  void judge(bool in_vain, std::span<const RecoveryReport> before, const Roster& roster);
  /// Returns the rank of the last judgement that was in vain. `times` is 0 if only another process knows the rank.
  RepeatedDeath to_blame() const { return to_blame_.value_or(RepeatedDeath{}); }

  /// Returns why a job ends that had the roster `before`, has lost `dead`, and now has the roster `now`. Waits a short
  /// time for the causes. `tries`: the number of recoveries in vain after which no more processes are started.
  /// `all_recoveries`: of the job; `recoveries`: the last in a row, with no commit or at most one `between` two of
  /// them.
  std::string describe(std::span<const RecoveryReport> all_recoveries, std::span<const RecoveryReport> recoveries,
                       const Roster& before, const Roster& now, const ProcessSet& dead, std::optional<int> tries,
                       Between between = Between::no_commit) const;
  /// Returns advice on what would have kept the data of the processes that died in `recoveries`, in a job of `ranks`
  /// ranks. Waits a short time for the causes.
  std::string advise(std::span<const RecoveryReport> recoveries, int ranks, bool has_disk) const;

 private:
  CauseOf cause_of() const;
  Rank number_of(const Roster& roster, Rank rank) const { return policy_.blank ? roster.seat(rank).origin : rank; }
  std::vector<LostRank> losses(const Roster& roster, const ProcessSet& dead) const;
  std::vector<Rank> unfilled_ranks(const Roster& before, const Roster& now, const ProcessSet& dead) const;

  ProcessSet lost_spares(std::span<const RecoveryReport> all, const Roster& before, const ProcessSet& dead) const;

  RuntimeWitness& witness_;
  Policy policy_;
  int tries_;
  int spares_;
  std::optional<RepeatedDeath> to_blame_;
  DeathNews news_;  // while this process waits
};

}  // namespace mend
