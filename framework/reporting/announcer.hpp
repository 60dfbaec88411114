// Tells the user what happens in the job, when it happens: one line for each recovery and for each spare that is lost,
// by one process.
//
// How a process has died is told by the runtime, in a thread of its own and often later than that it has died. So a
// line waits until all that it names are accounted for, and is then said in that thread. What is never accounted for is
// said at the next recovery, or at the end.

#pragma once

#include "base/clock.hpp"
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

/// Whether ranks that had met no failure have asked for a recovery, and which, as far as it is known: ascending.
struct Request {
  bool by_any = false;
  std::vector<Rank> ranks{};
};

/// "rank 1: process 1 died (SIGKILL), process 4 took over; the ranks are complete after 6.5 ms; 1 spare is left".
/// `spares_left`: nothing in a job that had none. Pure.
std::string describe_recovery(const RecoveryReport& report, std::optional<std::size_t> spares_left,
                              const CauseOf& cause_of, const Request& request = {});

/// "; rank 1 has died 2 times in a row of SIGSEGV with no commit in between: ..."; empty for nothing. Pure.
std::string describe_repeated(const std::optional<RepeatedDeath>& repeated);

/// " (SIGKILL)"; empty when it is not known. Pure.
std::string in_brackets(const DeathCause& cause);

class Announcer {
 public:
  /// Listens to `witness` until it is destroyed. `had_spares`: the job, at its start. One in a process.
  Announcer(ProcessId self, RuntimeWitness& witness, bool had_spares);
  ~Announcer();
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

  /// An epoch begins: who is there, in the order in which they speak for all. Local.
  void enter(const Roster& roster, const std::vector<ProcessId>& members);
  /// This recovery has brought that about; `before`: those with no commit in between. Local.
  void tell(const RecoveryReport& report, std::vector<RecoveryReport> before, const Request& request);
  /// Says all that waits; after a short while at the most. At the end of the job. Local.
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
