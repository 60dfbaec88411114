// Watches a running job for `mend run`, by the reports of the processes and the kernel's data on those of this machine.
// It notices problems before the processes watch each other (start_watch.hpp) and after they have stopped doing so
// (end_watch.hpp).

#pragma once

#include "base/clock.hpp"
#include "jobs/run/child.hpp"
#include "jobs/watch/end_watch.hpp"
#include "jobs/watch/status_reports.hpp"
#include "jobs/watch/start_watch.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace mend::jobs {

/// The watch on one launch.
class JobWatch {
 public:
  struct Settings {
    StartLimits start;
    std::chrono::milliseconds end{8'000};
    int processes = 0;      ///< number to be launched
    bool all_here = false;  ///< all on this machine
  };

  JobWatch(std::filesystem::path status_file, const Settings& settings);

  /// Looks once. Local; call it repeatedly while mpirun, the child in `own`, runs.
  Look look(const Children& own);

  /// The reports of the processes so far.
  const Reports& reports() const { return reports_; }
  /// Reads the last reports. Local.
  void read();

  /// Returns true if a process was lost before all were introduced, and the others could not continue. Nothing has been
  /// computed yet, so the launch may be repeated.
  bool lost_at_start() const { return lost_at_start_; }
  /// Returns true if a process was killed at the start because it was stopped.
  bool killed_at_start() const { return killed_at_start_; }
  /// Returns true if mpirun was stopped for long, and this was reported.
  bool told_of_stopped_mpirun() const { return mpirun_stopped_.told; }
  /// Returns the processes that this one has killed at the end.
  const std::set<pid_t>& killed_at_end() const { return killed_at_end_; }
  /// Returns the number of processes that had been lost when the job was given up because not all were introduced;
  /// nothing if processes may have been on other machines.
  std::optional<int> lost_at_limit() const { return lost_at_limit_; }
  /// Returns the number of reports in the last quarter of the time until then.
  std::size_t late_reports() const { return late_reports_; }

 private:
  void advance_clock();
  StartView see_start(pid_t child) const;
  EndView see_end() const;
  bool wanted(pid_t child);
  void tell_of_leftovers(const Children& own, bool over);
  void tell_of_stopped(pid_t mpirun);

  /// Processes that are stopped.
  struct Stopped {
    std::optional<std::chrono::milliseconds> since;
    bool told = false;
  };
  bool is_to_tell(Stopped& stopped, bool now) const;

  std::filesystem::path status_file_;
  Settings settings_;
  std::string machine_;
  Reports reports_;
  std::uintmax_t read_size_ = 0;
  Clock::time_point last_look_;
  std::chrono::milliseconds now_{0};
  std::optional<StartWatch> start_;
  EndWatch end_;
  bool lost_at_start_ = false;
  bool killed_at_start_ = false;
  std::set<pid_t> killed_at_end_;
  std::optional<int> lost_at_limit_;
  std::size_t late_reports_ = 0;
  bool had_processes_ = false;
  std::optional<std::chrono::milliseconds> over_since_;
  bool told_of_leftovers_ = false;
  Stopped mpirun_stopped_;
  Stopped all_stopped_;
};

}  // namespace mend::jobs
