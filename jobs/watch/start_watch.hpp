// Watches the start of a job, before its processes watch each other.
//
// Open MPI's MPI_Init waits for every process that was launched: if one dies or stops before it has met the others
// there, they wait without end. When all are introduced, the failure detector watches them. Until then the launcher
// watches those of its machine:
//
//   a process has died, and no new report comes for `stall`          -> the launch is ended and made anew: nothing has
//                                                                       been computed yet. If the others can go on
//                                                                       without the dead, their reports come sooner
//   a process has been stopped for `stopped` and others wait         -> it is killed, and is one that has died
//   not all are introduced `limit` after one has come to mend::run   -> the job is ended
//   none has come to mend::run `limit` after the launch              -> the user is told, once: the program may have
//                                                                       other work to do first

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace mend::jobs {

struct StartLimits {
  std::chrono::milliseconds limit{60'000};  ///< see usual_start_limit
  std::chrono::milliseconds stall{1'500};
  std::chrono::milliseconds stopped{1'000};
};

/// Returns the limit if the user gives none: a minute, or two seconds for each process of a core, if that is longer.
/// `cores`: of the machine that has all `processes`; nothing if they are on several machines. The start of 136
/// processes took 25 s on 2 cores, and that of 208 more than a minute. Pure.
std::chrono::seconds usual_start_limit(int processes, std::optional<int> cores);

/// The launcher's observations at one time.
struct StartView {
  bool begun = false;            ///< a process has reported that it starts MPI
  bool some_introduced = false;  ///< these processes may compute, and notice the deaths of others
  bool introduced = false;       ///< all living launched processes are introduced, or forked children in their place
  int lost = 0;                  ///< processes of this machine that have died
  std::vector<pid_t> stopped{};  ///< processes on this machine that are stopped and not introduced
  bool others_wait = false;      ///< some processes on this machine are not stopped
  std::size_t reports = 0;       ///< number of reports so far
};

class StartWatch {
 public:
  enum class Step { wait, over, launch_anew, give_up };
  struct Decision {
    Step step = Step::wait;
    std::vector<pid_t> kill{};
    bool tell_none_came = false;   ///< report that none has called mend::run; once
    std::size_t late_reports = 0;  ///< of give_up: the reports that came in the last quarter of the limit
  };

  explicit StartWatch(StartLimits limits) : limits_(limits) {}

  /// `now` never decreases, and is 0 at the launch. After any step other than `wait`, the watch is over. Pure except
  /// for its own state.
  Decision look(std::chrono::milliseconds now, const StartView& sight);

  /// The part of the limit in which a start that is only slow still makes progress.
  static constexpr int late_part = 4;

 private:
  std::size_t reports_after(std::chrono::milliseconds time) const;

  StartLimits limits_;
  std::size_t reports_ = 0;
  int lost_ = 0;
  std::chrono::milliseconds last_change_{0};
  std::map<std::chrono::milliseconds, std::size_t> reports_until_;  // their number, at the times when it grew
  std::optional<std::chrono::milliseconds> begun_at_;
  bool told_ = false;
  std::map<pid_t, std::chrono::milliseconds> stopped_;  // since when
};

}  // namespace mend::jobs
