#include "detector/local/local_process.hpp"
#include "tests/support/kernel.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace {

using mend::detector::LocalIdentity;
using mend::detector::LocalProcess;

/// A process that sleeps until it is killed.
class Child {
 public:
  Child() {
    int told[2];
    if (::pipe(told) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      const LocalIdentity self = LocalIdentity::self();
      if (::write(told[1], &self, sizeof self) != sizeof self) ::_exit(1);
      for (;;) ::pause();
    }
    if (::read(told[0], &identity_, sizeof identity_) != sizeof identity_) std::abort();
    ::close(told[0]);
    ::close(told[1]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const LocalIdentity& identity() const { return identity_; }
  void end() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    wait_for_end();
  }
  /// Returns the signal that ended it.
  int wait_for_end() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WTERMSIG(status);
  }
  /// Ends the process and leaves it a zombie.
  void become_zombie() {
    ::kill(pid_, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  /// Returns when it has stopped, or has ended because it was killed before.
  void stop() {
    ::kill(pid_, SIGSTOP);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOWAIT);
  }

 private:
  pid_t pid_ = 0;
  LocalIdentity identity_;
};

std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

TEST(ALocalProcess, that_calls_exec_is_seen_to_run_another_program) {
  int go[2];
  int closed_by_exec[2];
  ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(closed_by_exec, O_CLOEXEC), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(closed_by_exec[0]);
    char word = 0;
    if (::read(go[0], &word, 1) == 1) ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  }
  ::close(closed_by_exec[1]);
  const auto process = LocalProcess::find(*LocalIdentity::of(pid));
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->runs_another_program());
  ASSERT_EQ(::write(go[1], "!", 1), 1);
  char nothing = 0;
  EXPECT_EQ(::read(closed_by_exec[0], &nothing, 1), 0);
  EXPECT_TRUE(process->runs_another_program());
  process->kill();
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(process->runs_another_program()) << "it is gone";
  for (const int end : {go[0], go[1], closed_by_exec[0]}) ::close(end);
}

TEST(ALocalProcess, is_found_while_it_lives) {
  Child child;
  const auto process = LocalProcess::find(child.identity());
  ASSERT_TRUE(process.has_value());
  EXPECT_FALSE(process->is_gone());
  child.stop();
  EXPECT_FALSE(process->is_gone()) << "stopped is not gone";
  child.end();
}

TEST(ALocalProcess, is_gone_when_it_has_ended_buried_or_not) {
  Child child;
  const auto process = LocalProcess::find(child.identity());
  ASSERT_TRUE(process.has_value());
  child.become_zombie();
  EXPECT_TRUE(process->is_gone());
  EXPECT_FALSE(LocalProcess::find(child.identity()).has_value());
  child.end();
  EXPECT_TRUE(process->is_gone());
  EXPECT_FALSE(LocalProcess::find(child.identity()).has_value());
}

TEST(ALocalProcess, lives_as_long_as_any_of_its_threads) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([&] {
      while (first_line("/proc/self/stat").find(") Z") == std::string::npos) std::this_thread::yield();
      if (::write(ready[1], "", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // ends this thread alone; pthread_exit would unwind the test
  }
  ::close(ready[1]);
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  const auto process = LocalProcess::find(*LocalIdentity::of(child));
  ASSERT_TRUE(process.has_value());
  EXPECT_FALSE(process->is_gone());
  ::kill(child, SIGKILL);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(process->is_gone());
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
}

TEST(ALocalProcess, is_not_gone_for_want_of_descriptors_to_look_at_it) {
  Child child;
  const auto seen_before = LocalProcess::find(child.identity());
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const bool gone = seen_before->is_gone();
  const auto found = LocalProcess::find(child.identity());
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(gone);
  EXPECT_TRUE(found.has_value());
}

TEST(ALocalProcess, is_not_taken_for_another_with_its_number) {
  Child child;
  LocalIdentity older = child.identity();
  older.started -= 1;
  EXPECT_FALSE(LocalProcess::find(older).has_value());
}

TEST(ALocalProcess, is_killed_though_it_is_stopped) {
  Child child;
  const auto process = LocalProcess::find(child.identity());
  ASSERT_TRUE(process.has_value());
  child.stop();
  process->kill();
  EXPECT_EQ(child.wait_for_end(), SIGKILL);
}

TEST(ALocalProcess, is_not_killed_by_what_was_moved_from) {
  Child child;
  auto process = LocalProcess::find(child.identity());
  ASSERT_TRUE(process.has_value());
  const LocalProcess moved(std::move(*process));
  process->kill();
  child.stop();  // a process that was killed before does not stop: it ends
  EXPECT_FALSE(moved.is_gone());
}

TEST(ALocalProcess, that_is_gone_can_be_killed_without_harm) {
  Child child;
  const auto process = LocalProcess::find(child.identity());
  ASSERT_TRUE(process.has_value());
  child.end();
  process->kill();
}

TEST(ALocalProcess, is_kept_waiting_by_name_of_the_thread_while_that_could_run) {
  const pid_t busy = ::fork();
  if (busy == 0) {
    ::prctl(PR_SET_NAME, "busy");
    for (;;) {
    }
  }
  LocalIdentity identity = LocalIdentity::self();
  identity.pid = busy;
  // Its start time is not known here, so it is looked up as the process itself would report it.
  std::ifstream stat("/proc/" + std::to_string(busy) + "/stat");
  std::string word;
  for (int field = 1; field <= 21; ++field) stat >> word;
  stat >> identity.started;
  const auto process = LocalProcess::find(identity);
  ASSERT_TRUE(process.has_value());
  while (!process->is_kept_waiting("busy")) {  // wait until it has named itself
  }
  EXPECT_FALSE(process->is_kept_waiting("idle"));
  ::kill(busy, SIGSTOP);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(busy), &info, WSTOPPED | WNOWAIT);
  EXPECT_FALSE(process->is_kept_waiting("busy")) << "stopped";
  process->kill();
  ::waitpid(busy, nullptr, 0);
}

TEST(OwnThreads, compute_if_they_run_and_not_if_they_sleep) {
  std::atomic<bool> goes_on = true;
  std::atomic<bool> has_begun = false;
  std::thread asleep([&] { goes_on.wait(true); });
  while (mend::detector::other_own_threads_compute()) std::this_thread::yield();  // until it sleeps
  std::thread busy([&] {
    has_begun = true;
    while (goes_on) continue;
  });
  while (!has_begun) std::this_thread::yield();
  EXPECT_TRUE(mend::detector::other_own_threads_compute());
  goes_on = false;
  goes_on.notify_all();
  busy.join();
  asleep.join();
  EXPECT_FALSE(mend::detector::other_own_threads_compute());
}

/// Returns true if the kernel tells processes other than the parent how a process has ended.
bool kernel_tells_exits() { return support::kernel_is_at_least(6, 15); }

TEST(LocalProcess, says_how_it_has_ended_once_its_parent_has_heard_of_it) {
  if (!kernel_tells_exits()) GTEST_SKIP() << "before Linux 6.15";
  Child child;
  const auto process = LocalProcess::find(child.identity());
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->exit_status());
  child.become_zombie();
  EXPECT_FALSE(process->exit_status());
  child.wait_for_end();
  EXPECT_EQ(process->exit_status(), std::optional(SIGKILL));
}

}  // namespace
