#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

#include <algorithm>

support::JobEnd play(const std::string& scenario, int ranks, int spares, const std::vector<std::string>& options,
                     const std::string& program) {
  std::vector<std::string> line{program, scenario};
  line.insert(line.end(), options.begin(), options.end());
  return support::run_job(support::mend_run(ranks, spares, line));
}

std::vector<std::string> said(const support::JobEnd& end) {
  std::vector<std::string> lines = support::lines_of(end.output);
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with("rank "); });
  std::stable_sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    return a.substr(0, a.find(':')) < b.substr(0, b.find(':'));
  });
  return lines;
}

std::vector<std::string> counted(int ranks, long steps, int epoch) {
  long total = 0;
  for (long step = 0; step < steps; ++step) total += step * ranks + ranks * (ranks - 1) / 2;
  std::vector<std::string> lines;
  for (int rank = 0; rank < ranks; ++rank) {
    lines.push_back(fmt::format("rank {}: total {} after {} steps in epoch {}", rank, total, steps, epoch));
  }
  return lines;
}

void expect_end(const support::JobEnd& end, int code, const std::string& regex) {
  EXPECT_EQ(end.exit_code, code);
  EXPECT_THAT(support::complaints(end), testing::ElementsAre(testing::ContainsRegex(regex)));
  EXPECT_THAT(said(end), testing::IsEmpty());
}

void expect_help(const support::JobEnd& end) {
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.errors, testing::IsEmpty());
  const std::vector<std::string> lines = support::lines_of(end.output);
  EXPECT_EQ(std::ranges::count(lines, "Resilience (mend):"), 1) << end.output;
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("--mend-commit-every")));
  EXPECT_THAT(lines, testing::Each(testing::Not(testing::StartsWith("rank "))));
}
