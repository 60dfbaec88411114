// The checks of mend doctor. They are independent of each other, and report problems as findings instead of throwing.

#pragma once

#include "jobs/doctor/finding.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace mend::jobs {

struct DoctorOptions {
  std::filesystem::path mpirun;       ///< empty: none was found
  std::string wrong_mpirun;           ///< what is wrong with the one that MEND_MPIRUN names
  std::filesystem::path programs;     ///< the folder of `mend` and of its helper programs
  bool reproduce = false;             ///< check_corrections() tries them, instead of looking for them
  int processes = 4;                  ///< of the intended job on this machine
  double heartbeat_ms = 100;          ///< --mend-heartbeat
  double timeout_ms = 1000;           ///< --mend-timeout
  std::chrono::seconds patience{60};  ///< time limit of each test job
};

/// Check the MPI library, mend's corrections to it, and small test jobs (jobs/doctor/job_checks.cpp).
Findings check_mpi(const DoctorOptions& options);
Findings check_corrections(const DoctorOptions& options);
/// Loses a process and recovers with a spare. Also reports on agreement, wake-up delays, and the libraries loaded.
Findings check_recovery(const DoctorOptions& options);
Findings check_spawn(const DoctorOptions& options);
/// Commits to a folder and checks that the version is there.
Findings check_disk(const DoctorOptions& options);
Findings check_kokkos(const DoctorOptions& options);

/// Check the machine (jobs/doctor/machine_checks.cpp).
Findings check_limits(const DoctorOptions& options);
Findings check_network();
Findings check_clock();
Findings check_scheduler();

/// The shortest heartbeat period and time-out for a machine with this wake-up delay. The ring may not be faster than
/// four delays, and a time-out should allow for the loss of some heartbeats. Pure.
struct HeartbeatFloor {
  double heartbeat_ms;
  double timeout_ms;
};
HeartbeatFloor heartbeat_floor(double wake_up_ms);
Finding judge_heartbeat(double wake_up_ms, double heartbeat_ms, double timeout_ms);

}  // namespace mend::jobs
