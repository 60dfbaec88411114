// A parked spare uses nothing but what its heartbeats cost.

#include "tests/support/subject_job.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <regex>
#include <string>
#include <vector>

namespace {

using testing::SizeIs;

/// What the kernel has counted of one thread of the spare.
struct Thread {
  std::string name;
  long sleeps = 0;
  long nanoseconds = 0;
};

std::vector<Thread> threads_in(const std::string& line) {
  const std::regex thread("; ([^;:]+): ([0-9]+) sleeps, ([0-9]+) ns");
  std::vector<Thread> threads;
  for (std::sregex_iterator at(line.begin(), line.end(), thread), none; at != none; ++at)
    threads.push_back({(*at)[1], std::stol((*at)[2]), std::stol((*at)[3])});
  return threads;
}

/// Expects that nothing but its heartbeats wakes a parked spare of this job, for 3 s, or 90 s in the long tests.
void expect_a_resting_spare(int ranks, int spares, const std::string& when) {
  const support::ScratchFolder folder;
  const int seconds = support::long_tests() ? 90 : 3;
  support::Job job = support::mend_run(
      ranks, spares,
      {MEND_SUBJECT, fmt::format("watches_a_parked_spare:{}{};{}", seconds, when, folder.path().string())});
  job.deadline += std::chrono::seconds(seconds);
  const auto end = support::run_job(job);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  const auto lines = said(end);
  ASSERT_THAT(lines, SizeIs(1));
  std::cout << lines[0] << "\n";

  std::smatch found;
  ASSERT_TRUE(std::regex_search(lines[0], found, std::regex("([0-9]+) threads, then ([0-9]+), heartbeats ([0-9]+)")));
  EXPECT_EQ(found[1], found[2]) << "a thread has come or gone";
  const long heartbeats = std::stol(found[3]);
  EXPECT_GT(heartbeats, 10 * seconds) << "the ring sends one every 100 ms, and so receives one";
  const auto threads = threads_in(lines[0]);
  EXPECT_EQ(threads.size(), std::stoul(found[1]));
  const auto control = std::ranges::find(threads, "mend-control", &Thread::name);
  ASSERT_NE(control, threads.end());
  // One of before may have been counted already, while the thread had not gone to sleep again. Of the start and of
  // deaths, a few messages and their acknowledgements may still be on their way, however long the spare waits.
  EXPECT_LE(control->sleeps, heartbeats + 10);
  EXPECT_LT(control->nanoseconds / heartbeats, 500'000);
  for (const Thread& thread : threads) {
    if (thread.name == "mend-control") continue;
    EXPECT_EQ(thread.sleeps, 0) << thread.name;
    EXPECT_EQ(thread.nanoseconds, 0) << thread.name;
  }
}

TEST(ASpare, that_is_parked_is_woken_by_heartbeats_alone) { expect_a_resting_spare(2, 1, ""); }

/// The call of the spares after the second death must not wake those that are parked when both ranks have processes.
TEST(ASpare, that_is_parked_after_a_death_in_a_recovery_is_woken_by_heartbeats_alone) {
  expect_a_resting_spare(3, 3, " after deaths");
}

}  // namespace
