#include "framework/reporting/report_text.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

namespace mend {

using nlohmann::json;

std::string write_reports(std::span<const RecoveryReport> recoveries) {
  auto all = json::array();
  for (const RecoveryReport& report : recoveries) {
    json text{{"epoch", report.epoch.value},
              {"noticed", report.noticed.time_since_epoch().count()},
              {"interrupt", report.interrupt.count()},
              {"agree", report.agree.count()},
              {"rebuild", report.rebuild.count()},
              {"restore", report.restore.count()},
              {"rounds", report.rounds},
              {"dead", json::array()},
              {"replacements", json::array()},
              {"given_up", json::array()}};
    for (const ProcessId process : report.dead) text["dead"].push_back(process.value);
    for (const auto& [rank, dead, newcomer] : report.replacements) {
      text["replacements"].push_back({rank.value, dead.value, newcomer.value});
    }
    for (const auto& [rank, dead] : report.given_up) text["given_up"].push_back({rank.value, dead.value});
    all.push_back(std::move(text));
  }
  return all.dump();
}

std::vector<RecoveryReport> read_reports(const std::string& text) {
  std::vector<RecoveryReport> reports;
  const auto process = [](const json& number) { return ProcessId{number.get<std::uint32_t>()}; };
  const auto time = [](const json& number) { return Milliseconds(number.get<double>()); };
  for (const json& one : json::parse(text)) {
    RecoveryReport report;
    report.epoch = {one.at("epoch").get<std::uint32_t>()};
    report.noticed = WallClock::time_point(WallClock::duration(one.at("noticed").get<WallClock::rep>()));
    report.interrupt = time(one.at("interrupt"));
    report.agree = time(one.at("agree"));
    report.rebuild = time(one.at("rebuild"));
    report.restore = time(one.at("restore"));
    report.rounds = one.at("rounds");
    for (const json& dead : one.at("dead")) report.dead.push_back(process(dead));
    for (const json& change : one.at("replacements")) {
      report.replacements.push_back({Rank{change.at(0).get<int>()}, process(change.at(1)), process(change.at(2))});
    }
    for (const json& loss : one.at("given_up"))
      report.given_up.push_back({Rank{loss.at(0).get<int>()}, process(loss.at(1))});
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace mend
