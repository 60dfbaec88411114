// Restart files in memory: a program whose state is only there loses nothing when ranks die.

#include "tests/support/subject_job.hpp"

#include <fmt/format.h>

namespace {

using testing::Each;
using testing::EndsWith;

/// The state of a rank after 12 steps of 4 ranks.
std::string expected(int rank) {
  std::uint64_t rows = 0;
  std::uint64_t sum = 0;
  for (int step = 0; step < 12; ++step) {
    const auto here = static_cast<std::uint64_t>(500 + step * 10 + rank);
    rows += here;
    sum += here * static_cast<std::uint64_t>(4 * step * 10 + 6);
  }
  return fmt::format("rank {}: {} rows, sum {}, from step 7 in epoch 2", rank, rows, sum);
}

TEST(RestartFile, in_memory_brings_a_program_back_that_has_nothing_else) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{}, {"--mend-redundancy=xor:4"}}) {
    const auto end = play("ranks_die_while_they_write_restart_files", 4, 2, options);
    EXPECT_EQ(end.exit_code, 0) << end.errors;
    EXPECT_THAT(said(end), testing::ElementsAre(expected(0), expected(1), expected(2), expected(3)));
  }
}

TEST(RestartFile, that_is_open_at_a_commit_ends_the_job_with_a_sentence) {
  expect_end(play("commits_while_a_file_is_open", 2, 0), 2,
             "file 'restart' is open for writing: close it before the commit");
}

}  // namespace
