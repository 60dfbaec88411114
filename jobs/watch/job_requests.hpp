// What `mend run` asks the job for while it runs: to leave in time, or to bring a version to disk
// (framework/commits/outside_requests.hpp).

#pragma once

#include "base/clock.hpp"
#include "base/telemetry/job_board.hpp"

#include <optional>

namespace mend::jobs {

/// Of one launch.
class JobRequests {
 public:
  /// `leave_at`: when the job is asked to leave, if it is. `board` outlives this.
  JobRequests(board::Board& board, std::optional<Clock::time_point> leave_at) : board_(board), leave_at_(leave_at) {}

  /// Asks the job to leave if it is time. Local; called again and again while the job runs.
  void look();
  /// Returns true if `signal`, which was sent to this process, has become a request: it is not for mpirun. Local.
  bool heed(int signal);
  /// Returns false if no process of the job is here, so that nobody hears of it. Local.
  bool ask_to_leave(board::Leave why);
  bool ask_for_version();

  /// Whether a process of the job that heeds requests is on this machine. Local.
  bool is_heard() const;
  /// Whether the job has a disk (--mend-disk), as far as it has begun. Local.
  bool has_disk() const;
  /// Whether it was asked to leave.
  bool leaves() const;

 private:
  board::Board& board_;
  std::optional<Clock::time_point> leave_at_;
  bool was_signalled_ = false;
};

}  // namespace mend::jobs
