// The requests of `mend run` to the running job: to leave in time, or to write a version to disk
// (framework/commits/outside_requests.hpp).

#pragma once

#include "base/clock.hpp"
#include "base/telemetry/job_board.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace mend::jobs {

/// The requests to one launch.
class JobRequests {
 public:
  /// The data known about the job before its processes have begun.
  struct Expected {
    bool is_here = true;         ///< some of its processes run on this machine
    bool heeds_sigterm = false;  ///< by its options, SIGTERM is a request to leave
  };

  /// `leave_at`: when the job is asked to leave, if at all. `board` must outlive this object.
  JobRequests(board::Board& board, std::optional<Clock::time_point> leave_at, Expected expected)
      : board_(board), leave_at_(leave_at), expected_(expected) {}

  /// Asks the job to leave if it is time. If no process is here to see a request, mpirun passes it on, again and again,
  /// because processes may begin late. Local; call it repeatedly while mpirun runs.
  void look(pid_t mpirun);
  /// Returns true if `signal`, which was sent to this process, has become a request. It is then not passed on to
  /// mpirun. Local.
  bool heed(int signal);
  /// Returns false if no process of the job has seen the request yet. Local.
  bool ask_to_leave(board::Leave why);
  /// Returns true if no process of the job runs on this machine, but mpirun can ask others to leave. Local. If some
  /// will run here, the request waits for them: as long as its daemons on other nodes are not connected, mpirun ends
  /// the job on a signal that it cannot pass on.
  bool is_passed_on() const { return !expected_.is_here && board_.slots().empty(); }
  bool ask_for_version();
  /// Asks for the state of processes on other machines. Returns the number of the look; 0 if no process is here that
  /// could ask them. Local.
  std::uint32_t ask_for_look();

  /// Returns true if a process of the job that handles requests is on this machine. Local.
  bool is_heard() const;
  /// Returns the state of the job's checkpoints on disk, from the processes that have begun. Local.
  DiskUse disk() const;
  /// Returns true if the job was asked to leave.
  bool leaves() const;

 private:
  board::Board& board_;
  std::optional<Clock::time_point> leave_at_;
  Expected expected_;
  std::optional<Clock::time_point> passed_on_at_;
  std::optional<Clock::time_point> signalled_at_;
  bool heeds_ = false;  ///< the first SIGTERM has become a request
};

}  // namespace mend::jobs
