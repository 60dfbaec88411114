#include "jobs/report/result.hpp"

#include "base/error.hpp"
#include "base/rounding.hpp"
#include "base/telemetry/user_text.hpp"
#include "jobs/report/shallow_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace mend::jobs {
namespace {

using nlohmann::json;

struct Phase {
  const char* name;
  const char* key;
};

constexpr std::array<Phase, 5> phases{{{"detect", "detect_ms"},
                                       {"interrupt", "interrupt_ms"},
                                       {"agree", "agree_ms"},
                                       {"rebuild", "rebuild_ms"},
                                       {"restore", "restore_ms"}}};

std::string who_died(const json& recovery) {
  std::string text;
  const auto append = [&text](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  std::vector<int> with_rank;
  for (const char* places : {"replacements", "given_up"}) {
    for (const json& place : recovery.value(places, json::array())) {
      append(fmt::format("rank {}", place.at("rank").get<int>()));
      with_rank.push_back(place.at("dead").get<int>());
    }
  }
  for (const json& dead : recovery.at("dead")) {
    const int process = dead.get<int>();
    if (std::find(with_rank.begin(), with_rank.end(), process) == with_rank.end()) {
      append(fmt::format("process {}", process));
    }
  }
  return text;
}

bool is_known(const json& recovery, const Phase& phase) {
  const auto time = recovery.find(phase.key);
  return time != recovery.end() && time->is_number();
}

/// The phases that any recovery has. The time from a death to its detection is known only if the death was ordered by a
/// test.
std::vector<std::string> phases_of(const std::vector<RecoveryLine>& recoveries) {
  std::vector<std::string> known = phase_names();
  std::erase_if(known, [&](const std::string& phase) {
    return std::ranges::none_of(recoveries, [&](const RecoveryLine& line) { return line.phases.contains(phase); });
  });
  return known;
}

std::string text_of(const RecoveryLine& recovery, const std::vector<std::string>& columns) {
  std::string line = fmt::format("  {:<20}", recovery.died);
  for (const std::string& phase : columns) {
    const auto time = recovery.phases.find(phase);
    line += time == recovery.phases.end() ? fmt::format(" {:>10}", "-") : fmt::format(" {:>10.2f}", time->second);
  }
  return line + fmt::format(" {:>10.2f}\n", recovery.sum);
}

std::string heading(const std::vector<std::string>& columns) {
  std::string line = fmt::format("  {:<20}", "died");
  for (const std::string& phase : columns) line += fmt::format(" {:>10}", phase);
  return line + fmt::format(" {:>10}\n", "sum, ms");
}

}  // namespace

std::vector<std::string> phase_names() {
  std::vector<std::string> names;
  for (const Phase& phase : phases) names.emplace_back(phase.name);
  return names;
}

RecoveryLine recovery_line(const json& recovery) {
  std::vector<const Phase*> known;
  std::vector<double> times;
  for (const Phase& phase : phases) {
    if (!is_known(recovery, phase)) continue;
    known.push_back(&phase);
    times.push_back(recovery.at(phase.key).get<double>());
  }
  times = round_parts(std::move(times), 0.01);
  RecoveryLine line{.died = who_died(recovery)};
  for (std::size_t i = 0; i < known.size(); ++i) {
    line.phases[known[i]->name] = times[i];
    line.sum += times[i];
  }
  return line;
}

std::optional<RollbackLine> rollback_line(const json& recovery) {
  const auto local = recovery.find("local");
  if (local == recovery.end() || !local->is_object()) return std::nullopt;
  RollbackLine line;
  line.version = local->value("version", std::int64_t{0});
  for (const json& back : local->at("back")) {
    line.back += fmt::format("{}rank {}", line.back.empty() ? "" : ", ", back.at("rank").get<int>());
    if (back.contains("again")) line.again = line.again.value_or(0) + back.at("again").get<std::int64_t>();
  }
  if (line.back.empty()) line.back = "nobody";  // a spare had died
  for (const json& rank : local->at("ranks")) {
    line.kept += rank.at("kept").get<std::int64_t>();
    line.logged += rank.at("logged").get<std::int64_t>();
    line.most_logged = std::max(line.most_logged, rank.at("logged").get<std::int64_t>());
  }
  return line;
}

int number_of_launch(const json& result) { return result.value("launch", 1); }

void for_each_launch(const json& result, const std::function<void(const json& launch, int number)>& visit) {
  for (const json& launch : result.value("launches", json::array())) visit(launch, number_of_launch(launch));
  visit(result, number_of_launch(result));
}

std::string end_of_job(const json& result) {
  const auto code = result.find("exit_code");
  if (code == result.end()) return "";
  const std::string reason = result.value("reason", std::string());
  return fmt::format("ended with exit code {}{}{}", code->get<int>(), reason.empty() ? "" : ": ", reason);
}

UsageError not_a_result(const std::string& file, const json::exception& error) {
  const std::string_view text = error.what();  // "[json.exception.type_error.302] type must be number, but is string"
  const auto after = text.find("] ");
  return not_a_result(file, text.substr(after == std::string_view::npos ? 0 : after + 2));
}

UsageError not_a_result(const std::string& file, std::string_view reason) {
  return UsageError(fmt::format("{} is not the result of a run: {}", file, reason));
}

json read_result(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, ignored))
    throw UsageError(fmt::format("the result {} cannot be read", file.string()));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const json result = parse_shallow(text, file.string());
  if (!result.is_object() || !result.contains("ranks") || !result.contains("recoveries")) {
    throw UsageError(fmt::format("{} is not a result file: it does not have ranks and recoveries", file.string()));
  }
  return result;
}

