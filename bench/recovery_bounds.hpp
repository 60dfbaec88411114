// Lower bounds of the time of a recovery, measured with the same machine and library, and without mend.

#pragma once

#include <string>
#include <vector>

namespace mend::bench {

/// Times in milliseconds, one for each sample.
struct RecoveryBounds {
  std::vector<double> exit{};       // from the kill of a process of the victim's size until its parent knows of it
  std::vector<double> revoke{};     // until the last process has left the call that waits
  std::vector<double> agree{};      // MPIX_Comm_agree
  std::vector<double> shrink{};     // MPIX_Comm_shrink
  std::vector<double> split{};      // MPI_Comm_split of what that has made
  std::vector<double> exchange{};   // MPI_Sendrecv of a rank's data, between two processes
  std::vector<double> touch_one{};  // one process touches as much fresh memory
  std::vector<double> touch_all{};  // all do, at once
};

/// In a job of as many processes as survive: measures all but `exit`, a few times, and writes the medians to `record`,
/// a line each. Returns the exit code.
int measure_bounds(int argc, char** argv, double mebibytes, const std::string& record);

/// Adds a sample of what measure_bounds has written. Throws std::runtime_error if something is missing there.
void add_sample(RecoveryBounds& bounds, const std::string& said);

/// The time in milliseconds from the SIGKILL of a process that has `bytes` of memory until its parent has waited for
/// it.
double time_of_exit(double bytes);

}  // namespace mend::bench
