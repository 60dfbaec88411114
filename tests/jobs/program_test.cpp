// Programs that use mend, where they cannot go on: each ends with a sentence and an exit code.

#include "tests/support/mend_process.hpp"

#include <gmock/gmock.h>

#include <sys/wait.h>

#include <cstdlib>

namespace {

TEST(AProgram, whose_help_cannot_be_written_has_failed) {
  const int status = std::system(MEND_SUBJECT " nobody_dies --mend-help >/dev/full 2>/dev/null");
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(AProgram, that_has_finalised_MPI_is_told_that_mend_cannot_run_any_more) {
  const std::string sentence =
      "mend: mend::run was called after MPI_Finalize, which is the end of MPI in a process: call it before, or leave "
      "MPI_Init and MPI_Finalize to it\n";
  MendProcess job({"run", "-n", "2", "--", MEND_LATE_SUBJECT});
  EXPECT_EQ(job.wait(), 2);
  EXPECT_EQ(job.errors(), sentence);
  // What it does afterwards is its own business.
  for (const char* options : {"--mend-log=warn", "--mend-nonsense"}) {
    MendProcess works_on({"run", "-n", "2", "--end-limit", "1", "--", MEND_LATE_SUBJECT, "3", options});
    EXPECT_EQ(works_on.wait(), 2);
    EXPECT_THAT(works_on.errors(), testing::Not(testing::HasSubstr("end-limit"))) << options;
  }
}

}  // namespace