namespace {

/// Returns the text of a field that only some programs have; empty if it is missing.
std::string if_there(const json& result, const char* key, std::string_view format) {
  const auto value = result.find(key);
  if (value == result.end()) return "";
  return fmt::format(fmt::runtime(format), value->is_string() ? value->get<std::string>() : value->dump());
}

/// Returns a table of the recoveries in which only some ranks rolled back.
std::string rollbacks_of(const json& recoveries) {
  std::string text;
  for (const json& recovery : recoveries) {
    const auto line = rollback_line(recovery);
    if (!line) continue;
    if (text.empty()) {
      text = fmt::format("local rollback:\n  {:<20} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "went back", "to version",
                         "steps again", "steps kept", "logs, MiB", "of a rank");
    }
    text += fmt::format("  {:<20} {:>10} {:>12} {:>12} {:>12.2f} {:>12.2f}\n", line->back, line->version,
                        line->again ? fmt::format("{}", *line->again) : "-", line->kept,
                        static_cast<double>(line->logged) / (1U << 20U),
                        static_cast<double>(line->most_logged) / (1U << 20U));
  }
  return text;
}

std::string timeline_of(const json& result) {
  const json& recoveries = result.at("recoveries");
  std::string text = fmt::format(
      "{}: {} ranks{}, {} {}{}{}\n", result.at("app").get<std::string>(), result.at("ranks").get<int>(),
      if_there(result, "steps", ", {} steps"), recoveries.size(), recoveries.size() == 1 ? "recovery" : "recoveries",
      if_there(result, "field_hash", ", field hash {}"), if_there(result, "hash", ", hash {}"));
  const json reported = result.value("reported", json::object());
  for (const auto& [name, value] : reported.items())
    text += fmt::format("  {}: {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  std::vector<RecoveryLine> lines;
  for (const json& recovery : recoveries) lines.push_back(recovery_line(recovery));
  const std::vector<std::string> columns = phases_of(lines);
  if (!lines.empty()) text += heading(columns);
  for (const RecoveryLine& line : lines) text += text_of(line, columns);
  const std::string end = end_of_job(result);
  return text + rollbacks_of(recoveries) + (end.empty() ? "" : fmt::format("  {}\n", end));
}

}  // namespace

std::string timeline(const json& result) {
  try {
    std::string text;
    for_each_launch(result, [&](const json& launch, int number) {
      const bool is_only = !result.contains("launches");
      text += (is_only ? "" : fmt::format("launch {}: ", number)) + timeline_of(launch);
    });
    return printable(text);
  } catch (const json::exception& error) {
    throw not_a_result("it", error);
  }
}

double timed_commits(const json& result, const std::string& file) {
  constexpr double most = 9007199254740992;  // 2^53: doubles count exactly up to there
  const double commits = result.value("timed_commits", result.value("commits", 0.0));
  if (commits >= 0 && commits <= most && commits == std::floor(commits)) return commits;
  throw not_a_result(file, fmt::format("its number of commits is {}", commits));
}

bool has_answer(const json& result) {
  return std::ranges::any_of(std::array{"field_hash", "norms", "hash", "reported"}, [&](const char* key) {
    const auto found = result.find(key);
    return found != result.end() && !found->is_null() && !found->empty();
  });
}

std::vector<std::string> differences(const json& result, const json& reference) {
  std::vector<std::string> found;
  for (const char* key : {"app", "problem", "ranks", "steps", "field_hash", "norms", "hash", "reported"}) {
    const json ours = result.value(key, json());
    const json theirs = reference.value(key, json());
    if (ours != theirs || ours.dump() != theirs.dump())
      found.push_back(fmt::format("{}: {} instead of {}", key, ours.dump(), theirs.dump()));
  }
  return found;
}

}  // namespace mend::jobs
