// What a process is told when it joins a job that is under way.

#pragma once

#include "agreement/service.hpp"
#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "detector/service.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/world.hpp"
#include "framework/recovery_report.hpp"
#include "spares/roster.hpp"

#include <span>
#include <string>
#include <vector>

namespace mend {

/// What has happened in the job, and what its present recovery has come to.
struct JobRecord {
  int first_size = 0;                      ///< how many ranks the job had at its start
  Version committed;                       ///< there is this version, or a newer one; Version{0} before the first
  std::vector<NodeId> places;              ///< where processes are started, the best machine first
  std::vector<RecoveryReport> recoveries;  ///< as the process that tells them saw them
  Roster before;                           ///< the roster with which the present recovery began
  ProcessSet dead;                         ///< the processes whose death is agreed on in it
  int fruitless = 0;                       ///< recoveries in a row with no commit in between, this one included
};

/// How the job stands, and where to connect to it.
struct JoinInfo {
  World world;  ///< without communicators
  std::string port;
  agreement::GroupId last_group;
  JobRecord record;
};

/// Of a world, what can be told.
struct JoinInfoWords {
  const World& world;
  const std::string& port;
  agreement::GroupId last_group;
  const JobRecord& record;
};
std::string write_join_info(const JoinInfoWords& words);
/// Reads what process `newcomer` is told. Throws EnvironmentError for what no job says to it: all processes it names
/// have smaller numbers than `newcomer`.
JoinInfo read_join_info(std::span<const std::byte> text, ProcessId newcomer);

/// Who is in the job, how they stand, and which of them says so.
struct Acquaintances {
  std::vector<Acquaintance> all;
  Standing standing;
  ProcessId host;
};
std::vector<std::byte> write_acquaintances(const std::vector<Acquaintance>& all, Standing standing, ProcessId host);
/// What process `newcomer` is told. Throws EnvironmentError for what no job says to it: all have smaller numbers, and
/// the host is among them.
Acquaintances read_acquaintances(std::span<const std::byte> bytes, ProcessId newcomer);

/// Returns true if a newcomer that has called as `process`, and is `identity`, may introduce itself by `who`.
bool introduces(const Acquaintance& who, ProcessId process, const detector::LocalIdentity& identity);

}  // namespace mend
