#include "jobs/doctor/finding.hpp"

#include "base/telemetry/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace mend::jobs {
namespace {

std::string word_of(Level level) {
  switch (level) {
    case Level::pass: return "pass";
    case Level::warn: return "warn";
    case Level::fail: break;
  }
  return "fail";
}

const char* colour_of(Level level) {
  switch (level) {
    case Level::pass: return "\033[32m";
    case Level::warn: return "\033[33m";
    case Level::fail: break;
  }
  return "\033[31m";
}

}  // namespace

int exit_code_of(const Findings& findings) {
  Level worst = Level::pass;
  for (const Finding& finding : findings) worst = std::max(worst, finding.level);
  return static_cast<int>(worst);
}

std::string text_of(const Finding& finding, bool colour) {
  const std::string word = word_of(finding.level);
  std::string line = fmt::format("{}{}{}  {:<13} {}", colour ? colour_of(finding.level) : "", word,
                                 colour ? "\033[0m" : "", finding.subject, finding.why);
  if (!finding.remedy.empty()) line += fmt::format("\n{:20}-> {}", "", finding.remedy);
  return line + "\n";
}

std::string json_of(const Findings& findings) {
  auto json = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"level", word_of(finding.level)},
                    {"subject", finding.subject},
                    {"why", finding.why},
                    {"remedy", finding.remedy}});
  }
  return json_text(nlohmann::ordered_json{{"exit_code", exit_code_of(findings)}, {"findings", json}}, 2) + "\n";
}

}  // namespace mend::jobs
