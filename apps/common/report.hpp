// What a run says about itself: the result file of rank 0, and the evidence of every rank that finished.

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

/// What the application has to say.
struct Outcome {
  std::string app;
  Json problem;                                               ///< sizes and parameters: {"nx": 64, ...}
  std::uint64_t field_hash = 0;                               ///< FieldHash::total
  Json norms;                                                 ///< {"error_l2": ..., ...}; must not depend on what died
  std::vector<std::pair<std::string, mend::Seconds>> phases;  ///< as rank 0 measured them
};

/// What mend has to say: of each recovery as the rank saw it for which it took longest, otherwise as this process saw
/// it.
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

/// Writes the files that `options` ask for. Collective over the session's ranks, once they have finished. Throws
/// mend::EnvironmentError when a file cannot be written.
void write_reports(const mend::Session& session, const CommonOptions& options, const Outcome& outcome);

/// Says in a few lines how the run ended. Rank 0 speaks; collective over the session's ranks.
void print_summary(const mend::Session& session, const Outcome& outcome);

/// The result file's content: the outcome, the recoveries, `kills` (as KillSwitch recorded them) and what fault
/// tolerance cost. Each recovery's detect_ms is the time from the first of its kills to when the rank knew whose time
/// line it is.
Json result_document(const RunFacts& facts, const CommonOptions& options, const Outcome& outcome, const Json& kills);

/// One rank's evidence: who it is, how it came here, and what it holds to be the field's hash.
Json evidence_document(const RunFacts& facts, const Outcome& outcome);

/// The orders that were obeyed, as KillSwitch recorded them: an array; empty when there is no such file.
Json read_kills(const std::filesystem::path& record);

/// Writes a file so that others see it whole or not at all. Throws mend::EnvironmentError.
void write_whole(const std::filesystem::path& file, std::string_view text);

}  // namespace apps
