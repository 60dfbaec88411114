#include "apps/common/report.hpp"

#include "apps/common/field_hash.hpp"
#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "base/telemetry/microseconds.hpp"
#include "framework/reporting/result_file.hpp"

#include <fmt/format.h>

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

namespace apps {
namespace {

const char* role_text(mend::Role role) {
  switch (role) {
    case mend::Role::initial: return "initial";
    case mend::Role::survivor: return "survivor";
    case mend::Role::newcomer: return "newcomer";
  }
  std::abort();
}

Json recovery_document(const mend::RecoveryReport& recovery) {
  Json document;
  document["epoch"] = recovery.epoch.value;
  document["dead"] = Json::array();
  for (const mend::ProcessId process : recovery.dead) document["dead"].push_back(process.value);
  document["replacements"] = Json::array();
  for (const mend::Replacement& replacement : recovery.replacements) {
    document["replacements"].push_back(
        {{"rank", replacement.rank.value}, {"dead", replacement.dead.value}, {"newcomer", replacement.newcomer.value}});
  }
  document["given_up"] = Json::array();
  for (const mend::LostRank& loss : recovery.given_up) {
    document["given_up"].push_back({{"rank", loss.rank.value}, {"dead", loss.dead.value}});
  }
  document["noticed_us"] = mend::in_microseconds(recovery.noticed).count();
  document["interrupt_ms"] = recovery.interrupt.count();
  document["agree_ms"] = recovery.agree.count();
  document["rebuild_ms"] = recovery.rebuild.count();
  document["restore_ms"] = recovery.restore.count();
  document["rounds"] = recovery.rounds;
  return document;
}

/// Returns the processes whose deaths caused this recovery: those that held a rank, or else all. A dead spare may have
/// died long before.
std::vector<mend::ProcessId> causes_of(const mend::RecoveryReport& recovery) {
  std::vector<mend::ProcessId> causes;
  for (const mend::Replacement& replacement : recovery.replacements) causes.push_back(replacement.dead);
  for (const mend::LostRank& loss : recovery.given_up) causes.push_back(loss.dead);
  return causes.empty() ? recovery.dead : causes;
}

/// Returns the time from the first kill that this recovery repaired until the reporting process noticed it. Returns
/// nothing if no kill of it is recorded (the death had another cause), or if one was timed by another machine's clock.
/// If the recovery began for another reason while the kill was on its way, the time is 0.
std::optional<mend::Milliseconds> detection_time(const mend::RecoveryReport& recovery, const Json& kills) {
  const auto causes = causes_of(recovery);
  std::optional<std::chrono::microseconds> first;
  for (const Json& kill : kills) {
    const mend::ProcessId process{kill.at("process").get<std::uint32_t>()};
    if (std::find(causes.begin(), causes.end(), process) == causes.end()) continue;
    if (kill.value("machine", recovery.machine) != recovery.machine) return std::nullopt;
    const std::chrono::microseconds time(kill.at("time_us").get<long long>());
    first = std::min(first.value_or(time), time);
  }
  if (!first) return std::nullopt;
  return std::max(mend::in_microseconds(recovery.noticed) - *first, std::chrono::microseconds(0));
}

Json recoveries_document(const RunFacts& facts) {
  Json document = Json::array();
  for (const mend::RecoveryReport& recovery : facts.recoveries) document.push_back(recovery_document(recovery));
  return document;
}

/// As seen by the rank for which each took longest. Under local rollback as seen by this one: a process that goes back
/// alone knows of more recoveries than those had happened that have sent their messages already, and what is sent must
/// not depend on failures.
std::vector<mend::RecoveryReport> recoveries_of(const mend::Session& session) {
  const auto own = session.recoveries();
  if (session.rollback() == mend::Rollback::local) return {own.begin(), own.end()};
  return mend::over_all_ranks(own, session.comm());
}

}  // namespace

RunFacts facts_of(const mend::Session& session) {
  return {.rank = session.origin(),
          .process = session.process(),
          .ranks = session.size(),
          .epoch = session.epoch(),
          .role = session.role(),
          .recoveries = recoveries_of(session),
          .version = session.store().version(),
          .store = session.store().statistics()};
}

Json result_document(const RunFacts& facts, const CommonOptions& options, const Outcome& outcome, const Json& kills) {
  Json document;
  document["app"] = outcome.app;
  document["problem"] = outcome.problem;
  document["ranks"] = facts.ranks;
  document["spares"] = options.mend.spares;
  document["steps"] = options.steps;
  document["field_hash"] = hash_text(outcome.field_hash);
  document["norms"] = outcome.norms;

  document["recoveries"] = recoveries_document(facts);
  for (std::size_t i = 0; i < facts.recoveries.size(); ++i) {
    const auto detect = detection_time(facts.recoveries[i], kills);
    document["recoveries"][i]["detect_ms"] = detect ? Json(detect->count()) : Json(nullptr);
  }
  document["kills"] = kills;

  document["phase_seconds"] = Json::object();
  for (const auto& [phase, time] : outcome.phases) document["phase_seconds"][phase] = time.count();
  document["phase_seconds"]["commit"] = facts.store.commit_time.count();
  document["phase_seconds"]["restore"] = facts.store.restore_time.count();
  document["commits"] = facts.version.value;
  document["timed_commits"] = facts.store.commits;  // those of phase_seconds: of this process
  document["snapshot_bytes"] = facts.store.snapshot_bytes;
  return document;
}

Json evidence_document(const RunFacts& facts, const Outcome& outcome) {
  Json document;
  document["app"] = outcome.app;
  document["rank"] = facts.rank.value;
  document["process"] = facts.process.value;
  document["epoch"] = facts.epoch.value;
  document["role"] = role_text(facts.role);
  document["field_hash"] = hash_text(outcome.field_hash);
  document["norms"] = outcome.norms;
  document["recoveries"] = recoveries_document(facts);
  document["commits"] = facts.version.value;
  return document;
}

Json read_kills(const std::filesystem::path& record) {
  Json kills = Json::array();
  std::ifstream lines(record);
  for (std::string line; std::getline(lines, line);) kills.push_back(Json::parse(line));
  return kills;
}

void write_whole(const std::filesystem::path& file, std::string_view text) {
  try {
    mend::write_whole(file, text);
  } catch (const mend::EnvironmentError& error) {
    throw mend::EnvironmentError(fmt::format("{} cannot be written: {}", file.string(), error.what()));
  }
}

void write_reports(const mend::Session& session, const CommonOptions& options, const Outcome& outcome) {
  const RunFacts facts = facts_of(session);
  if (!options.evidence.empty()) {
    const auto file = options.evidence / fmt::format("rank-{}.json", facts.rank.value);
    write_whole(file, evidence_document(facts, outcome).dump(2) + "\n");
  }
  if (!options.result.empty() && session.rank() == mend::Rank{0}) {
    const Json kills = read_kills(kill_record(options.result));
    write_whole(options.result, result_document(facts, options, outcome, kills).dump(2) + "\n");
  }
}

void print_summary(const mend::Session& session, const Outcome& outcome) {
  const RunFacts facts = facts_of(session);
  if (session.rank() != mend::Rank{0}) return;
  for (const mend::RecoveryReport& recovery : facts.recoveries) {
    fmt::print("{}: {}\n", outcome.app, recovery.to_string());
  }
  for (const auto& [name, value] : outcome.norms.items()) fmt::print("{}: {} {}\n", outcome.app, name, value.dump());
  fmt::print("{}: field hash {}\n", outcome.app, hash_text(outcome.field_hash));
  std::fflush(stdout);
}

}  // namespace apps
