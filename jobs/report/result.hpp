// The result file that a job writes (mend run --result, or the mini-apps' own --result): reads it, describes the run,
// and compares two runs.

#pragma once

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

/// Reads a result file. Local. Throws UsageError if it cannot be read or is not a result.
nlohmann::json read_result(const std::filesystem::path& file);

/// Returns the exception for a field of `file` that is missing or of another type, or wrong for this `reason`.
UsageError not_a_result(const std::string& file, const nlohmann::json::exception& error);
UsageError not_a_result(const std::string& file, std::string_view reason);

/// Describes the run: for each launch a line, a table with a line for each recovery, phases in milliseconds, and how it
/// has ended if it has failed.
std::string timeline(const nlohmann::json& result);

/// Returns the number of the launch that a result, or a recovery, belongs to.
int number_of_launch(const nlohmann::json& result);

/// Calls `visit` for each launch of the job, in order, with its own part of the result and its number. A job that was
/// not launched anew (mend run --relaunch) has one launch, whose part is the whole result.
void for_each_launch(const nlohmann::json& result,
                     const std::function<void(const nlohmann::json& launch, int number)>& visit);

/// Returns the number of commits whose time is the phase "commit": those of the process that has written the result.
/// Results of before that number was written have all commits instead. Throws UsageError, which names `file`, if it is
/// not a whole number from 0 to 2^53.
double timed_commits(const nlohmann::json& result, const std::string& file);

/// "ended with exit code 3: REASON"; empty for a job, or a launch of it, that has finished.
std::string end_of_job(const nlohmann::json& result);

/// A recovery of a result, as a line of the table.
struct RecoveryLine {
  std::string died;                        ///< "rank 2, process 5"
  std::map<std::string, double> phases{};  ///< known phases in milliseconds: "agree"; see phase_names()
  double sum = 0;                          ///< the sum of the phases, which are rounded so that it is exact
};
RecoveryLine recovery_line(const nlohmann::json& recovery);

/// The effect of a recovery under local rollback, summed over the ranks.
struct RollbackLine {
  std::string back;                   ///< "rank 1", "rank 1, rank 3", "nobody"
  std::int64_t version = 0;           ///< to which they rolled back; 0: to the beginning
  std::optional<std::int64_t> again;  ///< steps that they compute again; only traces tell
  std::int64_t kept = 0;              ///< steps of the others, which they do not compute again
  std::int64_t logged = 0;            ///< bytes, of all ranks
  std::int64_t most_logged = 0;       ///< of one rank
};
/// Returns nothing if all ranks rolled back.
std::optional<RollbackLine> rollback_line(const nlohmann::json& recovery);
/// The names of the phases, in their order in time.
std::vector<std::string> phase_names();

/// Returns true if the result has an answer of the program that can be compared. Pure.
bool has_answer(const nlohmann::json& result);

/// Returns the differences between `result` and `reference` in fields that should be equal: the ranks, the hash of the
/// answer, all fields of the program, to the last bit; for the mini-apps' own results the problem, the steps, the
/// field's hash and the norms. Empty if they agree. Deaths and times are not compared.
std::vector<std::string> differences(const nlohmann::json& result, const nlohmann::json& reference);

}  // namespace mend::jobs
