// The end of a job, when its processes have agreed on it and nobody watches anybody any more.
//
// A process that stops or hangs now, in MPI_Finalize for instance, would keep mpirun waiting for ever though the
// result is there. So the launcher kills those of its machine that linger: after `limit` those that are stopped, for
// which the others may only be waiting, and after the same time again, or if none is stopped, all. If mpirun has not
// ended after the same time once more, processes on other nodes linger: the launcher has mpirun end them.
//
// What a program does after mend's part in it is its own, and takes as long as it takes: such a process lingers only
// if it is stopped. After `limit` it is told, once, that the launcher waits for it.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <vector>

namespace mend::jobs {

/// What the launcher sees at a look.
struct EndSight {
  bool agreed = false;             ///< on the end; all of this machine that run have come to it
  std::vector<pid_t> stopped{};    ///< of this machine
  std::vector<pid_t> lingering{};  ///< of this machine, in mend's part still; those that are stopped not among them
  std::vector<pid_t> working{};    ///< of this machine, about the program's own business
};

class EndWatch {
 public:
  struct Decision {
    std::vector<pid_t> kill{};
    std::vector<pid_t> tell{};  ///< that these go on; once
    bool end_job = false;
  };

  explicit EndWatch(std::chrono::milliseconds limit) : limit_(limit) {}

  /// `now` never decreases. Pure but for what it remembers.
  Decision look(std::chrono::milliseconds now, const EndSight& sight);

 private:
  std::vector<pid_t> overdue(std::chrono::milliseconds now, const std::vector<pid_t>& processes) const;

  std::chrono::milliseconds limit_;
  std::map<pid_t, std::chrono::milliseconds> since_;  // of those that linger or are stopped
  std::optional<std::chrono::milliseconds> killed_;   // when the last was
  std::optional<std::chrono::milliseconds> working_since_;
  bool told_ = false;
};

}  // namespace mend::jobs
