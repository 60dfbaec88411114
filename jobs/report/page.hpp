// The page of `mend report --html`: one file that needs nothing else, with what is in jobs/report/page and the model as
// JSON. The model is made here and drawn there (jobs/report/page/timeline.js).

#pragma once

#include "jobs/report/timeline.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace mend::jobs {

/// What is known of a job: its traces, its result, or both.
struct JobRecords {
  std::string name;
  std::optional<Timeline> timeline;
  nlohmann::json result;  ///< null: none
};

/// All that the page shows. Bars are columns of equal length, times in it are microseconds since the beginning. The
/// recoveries are those of the result where there is one.
nlohmann::json page_model(const JobRecords& job);

/// The whole page.
std::string page_of(const nlohmann::json& model);

/// What `mend report` says of traces without a result, as a result that its table is made of.
nlohmann::json as_result(const std::string& name, const Timeline& timeline);

}  // namespace mend::jobs
