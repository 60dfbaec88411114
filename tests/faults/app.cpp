#include "tests/faults/app.hpp"

#include "apps/common/kill_switch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>

namespace faults {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  return in ? json::parse(in) : json();
}

std::vector<json> read_json_lines(const std::filesystem::path& file) {
  std::vector<json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

constexpr std::string_view hang_word = "hang ";
bool hangs(const std::string& order) { return order.starts_with(hang_word); }
std::string plain(const std::string& order) { return hangs(order) ? order.substr(hang_word.size()) : order; }

std::vector<std::string> program_line(const App& app, const std::vector<std::string>& kills) {
  std::vector<std::string> line{app.program};
  line.insert(line.end(), app.arguments.begin(), app.arguments.end());
  for (const std::string& order : kills) line.insert(line.end(), {hangs(order) ? "--hang" : "--kill", plain(order)});
  if (std::any_of(kills.begin(), kills.end(), hangs)) {
    line.insert(line.end(), {"--mend-heartbeat", "50", "--mend-timeout", "600"});
  }
  return line;
}

bool obeys(const json& death, const apps::KillOrder& order) {
  if (!apps::matches_point(order.point, death.at("point").get<std::string>())) return false;
  if (const auto* process = std::get_if<mend::ProcessId>(&order.who)) return death.at("process") == process->value;
  return death.at("rank") == std::get<mend::Rank>(order.who).value;
}

/// The part of the evidence that must not depend on deaths.
json result_of(const json& evidence) {
  return {{"field_hash", evidence.at("field_hash")}, {"norms", evidence.at("norms")}};
}

/// The result of the run without deaths; computed once for each app in a process.
const json& undisturbed_result(const App& app) {
  static std::map<std::string, json> results;
  json& result = results[app.name];
  if (result.is_null()) {
    const Remains remains = run(app, {});
    if (remains.end.exit_code != 0 || remains.evidence.front().is_null()) {
      ADD_FAILURE() << app.name << " does not even end well when nobody dies:\n" << remains.end.errors;
      result = "none";
    } else {
      result = result_of(remains.evidence.front());
    }
  }
  return result;
}

}  // namespace

const App& stencil() {
  static const App app{"stencil", MEND_STENCIL, {"--size", "12", "--steps", "10", "--commit-every", "2"}};
  return app;
}

const App& minife() {
  static const App app{"minife", MEND_MINIFE, {"--nx", "6", "--steps", "10", "--commit-every", "2"}};
  return app;
}

App stencil_that(const std::string& on_failure) {
  App app = stencil();
  app.arguments.insert(app.arguments.end(),
                       {"--mend-on-failure", on_failure, "--mend-redundancy", "replicas:2", "--mend-spawn-limit", "3"});
  return app;
}

Remains run(const App& app, const std::vector<std::string>& kills, int with_spares,
            const std::vector<std::string>& launcher_options) {
  const support::ScratchFolder scratch;
  const auto result = scratch.path() / "result.json";
  const auto evidence = scratch.path() / "evidence";
  support::Job job = support::mend_run(ranks, with_spares, program_line(app, kills));
  const auto launcher_end = std::find(job.command.begin(), job.command.end(), "--");
  job.command.insert(launcher_end, launcher_options.begin(), launcher_options.end());
  job.command.insert(job.command.end(), {"--result", result.string(), "--evidence", evidence.string()});

  Remains remains;
  remains.end = support::run_job(job);
  remains.kills = read_json_lines(apps::kill_record(result));
  for (int rank = 0; rank < ranks; ++rank) {
    remains.evidence.push_back(read_json(evidence / fmt::format("rank-{}.json", rank)));
  }
  return remains;
}

void expect_all_died(const Remains& remains, const std::vector<std::string>& kills) {
  std::vector<json> deaths = remains.kills;
  for (const std::string& text : kills) {
    const apps::KillOrder order = apps::parse_kill_order(plain(text));
    const auto death = std::find_if(deaths.begin(), deaths.end(), [&](const json& d) { return obeys(d, order); });
    if (death == deaths.end()) {
      ADD_FAILURE() << "nobody obeyed --kill " << text;
    } else {
      deaths.erase(death);
    }
  }
  for (const json& death : deaths) ADD_FAILURE() << "died without an order of its own: " << death.dump();
}

void expect_undisturbed_result(const App& app, const Remains& remains) {
  EXPECT_EQ(remains.end.exit_code, 0);
  const json& expected = undisturbed_result(app);
  for (int rank = 0; rank < ranks; ++rank) {
    const json& evidence = remains.evidence[static_cast<std::size_t>(rank)];
    if (evidence.is_null()) {
      ADD_FAILURE() << "rank " << rank << " left no evidence";
      continue;
    }
    EXPECT_EQ(evidence.at("rank"), rank);
    EXPECT_EQ(result_of(evidence), expected) << "on rank " << rank;
  }
}

void expect_clear_end(const Remains& remains, const std::string& words) {
  EXPECT_EQ(remains.end.exit_code, 3);
  EXPECT_THAT(support::complaints(remains.end), testing::ElementsAre(testing::ContainsRegex(words)));
}

std::string command_line(const App& app, const std::vector<std::string>& kills) {
  return fmt::format("mend run -n {} --spares {} -- {}", ranks, spares, fmt::join(program_line(app, kills), " "));
}

}  // namespace faults
