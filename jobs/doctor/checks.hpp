// What mend doctor looks at. Each check is independent of the others and never throws for what it finds.

#pragma once

#include "jobs/doctor/finding.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace mend::jobs {

struct Patient {
  std::filesystem::path mpirun;       ///< empty: there is none
  std::filesystem::path programs;     ///< the folder of `mend` and of the small programs beside it
  int processes = 4;                  ///< that a job shall have on this machine
  double heartbeat_ms = 100;          ///< --mend-heartbeat
  double timeout_ms = 1000;           ///< --mend-timeout
  std::chrono::seconds patience{60};  ///< with each throw-away job
};

/// The library, mend's corrections to it, and jobs that are thrown away (jobs/doctor/job_checks.cpp).
Findings check_mpi(const Patient& patient);
Findings check_corrections(const Patient& patient);
/// Loses a process and recovers with a spare; so it also tells of agreement, wake-up delays, and libraries loaded.
Findings check_recovery(const Patient& patient);
Findings check_spawn(const Patient& patient);
/// Commits to a folder and finds the version there.
Findings check_disk(const Patient& patient);
Findings check_kokkos(const Patient& patient);

/// The machine (jobs/doctor/machine_checks.cpp).
Findings check_limits(const Patient& patient);
Findings check_network();
Findings check_clock();
Findings check_scheduler();

/// What a machine whose processes wake up so late allows. The ring may not be faster than four such delays, and a
/// time-out should bear the loss of some heartbeats. Pure.
struct HeartbeatFloor {
  double heartbeat_ms;
  double timeout_ms;
};
HeartbeatFloor heartbeat_floor(double wake_up_ms);
Finding judge_heartbeat(double wake_up_ms, double heartbeat_ms, double timeout_ms);

}  // namespace mend::jobs
