#include "jobs/report/page.hpp"

#include "base/error.hpp"
#include "base/telemetry/json_text.hpp"
#include "jobs/report/page_parts.hpp"
#include "jobs/report/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace mend::jobs {
namespace {

using nlohmann::json;

json rows_of(const Timeline& timeline) {
  json rows = json::array();
  for (const Row& row : timeline.rows) {
    rows.push_back({{"name", row.name}});
    if (row.rank) rows.back()["rank"] = *row.rank;
    if (row.process) rows.back()["process"] = *row.process;
  }
  return rows;
}

json bars_of(const Timeline& timeline) {
  json columns;
  for (const char* column : {"row", "kind", "process", "begin", "length", "number"}) columns[column] = json::array();
  for (const Bar& bar : timeline.bars) {
    columns["row"].push_back(bar.row);
    columns["kind"].push_back(static_cast<int>(bar.kind));
    columns["process"].push_back(bar.process);
    columns["begin"].push_back(bar.begin);
    columns["length"].push_back(bar.length);
    columns["number"].push_back(bar.number);
  }
  return columns;
}

json commits_of(const Timeline& timeline) {
  json commits = json::array();
  for (const Commit& commit : timeline.commits) {
    commits.push_back(
        {{"version", commit.version}, {"begin", commit.begin}, {"cost", commit.cost}, {"bytes", commit.bytes}});
  }
  return commits;
}

json kind_names() {
  json all = json::array();
  for (int kind = 0; kind < kinds; ++kind) all.push_back(name_of(static_cast<Kind>(kind)));
  return all;
}

/// The recoveries of all launches, each with the number of its launch if it is not the first.
json recoveries_of_launches(const json& result) {
  json all = json::array();
  for_each_launch(result, [&all](const json& launch, int number) {
    for (json recovery : launch.at("recoveries")) {
      if (number > 1) recovery["launch"] = number;
      all.push_back(std::move(recovery));
    }
  });
  return all;
}

/// The recoveries with the columns of the text table, under the names that the page uses. They are numbered from 1,
/// over all launches: epochs begin again in each launch.
json recoveries_of(const JobRecords& job, const Timeline& timeline) {
  json recoveries =
      job.result.is_object() ? recoveries_of_launches(with_rollbacks(job.result, timeline)) : timeline.recoveries;
  int number = 0;
  for (json& recovery : recoveries) {
    recovery["number"] = ++number;
    const RecoveryLine line = recovery_line(recovery);
    const int launch = number_of_launch(recovery);
    recovery["who"] = (launch > 1 ? fmt::format("launch {}: ", launch) : "") + line.died;
    recovery["phases"] = line.phases;
    recovery["sum_ms"] = line.sum;
    if (const auto local = rollback_line(recovery)) {
      recovery["local"]["who"] = local->back;
      if (local->again) recovery["local"]["again"] = *local->again;
      recovery["local"]["kept"] = local->kept;
      recovery["local"]["logged"] = local->logged;
      recovery["local"]["most_logged"] = local->most_logged;
    }
  }
  return recoveries;
}

/// Returns how the failed launches have ended, and what the traces lack.
json ends_of(const JobRecords& job) {
  const json& result = job.result;
  json ends = job.gaps;
  if (!result.is_object()) return ends;
  for_each_launch(result, [&](const json& launch, int number) {
    const std::string end = end_of_job(launch);
    if (!end.empty()) ends.push_back(result.contains("launches") ? fmt::format("launch {} {}", number, end) : end);
  });
  return ends;
}

/// The commit costs of all launches. Without a timeline, from the sums in the result.
CommitEconomy economy_of(const JobRecords& job) {
  if (job.timeline) return job.timeline->economy();
  CommitEconomy economy{};
  for_each_launch(job.result, [&](const json& launch, int) {
    const json seconds = launch.value("phase_seconds", json::object());
    economy.run_time += Seconds(seconds.value("total", 0.0));
    economy.commits += static_cast<std::uint64_t>(timed_commits(launch, "it"));
    economy.commit_time += Seconds(seconds.value("commit", 0.0));
    economy.failures += launch.value("recoveries", json::array()).size();
  });
  economy.mtbf = mtbf_of(std::nullopt, economy.run_time, economy.failures);
  return economy;
}

/// The values as text, because JavaScript's numbers are doubles.
json reported_in(const json& result) {
  json reported = result.is_object() ? result.value("reported", json::object()) : json::object();
  for (json& value : reported)
    if (!value.is_string()) value = value.dump();
  return reported;
}

/// Escapes the JSON, so that text of the application cannot end the script element.
std::string for_script(const json& model) {
  std::string text = json_text(model);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

namespace {

void add_rollbacks(json& recoveries, int launch, const Timeline& timeline) {
  for (json& recovery : recoveries) {
    const auto same = std::ranges::find_if(timeline.recoveries, [&](const json& other) {
      return other.at("epoch") == recovery.value("epoch", 0) && number_of_launch(other) == launch;
    });
    if (same != timeline.recoveries.end() && same->contains("local")) recovery["local"] = same->at("local");
  }
}

}  // namespace

json with_rollbacks(json result, const Timeline& timeline) {
  if (result.contains("launches")) {
    for (json& launch : result["launches"]) add_rollbacks(launch.at("recoveries"), number_of_launch(launch), timeline);
  }
  add_rollbacks(result.at("recoveries"), number_of_launch(result), timeline);
  return result;
}

json as_result(const std::string& name, const Timeline& timeline) {
  return {{"app", name}, {"ranks", timeline.ranks}, {"recoveries", timeline.recoveries}};
}

namespace {

json model_of(const JobRecords& job) {
  const Timeline none;
  const Timeline& timeline = job.timeline ? *job.timeline : none;
  const CommitEconomy economy = economy_of(job);
  json model{{"name", job.name},
             {"ranks", job.result.is_object() ? job.result.at("ranks") : json(timeline.ranks)},
             {"origin_us", timeline.origin_us},
             {"length", timeline.length},
             {"kinds", kind_names()},
             {"rows", rows_of(timeline)},
             {"bars", bars_of(timeline)},
             {"recoveries", recoveries_of(job, timeline)},
             {"phases", phase_names()},
             {"commits", commits_of(timeline)},
             {"economy",
              {{"run_s", economy.run_time.count()},
               {"commits", economy.commits},
               {"commit_s", economy.commit_time.count()},
               {"advice", economy.to_string()}}},
             {"ends", ends_of(job)},
             {"reported", reported_in(job.result)}};
  if (job.timeline) {
    model["processes"] = timeline.processes;
    model["spares"] = timeline.spares;
    model["deaths"] = timeline.deaths;
  }
  return model;
}

}  // namespace

json page_model(const JobRecords& job) {
  try {
    return model_of(job);
  } catch (const json::exception& error) {
    throw not_a_result("it", error);
  }
}

std::string page_of(const json& model) {
  std::string_view rest = page_part("page.html");
  std::string page;
  // The template refers to its parts in this form: {{page.css}}
  for (std::size_t begin = 0; (begin = rest.find("{{")) != std::string_view::npos;) {
    const std::size_t end = rest.find("}}", begin);
    const std::string_view name = rest.substr(begin + 2, end - begin - 2);
    page += rest.substr(0, begin);
    page += name == "model" ? for_script(model) : std::string(page_part(name));
    rest.remove_prefix(end + 2);
  }
  return page.append(rest);
}

}  // namespace mend::jobs
