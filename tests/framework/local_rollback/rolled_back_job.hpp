// Jobs in which some ranks go back and others stay: their results, how many steps each rank has computed, and how often
// it has entered the body. A rank says "rank 0: RESULT, 12 steps, entry 1".

#pragma once

#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

// Scenarios of the subject (tests/framework/subject/local_rollback.cpp). The deaths follow the colon.
inline const std::string named = "rolls_back_locally:";
inline const std::string from_any = "rolls_back_from_any:";
inline const std::string with_requests = "rolls_back_with_requests:";
inline const std::string with_begun = "rolls_back_with_begun_collectives:";
inline const std::string with_neighbours = "rolls_back_with_neighbours:";

/// What the ranks say of their results, in rank order, after an exit code of 0.
inline std::vector<std::string> results_of(const support::JobEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  std::vector<std::string> lines = said(end);
  for (std::string& line : lines) line = line.substr(0, line.find(','));
  return lines;
}

/// What the ranks say of the scenario's result when nobody dies: the results of one job with these options.
inline const std::vector<std::string>& undisturbed_results(const std::string& scenario,
                                                           const std::vector<std::string>& options) {
  static std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::string>> results;
  std::vector<std::string>& lines = results[{scenario, options}];
  if (lines.empty()) lines = results_of(play(scenario, 4, 0, options));
  return lines;
}

/// What a rank has done in its last entry of the body: -1 where any number is right.
struct Done {
  int steps = -1;
  int entry = -1;
};

/// Fails the current test unless processes died, the job ended well, all ranks have `results`, and each has done what
/// `done` says of it.
inline void expect_rolled_back(const support::JobEnd& end, const std::vector<std::string>& results,
                               const std::vector<Done>& done) {
  ASSERT_THAT(results, testing::SizeIs(done.size()));
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, testing::ContainsRegex("[0-9]+ process(es)? died"));
  std::vector<std::string> lines = said(end);
  // A rank that goes back after its body says its result twice.
  const auto of_same_rank = [](const std::string& one, const std::string& other) {
    return one.substr(0, one.find(',')) == other.substr(0, other.find(','));
  };
  lines.erase(std::ranges::unique(lines, of_same_rank).begin(), lines.end());
  ASSERT_THAT(lines, testing::SizeIs(done.size())) << end.errors;
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    EXPECT_THAT(lines[rank], testing::StartsWith(results[rank] + ",")) << end.errors;
    if (done[rank].steps >= 0) {
      EXPECT_THAT(lines[rank], testing::HasSubstr(fmt::format(", {} steps,", done[rank].steps))) << end.errors;
    }
    if (done[rank].entry >= 0) {
      EXPECT_THAT(lines[rank], testing::EndsWith(fmt::format("entry {}", done[rank].entry))) << end.errors;
    }
  }
}
