#include "base/telemetry/job_status.hpp"

#include "tests/support/scoped_environment.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace job_status = mend::job_status;
using support::ScopedEnvironment;

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class JobStatus : public testing::Test {
 protected:
  ~JobStatus() override { std::filesystem::remove(file_); }
  static void report_everything() {
    job_status::started();
    job_status::running();
    job_status::finished(mend::ExitCode::unrecoverable);
  }
  std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("mend-status-" + std::to_string(::getpid()));
};

TEST_F(JobStatus, is_appended_to_the_file_that_the_launcher_made) {
  std::ofstream(file_) << "started\n";
  const ScopedEnvironment environment{{job_status::environment_variable, file_.string()}};
  report_everything();
  EXPECT_EQ(content(file_), "started\nstarted\nrunning\nfinished 3 " + std::to_string(::getpid()) + "\n");
}

TEST_F(JobStatus, of_one_that_exits_before_the_start_names_its_parent) {
  std::ofstream(file_) << "";
  const ScopedEnvironment environment{{job_status::environment_variable, file_.string()}};
  job_status::left(5, false);
  job_status::left(6, true);
  const std::string self = std::to_string(::getpid());
  EXPECT_EQ(content(file_), "skipped 5 " + std::to_string(::getppid()) + " " + self + "\nquit 6 " + self + "\n");
}

TEST_F(JobStatus, names_the_process_that_loads_is_introduced_and_closes) {
  std::ofstream(file_) << "";
  const ScopedEnvironment environment{{job_status::environment_variable, file_.string()}};
  job_status::loaded();
  job_status::introduced();
  job_status::closed();
  const std::string self = std::to_string(::getpid());
  EXPECT_EQ(content(file_),
            "loaded " + self + " " + mend::launch::machine() + "\nintroduced " + self + "\nclosed " + self + "\n");
}

TEST_F(JobStatus, makes_no_file_where_there_is_none) {
  const ScopedEnvironment environment{{job_status::environment_variable, file_.string()}};
  report_everything();
  EXPECT_FALSE(std::filesystem::exists(file_)) << "another node's file";
}

TEST_F(JobStatus, says_whether_the_launcher_can_read_of_an_abort) {
  std::ofstream(file_) << "";
  {
    const ScopedEnvironment environment{{job_status::environment_variable, file_.string()}};
    EXPECT_TRUE(job_status::aborted(5));
  }
  EXPECT_EQ(content(file_), "aborted 5 \n");
  const ScopedEnvironment full{{job_status::environment_variable, "/dev/full"}};
  EXPECT_FALSE(job_status::aborted(5));
  EXPECT_FALSE(job_status::erred());
}

TEST_F(JobStatus, is_told_to_nobody_without_a_launcher) {
  ::unsetenv(job_status::environment_variable);
  std::ofstream(file_) << "";
  report_everything();
  EXPECT_EQ(content(file_), "");
}

}  // namespace
