// Reports events of the job to the user when they happen: one line for each recovery and for each spare that is lost,
// written by one process.
//
// The runtime reports in a thread of its own, and often late, how a process has died. So a line waits until the causes
// of all deaths in it are known, and is then written in that thread. If a cause is never reported, the line is written
// at the next recovery, or at the end.

#pragma once

#include "base/clock.hpp"
#include "base/process_set.hpp"
#include "detector/local/runtime_witness.hpp"
#include "framework/reporting/repeated_deaths.hpp"
#include "framework/recovery_report.hpp"
#include "spares/roster.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// Ranks that have asked for a recovery without having met a failure: whether there are any, and their numbers in
/// ascending order, as far as they are known.
struct Request {
  bool by_any = false;
  std::vector<Rank> ranks{};
};

/// Returns the line for a recovery: "rank 1: process 1 died (SIGKILL), process 4 took over; the ranks are complete
/// after 6.5 ms; 1 spare is left". `spares_left`: nothing in a job that had no spares. Pure.
std::string describe_recovery(const RecoveryReport& report, std::optional<std::size_t> spares_left,
                              const CauseOf& cause_of, const Request& request = {});

/// The number of ranks with which a job begins, and the number that it was to have.
struct RanksAtStart {
  int there = 0;
  int wanted = 0;
};

/// Returns "process 1 died (SIGKILL) before the job had begun; 1 spare is left". `spares_left`: as above. Pure.
std::string describe_losses_at_start(std::span<const ProcessId> dead, RanksAtStart ranks,
                                     std::optional<std::size_t> spares_left, const CauseOf& cause_of);

/// Returns "; rank 1 has died 2 times in a row of SIGSEGV with no commit in between: ..."; empty without a repeated
/// death. Pure.
std::string describe_repeated(const std::optional<RepeatedDeath>& repeated);

/// Returns " (SIGKILL)"; empty if the cause is not known. Pure.
std::string in_brackets(const DeathCause& cause);

class Announcer {
 public:
  /// Listens to `witness` until this object is destroyed. `had_spares`: the job had spares at its start. At most one
  /// object in a process.
  Announcer(ProcessId self, RuntimeWitness& witness, bool had_spares);
  ~Announcer();
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

  /// Begins an epoch with these members, in the order in which they speak for all. Local.
  void enter(const Roster& roster, const std::vector<ProcessId>& members);
  /// Announces that the first epoch has begun without `dead`, whose places spares took, or with fewer ranks. The
  /// process that announces it waits a short while for the causes of their deaths, which the runtime may never report.
  /// Local.
  void tell_of_start(const ProcessSet& dead, RanksAtStart ranks);
  /// Announces a recovery. `before`: the recoveries before it with no commit in between. Local.
  void tell(const RecoveryReport& report, std::vector<RecoveryReport> before, const Request& request);
  /// Writes all lines that wait, after a short time at most. Call it at the end of the job. Local.
  void finish();

 private:
  struct Waiting {
    std::vector<ProcessId> dead;
    std::function<std::string()> say;
  };

  bool is_speaker() const;
  std::optional<std::size_t> spares_left() const;
  void note_lost_spares();
  void say_what_is_known();
  void say_all();
  void hear();

  const ProcessId self_;
  RuntimeWitness& witness_;
  const bool had_spares_;
  std::mutex mutex_;
  Roster roster_;
  std::vector<ProcessId> members_;
  std::vector<Waiting> waiting_;
  std::set<ProcessId> told_;
  bool over_ = false;
};

}  // namespace mend
