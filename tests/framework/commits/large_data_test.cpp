// Data of more bytes than an int can count.

#include "tests/support/subject_job.hpp"
#include "tests/support/long_tests.hpp"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

namespace {

using testing::UnorderedElementsAre;

/// The memory that processes may still get, in bytes.
std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string word; info >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && info >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

TEST(Data, of_more_than_2_GiB_in_a_member_survives_its_rank_and_the_holder_of_its_copy) {
  if (!support::long_tests()) GTEST_SKIP() << "set MEND_TEST_LONG=1 to commit and restore 2.2 GB";
  // The member, and two versions of it at its rank and at the holder.
  constexpr std::uint64_t needed = 14'000'000'000;
  if (const auto there = available_memory(); there < needed)
    GTEST_SKIP() << "14 GB of memory are needed, and " << there / 1'000'000'000 << " GB are available";
  support::Job job =
      support::mend_run(2, 3,
                        {MEND_SUBJECT, "ranks_die_with_a_member_of_more_than_2_GiB", "--mend-spare-memory", "none",
                         "--mend-stall-limit", "800"});  // fresh memory may take its time
  job.deadline = std::chrono::seconds(900);
  const auto end = support::run_job(job);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(said(end),
              UnorderedElementsAre(
                  "rank 0: epoch 1: step 2, 0 of 1000 wrong", "rank 1: epoch 1: step 2, 0 of 275000000 wrong",
                  "rank 0: epoch 2: step 4, 0 of 1000 wrong", "rank 1: epoch 2: step 4, 0 of 275000000 wrong",
                  "rank 0: epoch 3: step 6, 0 of 1000 wrong", "rank 1: epoch 3: step 6, 0 of 275000000 wrong"));
}

}  // namespace
