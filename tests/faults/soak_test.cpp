// Agreement in a loop while processes die and spares take over, job after job, for 20 seconds or MEND_SOAK_SECONDS.

#include "tests/support/job.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace {

struct Count {
  long agreements = 0;
  long recoveries = 0;
  long replaced = 0;
};

Count count_of(const support::JobEnd& end) {
  Count count;
  for (const std::string& line : support::lines_of(end.output)) {
    if (!line.starts_with("agreements ")) continue;
    std::istringstream in(line);
    std::string word;
    in >> word >> count.agreements >> word >> count.recoveries >> word >> count.replaced;
  }
  return count;
}

TEST(Soak, agrees_while_processes_die_and_spares_step_in) {
  constexpr int ranks = 4;
  constexpr int spares = 24;
  const auto deadline = std::chrono::steady_clock::now() + support::soak_time();
  const char* first = std::getenv("MEND_SEED");
  Count total;
  int jobs = 0;
  for (unsigned long seed = first ? std::stoul(first) : 1; std::chrono::steady_clock::now() < deadline;
       ++seed, ++jobs) {
    support::Job job = support::mend_run(
        ranks, spares,
        {MEND_SOAK_SUBJECT, std::to_string(seed), std::to_string(spares), "2", "--mend-agreement", "era"});
    job.deadline = std::chrono::seconds(120);
    const auto end = support::run_job(job);
    ASSERT_EQ(end.exit_code, 0) << end.errors << "--- to see it again: MEND_SEED=" << seed << " and this test";
    const Count count = count_of(end);
    ASSERT_GT(count.agreements, 0);
    total.agreements += count.agreements;
    total.recoveries += count.recoveries;
    total.replaced += count.replaced;
  }
  std::cout << fmt::format("{} jobs of {} ranks: {} agreements in the loop, {} recoveries, {} dead ranks replaced\n",
                           jobs, ranks, total.agreements, total.recoveries, total.replaced);
  EXPECT_GT(total.replaced, jobs);
}

}  // namespace
