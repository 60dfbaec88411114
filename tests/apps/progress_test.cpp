#include "apps/common/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the lines shown for steps 1 ... `done` if the output is not a terminal.
std::vector<std::string> lines_shown(mend::Rank self, int steps, int done, mend::Epoch epoch = {}) {
  std::FILE* const out = std::tmpfile();
  {
    apps::Progress progress("demo", self, steps, out);
    for (int step = 1; step <= done; ++step) progress.show(step, epoch);
  }
  std::rewind(out);
  std::vector<std::string> lines;
  char line[256];
  while (std::fgets(line, sizeof line, out) != nullptr) lines.emplace_back(line);
  std::fclose(out);
  return lines;
}

TEST(Progress, away_from_a_terminal_is_a_line_every_tenth) {
  const auto lines = lines_shown(mend::Rank{0}, 250, 250);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines.front(), "demo: step 25 of 250 (10 %)\n");
  EXPECT_EQ(lines.back(), "demo: step 250 of 250 (100 %)\n");
}

TEST(Progress, of_few_steps_is_a_line_each) {
  EXPECT_THAT(lines_shown(mend::Rank{0}, 2, 2),
              ElementsAre("demo: step 1 of 2 (50 %)\n", "demo: step 2 of 2 (100 %)\n"));
}

TEST(Progress, counts_the_failures_survived) {
  EXPECT_THAT(lines_shown(mend::Rank{0}, 1, 1, mend::Epoch{1}), ElementsAre(HasSubstr(", 1 failure survived")));
  EXPECT_THAT(lines_shown(mend::Rank{0}, 1, 1, mend::Epoch{2}), ElementsAre(HasSubstr(", 2 failures survived")));
}

TEST(Progress, is_told_by_rank_0_alone) {
  EXPECT_FALSE(lines_shown(mend::Rank{0}, 10, 10).empty());
  EXPECT_TRUE(lines_shown(mend::Rank{1}, 10, 10).empty());
}

}  // namespace
