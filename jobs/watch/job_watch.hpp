// What `mend run` looks at while a job runs: what the processes report, and what the kernel says of those of this
// machine. It notices what nobody else does: what goes wrong before the processes watch each other (start_watch.hpp)
// and after they have stopped to (end_watch.hpp).

#pragma once

#include "base/clock.hpp"
#include "jobs/run/child.hpp"
#include "jobs/watch/end_watch.hpp"
#include "jobs/report/reports.hpp"
#include "jobs/watch/start_watch.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace mend::jobs {

/// Of one launch.
class JobWatch {
 public:
  struct Settings {
    StartLimits start;
    std::chrono::milliseconds end{8'000};
    int processes = 0;      ///< to be launched
    bool all_here = false;  ///< on this machine
  };

  JobWatch(std::filesystem::path status_file, const Settings& settings);

  /// Local; called again and again while mpirun, which is process `child`, runs.
  Look look(pid_t child);

  /// What the processes have said so far.
  const Reports& reports() const { return reports_; }
  /// Reads the last of it. Local.
  void read();

  /// Whether a process was lost before all were introduced, and the others could not go on: a launch like that may be
  /// made anew, for nothing has been computed.
  bool lost_at_start() const { return lost_at_start_; }
  /// Whether it stood still there, and was killed for that.
  bool killed_at_start() const { return killed_at_start_; }
  /// Those that this one has killed at the end.
  const std::set<pid_t>& killed_at_end() const { return killed_at_end_; }
  /// How many had been lost when the job was given up because not all were introduced; nothing if others may have been
  /// on other machines.
  std::optional<int> lost_at_limit() const { return lost_at_limit_; }

 private:
  void advance_clock();
  StartSight see_start(pid_t child) const;
  EndSight see_end() const;
  bool wanted(pid_t child);
  void tell_of_leftovers(pid_t child, bool over);

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
  bool had_processes_ = false;
  std::optional<std::chrono::milliseconds> over_since_;
  bool told_of_leftovers_ = false;
};

}  // namespace mend::jobs
