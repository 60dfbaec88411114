// Job scripts, compared with stored texts.

#include "base/error.hpp"
#include "jobs/script/job_script.hpp"
#include "tests/support/golden.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace {

using namespace mend::jobs;
using mend::testing::expect_golden;
using testing::HasSubstr;

JobDescription heat() {
  JobDescription job;
  job.name = "heat";
  job.ranks = 64;
  job.spares = 4;
  job.processes_per_node = 8;
  job.time_limit = std::chrono::hours(36) + std::chrono::seconds(1);
  job.queue = "long";
  job.account = "physics";
  job.disk = "/scratch/heat";
  job.program = {"./heat", "--steps", "1000", "--title", "it's warm"};
  return job;
}

TEST(JobScript, are_as_they_were_reviewed) {
  JobDescription job = heat();
  expect_golden("flux", job_script(Scheduler::flux, job));
  job.requeues = 3;
  expect_golden("slurm", job_script(Scheduler::slurm, job));
  expect_golden("pbs", job_script(Scheduler::pbs, job));
  expect_golden("lsf", job_script(Scheduler::lsf, job));
}

TEST(JobScript, has_only_what_was_asked_for) {
  JobDescription job;
  job.time_limit = std::chrono::minutes(90);
  job.program = {"./program"};
  expect_golden("slurm_plain", job_script(Scheduler::slurm, job));
}

TEST(JobScript, names_the_disk_before_what_a_program_has_after_dashes) {
  JobDescription job = heat();
  job.program = {"./heat", "a", "--", "b", "--", "c"};
  EXPECT_THAT(job_script(Scheduler::slurm, job), HasSubstr(" -- ./heat a --mend-disk /scratch/heat -- b -- c\n"));
}

TEST(JobScript, asks_for_the_nodes_that_ranks_and_spares_fill) {
  JobDescription job = heat();
  EXPECT_EQ(job.nodes(), 9);
  job.spares = 8;
  EXPECT_EQ(job.nodes(), 9);
  job.spares = 9;
  EXPECT_EQ(job.nodes(), 10);
}

TEST(JobScript, asks_for_the_spare_nodes_beside_those_of_the_ranks) {
  JobDescription job = heat();
  job.spares = 0;
  job.spare_nodes = 2;
  EXPECT_EQ(job.nodes(), 10);
  for (const Scheduler scheduler : {Scheduler::slurm, Scheduler::pbs, Scheduler::lsf, Scheduler::flux}) {
    const std::string text = job_script(scheduler, job);
    EXPECT_THAT(text, HasSubstr(" --spare-nodes 2 "));
    EXPECT_THAT(text, testing::Not(HasSubstr("--spares")));
  }
}

TEST(JobScript, refuses_what_a_scheduler_cannot_do) {
  JobDescription job = heat();
  job.requeues = 1;
  EXPECT_THROW(job_script(Scheduler::flux, job), mend::UsageError);
  job.disk.clear();
  EXPECT_THROW(job_script(Scheduler::slurm, job), mend::UsageError);
  job = heat();
  job.name = "two words";
  EXPECT_THROW(job_script(Scheduler::slurm, job), mend::UsageError);
  job = heat();
  job.program.clear();
  EXPECT_THROW(job_script(Scheduler::slurm, job), mend::UsageError);
}

}  // namespace
