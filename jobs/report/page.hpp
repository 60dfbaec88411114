// The page of `mend report --html`: one self-contained file, made of the files in jobs/report/page and the model as
// JSON. The model is made here and drawn there (jobs/report/page/timeline.js).

#pragma once

#include "jobs/report/timeline.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace mend::jobs {

/// The records of a job: its traces, its result, or both.
struct JobRecords {
  std::string name;
  std::optional<Timeline> timeline;
  nlohmann::json result;            ///< null if there is none
  std::vector<std::string> gaps{};  ///< what the traces lack, in sentences
};

/// The data that the page shows. Bars are columns of equal length; times are microseconds since the beginning. If there
/// is a result, the recoveries are taken from it.
nlohmann::json page_model(const JobRecords& job);

/// Returns the complete page.
std::string page_of(const nlohmann::json& model);

/// Returns `result` with the data of `timeline` on recoveries under local rollback, which is more than the result has.
nlohmann::json with_rollbacks(nlohmann::json result, const Timeline& timeline);

/// Converts a timeline to a result, for the table of `mend report` when there are only traces.
nlohmann::json as_result(const std::string& name, const Timeline& timeline);

}  // namespace mend::jobs
