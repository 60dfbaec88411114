// The reports of a run: the result file of rank 0, and the evidence of every rank that finished.

#pragma once

#include "apps/common/command_line.hpp"
#include "base/clock.hpp"
#include "framework/session.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apps {

using Json = nlohmann::ordered_json;

/// The application's part of a report.
struct Outcome {
  std::string app;
  Json problem;                                               ///< sizes and parameters: {"nx": 64, ...}
  std::uint64_t field_hash = 0;                               ///< FieldHash::total
  Json norms;                                                 ///< {"error_l2": ..., ...}; must not depend on failures
  std::vector<std::pair<std::string, mend::Seconds>> phases;  ///< as rank 0 measured them
};

/// mend's part of a report. Each recovery is as seen by the rank for which it took longest, under local rollback by
/// this process, as is everything else.
struct RunFacts {
  mend::Rank rank;
  mend::ProcessId process;
  int ranks = 0;
  mend::Epoch epoch;
  mend::Role role = mend::Role::initial;
  std::vector<mend::RecoveryReport> recoveries;
  mend::Version version;
  mend::StoreStatistics store;
};
/// Collective over the session's ranks.
RunFacts facts_of(const mend::Session& session);

/// Writes the files requested by `options`. Collective over the session's ranks, after they have finished. Throws
/// mend::EnvironmentError if a file cannot be written.
void write_reports(const mend::Session& session, const CommonOptions& options, const Outcome& outcome);

/// Prints in a few lines how the run ended. Rank 0 prints; collective over the session's ranks.
void print_summary(const mend::Session& session, const Outcome& outcome);

/// Returns the content of the result file: the outcome, the recoveries, `kills` (as KillSwitch recorded them) and the
/// cost of fault tolerance. Each recovery's detect_ms is the time from the first of its kills until the rank that
/// reports the recovery knew of it.
Json result_document(const RunFacts& facts, const CommonOptions& options, const Outcome& outcome, const Json& kills);

/// Returns one rank's evidence: its identity, its role, and its value of the field's hash.
Json evidence_document(const RunFacts& facts, const Outcome& outcome);

/// Returns the orders that were obeyed, as KillSwitch recorded them: an array; empty if there is no such file.
Json read_kills(const std::filesystem::path& record);

/// Writes a file so that others see it completely or not at all. Throws mend::EnvironmentError.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace apps
