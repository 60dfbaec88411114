// Starts a process for a dead one again and again. Survivors may grow only by what the libraries cost
// (docs/open-mpi.md). A dozen times; with MEND_TEST_LONG=1 a thousand times.

#include "tests/support/job.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iostream>
#include <sstream>

namespace {

/// Resident memory for each recovery, which the MPI library keeps for a started process.
constexpr double most_kib = 200;

struct Size {
  long recoveries = 0;
  long resident = 0;  // KiB
  long heap = 0;      // KiB
  long descriptors = 0;
  long threads = 0;
};

std::vector<Size> sizes_of(const support::JobEnd& end) {
  std::vector<Size> all;
  for (const std::string& line : support::lines_of(end.output)) {
    std::istringstream in(line);
    Size size;
    std::string word;
    char colon = 0;
    if (in >> word && word == "after" &&
        in >> size.recoveries >> colon >> word >> size.resident >> word >> size.heap >> word >> size.descriptors >>
            word >> size.threads)
      all.push_back(size);
  }
  return all;
}

TEST(SpawnSoak, survivors_do_not_grow_with_the_processes_that_are_started) {
  const bool is_long = support::long_tests();
  const long recoveries = is_long ? 1000 : 12;
  const long every = is_long ? 50 : 4;
  support::Job job = support::mend_run(
      3, 0,
      {MEND_SPAWN_SOAK_SUBJECT, std::to_string(recoveries), std::to_string(every), "--mend-on-failure=spawn",
       "--mend-tries=" + std::to_string(recoveries)});  // one rank dies again and again, with one commit in between
  job.deadline = std::chrono::seconds(60 + 10 * recoveries);
  const auto end = support::run_job(job);
  ASSERT_EQ(end.exit_code, 0) << end.errors;
  const std::vector<Size> sizes = sizes_of(end);
  ASSERT_EQ(sizes.back().recoveries, recoveries) << end.output;
  for (const Size& size : sizes) {
    std::cout << fmt::format("after {:4} recoveries: {} KiB resident, {} KiB in the heap, {} descriptors, {} threads\n",
                             size.recoveries, size.resident, size.heap, size.descriptors, size.threads);
  }
  const Size& settled = sizes[1];
  const double per_recovery = static_cast<double>(sizes.back().resident - settled.resident) /
                              static_cast<double>(recoveries - settled.recoveries);
  std::cout << fmt::format("{:.1f} KiB for each recovery\n", per_recovery);
  EXPECT_LE(sizes.back().descriptors, settled.descriptors + 2);
  EXPECT_LE(sizes.back().threads, settled.threads + 1);
  EXPECT_LT(per_recovery, most_kib);
}

}  // namespace
