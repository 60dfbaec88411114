// What a process is told when it joins a job that is under way.

#pragma once

#include "agreement/service.hpp"
#include "detector/service.hpp"
#include "framework/process/failure_detector.hpp"
#include "framework/recovery/world.hpp"

#include <span>
#include <string>
#include <vector>

namespace mend {

/// How the job stands, and where to connect to it.
struct JoinInfo {
  World world;  ///< without communicators
  std::string port;
  agreement::GroupId last_group;
  std::string memories;
};

/// Of a world, what can be told.
struct JoinInfoWords {
  const World& world;
  const std::string& port;
  agreement::GroupId last_group;
  const std::string& memories;
};
std::string write_join_info(const JoinInfoWords& words);
/// What process `newcomer` is told. Throws EnvironmentError for what no job says to it: it names itself and processes
/// with smaller numbers only.
JoinInfo read_join_info(std::span<const std::byte> text, ProcessId newcomer);

std::string write_roster(const Roster& roster);
Roster read_roster(const std::string& text);

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
