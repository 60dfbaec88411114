// The result file that a job leaves (mend run --result, or the mini-apps' own --result): reading it, telling what
// happened in the run, and comparing two runs.

#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace mend::jobs {

/// Reads a result file. Local. Throws UsageError when it cannot be read or is no result.
nlohmann::json read_result(const std::filesystem::path& file);

/// What happened, for people: a line on the run, and a table with a line for each recovery, phases in milliseconds.
std::string timeline(const nlohmann::json& result);

/// A recovery of a result, as the table has it.
struct RecoveryLine {
  std::string died;                        ///< "rank 2, process 5"
  std::map<std::string, double> phases{};  ///< in milliseconds, of those that are known: "agree"; see phase_names()
  double sum = 0;                          ///< of these, which are rounded so that it is exact
};
RecoveryLine recovery_line(const nlohmann::json& recovery);
/// In the order in which they follow each other.
std::vector<std::string> phase_names();

/// What `result` and `reference` do not have in common although they should: ranks, the hash of the answer, all that
/// the program has reported, to the last bit; of the mini-apps' own results, problem, steps, the field's hash and the
/// norms. Empty when they agree. Who died, and how long anything took, is no difference.
std::vector<std::string> differences(const nlohmann::json& result, const nlohmann::json& reference);

}  // namespace mend::jobs
