// Some test kills a process at every fault point.

#include "apps/common/kill_switch.hpp"
#include "base/fault_point.hpp"
#include "tests/faults/cases.hpp"
#include "tests/support/process_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using faults::Case;

/// The fault matrix: its parts and their cases.
const std::vector<std::pair<std::string, std::vector<Case>>>& matrix() {
  static const std::vector<std::pair<std::string, std::vector<Case>>> parts{
      {"OneDies", faults::one_dies({})},
      {"TwoDieTogether", faults::two_die_together({})},
      {"SurvivorDiesInRecovery", faults::a_survivor_dies_in_recovery()},
      {"NewcomerDies", faults::the_newcomer_dies({})},
      {"SpareDies", faults::a_spare_dies()},
      {"OneAfterAnother", faults::one_after_another()},
      {"Spawning/Replacements", faults::replacements_are_started()},
      {"Spawning/SurvivorDies", faults::a_survivor_dies_while_one_is_started()},
      {"Spawning/NewcomerDies", faults::the_one_started_dies()},
      {"Pairs", faults::all_pairs()},
  };
  return parts;
}

/// For each point: the parts whose cases kill there, and the number of these cases.
std::map<std::string, std::vector<std::pair<std::string, int>>> kills_of_the_matrix() {
  std::map<std::string, std::vector<std::pair<std::string, int>>> kills;
  for (const auto& [part, cases] : matrix()) {
    for (const Case& what : cases) {
      for (const std::string& order : what.kills) {
        if (order.starts_with("hang ")) continue;
        auto& parts = kills[apps::parse_kill_order(order).point];
        if (parts.empty() || parts.back().first != part) parts.emplace_back(part, 0);
        ++parts.back().second;
      }
    }
  }
  kills.erase("step");
  return kills;
}

/// Kills by tests with programs of their own: the file of the test, and its text for the point.
struct Elsewhere {
  std::string file;
  std::string text;
};
const std::map<std::string, Elsewhere> killed_at_elsewhere{
    {"init.before", {"tests/faults/matrix_test.cpp", "p1@0:init.before"}},
    {"agreement.send", {"tests/faults/agreement_test.cpp", "\"agreement.send\""}},
    {"agreement.receive", {"tests/faults/agreement_test.cpp", "\"agreement.receive\""}},
    {"agreement.decided", {"tests/faults/subjects/soak_subject.cpp", "starts_with(\"agreement.\")"}},
    {"recovery.settle", {"tests/framework/fewer_ranks_test.cpp", "\"recovery.settle\""}},
    {"spare.prepare", {"tests/framework/subject/data.cpp", "\"spare.prepare\" && dies"}},
    {"end.say", {"tests/framework/subject/errors.cpp", "\"end.say\") die()"}},
    {"disk.begin", {"tests/framework/disk_test.cpp", "@disk.begin\""}},
    {"disk.write", {"tests/framework/disk_test.cpp", "@disk.write\""}},
    {"disk.rename", {"tests/framework/disk_test.cpp", "@disk.rename\""}},
    {"disk.index", {"tests/framework/disk_test.cpp", "@disk.index\""}},
    {"disk.manifest", {"tests/framework/disk_test.cpp", "@disk.manifest\""}},
    {"disk.clean", {"tests/framework/disk_test.cpp", "@disk.clean\""}},
    {"disk.read", {"tests/framework/disk_test.cpp", "@disk.read\""}},
    {"disk.save", {"tests/framework/subject/disk.cpp", "\"disk.save\") die()"}},
};

/// Points without kills, with the reason.
const std::map<std::string, std::string> never_killed_at{
    {"spare.prepared", "the spare has nothing to do any more: it dies as one at spare.parked does"},
};

TEST(TheFaultPoints, are_each_killed_at_by_some_test) {
  std::set<std::string> killed_at;
  for (const auto& [point, parts] : kills_of_the_matrix()) killed_at.insert(point);
  for (const auto& [point, test] : killed_at_elsewhere) {
    EXPECT_FALSE(killed_at.contains(point)) << point << " is in the fault matrix: it need not be listed here";
    const auto file = std::filesystem::path(MEND_SOURCE_FOLDER) / test.file;
    EXPECT_THAT(support::text_of(file), testing::HasSubstr(test.text)) << test.file << " kills at " << point;
    killed_at.insert(point);
  }
  for (const auto& [point, reason] : never_killed_at) {
    EXPECT_FALSE(killed_at.contains(point)) << point << " is killed at, though '" << reason << "'";
    killed_at.insert(point);
  }
  EXPECT_EQ(killed_at, std::set<std::string>(std::begin(mend::fault_points), std::end(mend::fault_points)));
}

/// The point's row in docs/testing.md.
std::string row_of(const std::string& point) {
  const auto kills = kills_of_the_matrix();
  if (const auto by_cases = kills.find(point); by_cases != kills.end()) {
    std::vector<std::string> parts;
    for (const auto& [part, count] : by_cases->second) parts.push_back(fmt::format("{} {}", part, count));
    return fmt::format("| `{}` | {} |", point, fmt::join(parts, ", "));
  }
  if (const auto test = killed_at_elsewhere.find(point); test != killed_at_elsewhere.end())
    return fmt::format("| `{}` | `{}` |", point, test->second.file);
  const auto reason = never_killed_at.find(point);
  return fmt::format("| `{}` | none: {} |", point, reason == never_killed_at.end() ? "?" : reason->second);
}

TEST(TheFaultPoints, are_listed_in_the_documents_with_the_tests_that_kill_there) {
  const std::string text = support::text_of(std::filesystem::path(MEND_SOURCE_FOLDER) / "docs/testing.md");
  for (const std::string_view point : mend::fault_points) {
    const std::string row = row_of(std::string(point));
    EXPECT_THAT(text, testing::HasSubstr(row + "\n"));
  }
}

}  // namespace
