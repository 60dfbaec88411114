// What becomes of the processes that a job leaves to mend run.

#include "jobs/run/child.hpp"

#include "tests/support/job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace mend::jobs {
namespace {

TEST(Leftovers, of_another_user_are_not_waited_for) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start processes of two users";
  std::array<int, 2> pipe{};
  std::array<int, 2> errors{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(errors.data(), O_CLOEXEC), 0);
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    ::close(pipe[1]);
    if (::fork() == 0) {  // ends when the test closes the pipe
      char nothing = 0;
      [[maybe_unused]] const auto count = ::read(pipe[0], &nothing, 1);
      ::_exit(0);
    }
    constexpr uid_t nobody = 65534;
    const bool has_changed = ::setresuid(nobody, nobody, nobody) == 0;
    ::dup2(errors[1], STDERR_FILENO);
    ::_exit(has_changed && !kill_leftovers() && !kill_leftovers() ? 0 : 1);
  }
  ::close(pipe[0]);
  int status = -1;
  const bool has_ended = support::soon([&] { return ::waitpid(launcher, &status, WNOHANG) == launcher; });
  EXPECT_TRUE(has_ended);
  ::close(pipe[1]);
  if (!has_ended) ::waitpid(launcher, &status, 0);
  EXPECT_EQ(status, 0);
  std::array<char, 4096> said{};
  EXPECT_GT(::read(errors[0], said.data(), said.size()), 0);
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said.data();
  for (const int end : errors) ::close(end);
}

TEST(Leftovers, are_killed) {
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    for (int i = 0; i < 2; ++i)
      if (::fork() == 0) ::pause();
    ::_exit(kill_leftovers() ? 0 : 1);
  }
  int status = -1;
  EXPECT_TRUE(support::soon([&] { return ::waitpid(launcher, &status, WNOHANG) == launcher; }));
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mend::jobs
