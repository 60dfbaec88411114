// The data that a process gets when it joins a running job.

#pragma once

#include "agreement/service.hpp"
#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "detector/service.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/core/recovery_core.hpp"
#include "framework/recovery/epoch_state.hpp"
#include "framework/recovery_report.hpp"
#include "spares/roster.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// The history of the job and the state of its present recovery.
struct JobRecord {
  int first_size = 0;                      ///< the number of ranks of the job at its start
  Version committed;                       ///< this version or a newer one exists; Version{0} before the first
  std::vector<NodeId> places;              ///< the machines on which processes are started, the best first
  std::vector<RecoveryReport> recoveries;  ///< as the process that sends them saw them
  Roster before;                           ///< the roster with which the present recovery began
  ProcessSet dead;                         ///< the processes whose death is agreed on in this recovery
  int without_commit = 0;                  ///< recoveries in a row without a commit in between, this one included
  recovery::Row row;                       ///< the row of recoveries that the present one may continue
  ProcessSet unable;                       ///< members that could not start a process in this recovery
  ProcessSet started;                      ///< the processes that the present host has started in this recovery
  int rounds = 0;                          ///< how often communicators were made in this recovery
  std::uint32_t writes_done = 0;           ///< requests from outside for a version on disk that have been carried out
};

/// The state of the job, and the port to connect to.
struct JoinInfo {
  EpochState epoch_state;  ///< without communicators
  std::string port;
  agreement::GroupId last_group;
  JobRecord record;
};

/// The parts of an epoch state that can be sent.
struct JoinInfoWords {
  const EpochState& epoch_state;
  const std::string& port;
  agreement::GroupId last_group;
  const JobRecord& record;
};
std::string write_join_info(const JoinInfoWords& words);
/// Reads the join info for process `newcomer`. Throws EnvironmentError if it cannot come from the job: all processes in
/// it must have smaller numbers than `newcomer`.
JoinInfo read_join_info(std::span<const std::byte> text, ProcessId newcomer);

/// The processes of the job, their state, and the process that sends it.
struct DetectorPeers {
  std::vector<DetectorPeer> all;
  DetectorState state;
  ProcessId host;
};
std::vector<std::byte> write_peers(const std::vector<DetectorPeer>& all, DetectorState state, ProcessId host);
/// Reads the peers for process `newcomer`. Throws EnvironmentError if they cannot come from the job: all
/// processes must have smaller numbers, and the host must be among them.
DetectorPeers read_peers(std::span<const std::byte> bytes, ProcessId newcomer);

/// The message to a newcomer that it is in the job.
struct Admission {
  std::uint32_t step = 0;  ///< of the turn that all members have when they have settled
};
/// Reads the message. Throws EnvironmentError if it cannot come from the job.
Admission read_admission(std::span<const std::byte> bytes);

/// Returns true if a newcomer that has connected as `process` with `identity` may introduce itself as `who`.
bool introduces(const DetectorPeer& who, ProcessId process, const detector::LocalIdentity& identity);

}  // namespace mend
