#include "base/thread.hpp"

#include <gtest/gtest.h>

#include <pthread.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

TEST(Thread, has_its_name_and_takes_no_signals) {
  std::string name;
  bool takes_signals = true;
  mend::start_thread("mend-test", [&] {
    std::array<char, 16> text{};
    ::pthread_getname_np(::pthread_self(), text.data(), text.size());
    name = text.data();
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    takes_signals = ::sigismember(&blocked, SIGTERM) == 0 || ::sigismember(&blocked, SIGUSR1) == 0;
  }).join();
  EXPECT_EQ(name, "mend-test");
  EXPECT_FALSE(takes_signals);
  sigset_t blocked;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(::sigismember(&blocked, SIGTERM), 0) << "the starter takes them as before";
}

TEST(Thread, is_told_to_stop_if_it_wants_to_know) {
  bool stopped = false;
  {
    const auto thread = mend::start_thread<std::jthread>("mend-test", [&](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped = true;
    });
  }
  EXPECT_TRUE(stopped);
}

TEST(Thread, sleeps_until_it_is_told_to_stop_or_the_time_is_over) {
  EXPECT_FALSE(mend::sleep_unless_stopped(std::stop_source().get_token(), std::chrono::milliseconds(1)));
  bool was_stopped = false;
  {
    const auto thread = mend::start_thread<std::jthread>("mend-test", [&](const std::stop_token& stop) {
      was_stopped = mend::sleep_unless_stopped(stop, std::chrono::hours(1));
    });
  }
  EXPECT_TRUE(was_stopped);
}

TEST(ThreadDeathTest, that_fails_stops_the_process_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(mend::start_thread("mend-test", [] { throw std::runtime_error("no room is left"); }).join(),
              testing::KilledBySignal(SIGKILL), "its thread mend-test failed: no room is left");
}

}  // namespace
