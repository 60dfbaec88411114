// Every fault point is killed at by some test.

#include "apps/common/kill_switch.hpp"
#include "base/fault_point.hpp"
#include "tests/faults/cases.hpp"
#include "tests/support/process_tree.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace {

using faults::Case;

/// By the cases of the fault matrix.
std::set<std::string> killed_at_by_cases() {
  std::set<std::string> points;
  for (const auto& cases : {faults::one_dies({}), faults::two_die_together({}), faults::a_survivor_dies_in_recovery(),
                            faults::the_newcomer_dies({}), faults::a_spare_dies(), faults::one_after_another(),
                            faults::replacements_are_started(), faults::a_survivor_dies_while_one_is_started(),
                            faults::the_one_started_dies(), faults::all_pairs()}) {
    for (const Case& what : cases) {
      for (const std::string& order : what.kills) {
        if (!order.starts_with("hang ")) points.insert(apps::parse_kill_order(order).point);
      }
    }
  }
  points.erase("step");
  return points;
}

/// By tests with programs of their own: where the test is, and how it names the point.
struct Elsewhere {
  std::string file;
  std::string text;
};
const std::map<std::string, Elsewhere> killed_at_elsewhere{
    {"init.before", {"tests/faults/matrix_test.cpp", "p1@0:init.before"}},
    {"agreement.send", {"tests/faults/agreement_test.cpp", "\"agreement.send\""}},
    {"agreement.receive", {"tests/faults/agreement_test.cpp", "\"agreement.receive\""}},
    {"agreement.decided", {"tests/faults/soak_subject.cpp", "starts_with(\"agreement.\")"}},
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

/// With the reason.
const std::map<std::string, std::string> never_killed_at{
    {"spare.prepared", "the spare has nothing to do any more: it dies as one at spare.parked does"},
};

TEST(TheFaultPoints, are_each_killed_at_by_some_test) {
  std::set<std::string> killed_at = killed_at_by_cases();
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

}  // namespace
