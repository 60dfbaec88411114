// Watches the end of a job, after its processes have agreed on it and no longer watch each other.
//
// A process that stops or hangs now, in MPI_Finalize for instance, would keep mpirun waiting without end although the
// result exists. So the launcher kills processes of its machine that linger. After `limit` it kills those that are
// stopped, because the others may only be waiting for them. After the same time again, or if none is stopped, it kills
// all that linger. If mpirun has not ended after the same time once more, processes on other nodes linger, and the
// launcher makes mpirun end them.
//
// A program may take any time after mend's part: a process there counts as lingering only if it is stopped. After
// `limit` the user is told, once, that the launcher waits for it.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <vector>

namespace mend::jobs {

/// The launcher's observations at one time.
struct EndView {
  bool agreed = false;             ///< all running processes of this machine have agreed on the end
  std::vector<pid_t> stopped{};    ///< on this machine
  std::vector<pid_t> lingering{};  ///< on this machine, still in mend's part, and not stopped
  std::vector<pid_t> working{};    ///< on this machine, in the program's own part
};

class EndWatch {
 public:
  struct Decision {
    std::vector<pid_t> kill{};
    std::vector<pid_t> tell{};  ///< processes to report as still running; once
    bool end_job = false;
  };

  explicit EndWatch(std::chrono::milliseconds limit) : limit_(limit) {}

  /// `now` never decreases. Pure except for its own state.
  Decision look(std::chrono::milliseconds now, const EndView& sight);

 private:
  std::vector<pid_t> overdue(std::chrono::milliseconds now, const std::vector<pid_t>& processes) const;

  std::chrono::milliseconds limit_;
  std::map<pid_t, std::chrono::milliseconds> since_;  // of processes that linger or are stopped
  std::optional<std::chrono::milliseconds> killed_;   // when a process was last killed
  std::optional<std::chrono::milliseconds> working_since_;
  bool told_ = false;
};

}  // namespace mend::jobs
