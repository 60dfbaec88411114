#include "detector/local/lifeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

using mend::ProcessId;
using mend::detector::Lifeline;
using mend::detector::NeighbourLifeline;

/// A process that holds its lifeline until it is killed, or told to release it.
class Holder {
 public:
  Holder() {
    if (::pipe(told_) != 0 || ::pipe(asked_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) live();
    if (::read(told_[0], &descriptor_, sizeof descriptor_) != sizeof descriptor_) std::abort();
  }
  ~Holder() {
    if (pid_ != 0) kill();
    for (const int end : {told_[0], told_[1], asked_[0], asked_[1]}) ::close(end);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  pid_t pid() const { return pid_; }
  int descriptor() const { return descriptor_; }
  std::shared_ptr<const NeighbourLifeline> lifeline() const { return NeighbourLifeline::open(pid_, descriptor_); }

  /// The process is gone when this returns.
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  void stop() {
    ::kill(pid_, SIGSTOP);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOWAIT);
  }
  /// The process has released its lifeline when this returns, and lives on.
  void let_go() {
    char word = 0;
    if (::write(asked_[1], &word, 1) != 1 || ::read(told_[0], &word, 1) != 1) std::abort();
  }

 private:
  [[noreturn]] void live() {
    {
      const Lifeline lifeline([](ProcessId) {});
      const int descriptor = lifeline.descriptor();
      char word = 0;
      if (::write(told_[1], &descriptor, sizeof descriptor) != sizeof descriptor) ::_exit(1);
      if (::read(asked_[0], &word, 1) != 1) ::_exit(1);
    }
    if (::write(told_[1], "", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }

  int told_[2];
  int asked_[2];
  pid_t pid_ = 0;
  int descriptor_ = Lifeline::none;
};

/// A lifeline that looks at those of two other processes.
class ALifeline : public testing::Test {
 protected:
  void SetUp() override {
    ::syscall(SYS_futex_waitv, nullptr, 0, 0, nullptr, 0);
    if (errno == ENOSYS || errno == EPERM) GTEST_SKIP() << "this kernel has no futex_waitv";
    ASSERT_NE(lifeline_.descriptor(), Lifeline::none);
  }

  /// Waits for `count` ends and returns the processes that have ended so far.
  std::vector<ProcessId> ended(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.size() >= count; });
    return ended_;
  }

  Holder first_;
  Holder second_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ProcessId> ended_;
  Lifeline lifeline_{[this](ProcessId process) {
    const std::lock_guard lock(mutex_);
    ended_.push_back(process);
    changed_.notify_all();
  }};
};

constexpr ProcessId one{1};
constexpr ProcessId two{2};

TEST_F(ALifeline, tells_that_its_process_ends) {
  lifeline_.look_at(one, first_.lifeline());
  first_.kill();
  EXPECT_THAT(ended(1), testing::ElementsAre(one));
}

TEST_F(ALifeline, tells_that_a_stopped_process_is_killed) {
  lifeline_.look_at(one, first_.lifeline());
  first_.stop();
  first_.kill();
  EXPECT_THAT(ended(1), testing::ElementsAre(one));
}

TEST_F(ALifeline, tells_of_an_end_before_it_was_looked_at) {
  const auto line = first_.lifeline();
  first_.kill();
  lifeline_.look_at(one, line);
  EXPECT_THAT(ended(1), testing::ElementsAre(one));
}

TEST_F(ALifeline, that_is_let_go_tells_nothing) {
  lifeline_.look_at(one, first_.lifeline());
  first_.let_go();
  first_.kill();
  lifeline_.look_at(two, second_.lifeline());
  second_.kill();
  EXPECT_THAT(ended(1), testing::ElementsAre(two));
}

TEST_F(ALifeline, is_one_of_one_process_at_a_time) {
  lifeline_.look_at(one, first_.lifeline());
  lifeline_.look_at(two, second_.lifeline());
  first_.kill();
  second_.kill();
  EXPECT_THAT(ended(1), testing::ElementsAre(two));
  lifeline_.look_at(one, nullptr);
}

TEST_F(ALifeline, is_looked_at_after_another_has_ended) {
  lifeline_.look_at(one, first_.lifeline());
  first_.kill();
  ended(1);
  lifeline_.look_at(two, second_.lifeline());
  second_.kill();
  EXPECT_THAT(ended(2), testing::ElementsAre(one, two));
}

TEST_F(ALifeline, that_there_is_not_cannot_be_opened) {
  constexpr int closed = 1000;
  EXPECT_EQ(NeighbourLifeline::open(first_.pid(), Lifeline::none), nullptr);
  EXPECT_EQ(NeighbourLifeline::open(first_.pid(), closed), nullptr);
  const pid_t gone = first_.pid();
  first_.kill();
  EXPECT_EQ(NeighbourLifeline::open(gone, first_.descriptor()), nullptr);
}

}  // namespace
