// Jobs struck once each, at any moment from their launch to their last exit, by SIGKILL or SIGSTOP: none hangs, all end
// with the result of the undisturbed run, and soon. For half a minute; with MEND_TEST_LONG=1, 500 jobs, or as many as
// MEND_STRIKES says. MEND_SEED is the first job's.

#include "tests/support/job.hpp"
#include "tests/support/process_tree.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <regex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int ranks = 4;
constexpr int spares = 2;
/// From the blow on: a second of silence until a hanging process is held dead, a launch anew, and the job itself.
constexpr Seconds longest{10};

const std::vector<std::string>& program() {
  static const std::vector<std::string> line{MEND_STENCIL, "--size", "32", "--steps", "400", "--commit-every", "10"};
  return line;
}

support::JobEnd run_stencil() {
  support::Job job = support::mend_run(ranks, spares, program());
  job.command.insert(std::find(job.command.begin(), job.command.end(), "--"), {"--end-limit", "2"});
  return support::run_job(job);
}

std::string hash_in(const std::string& output) {
  std::smatch found;
  return std::regex_search(output, found, std::regex("field hash ([0-9a-f]+)")) ? found[1].str() : "none";
}

/// A blow against one process of the job, some time after its launch.
class Blow {
 public:
  Blow(unsigned seed, Seconds within) : random_(seed), thread_([this, within] { strike(within); }) {}
  ~Blow() { end(); }
  Blow(const Blow&) = delete;
  Blow& operator=(const Blow&) = delete;

  bool has_struck() const { return fell_at_.has_value(); }
  Clock::time_point fell_at() const { return *fell_at_; }
  const std::string& text() const { return text_; }
  /// Call this when the job is over, before asking what became of the blow.
  void end() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void strike(Seconds within) {
    const Seconds delay(std::uniform_real_distribution(0.0, within.count())(random_));
    const int signal = std::uniform_int_distribution(0, 1)(random_) == 0 ? SIGKILL : SIGSTOP;
    const auto launched = Clock::now();
    std::this_thread::sleep_until(launched + delay);
    for (bool had_some = false; !over_;) {
      std::vector<pid_t> alive;
      for (const pid_t process : support::descendants_of(::getpid())) {
        if (support::program_of(process) == program().front()) alive.push_back(process);
      }
      if (alive.empty() && had_some) return;
      if (alive.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      had_some = true;
      const pid_t victim = alive[std::uniform_int_distribution<std::size_t>(0, alive.size() - 1)(random_)];
      if (::kill(victim, signal) != 0) continue;
      fell_at_ = Clock::now();
      text_ = fmt::format("{} after {:.3f} s", signal == SIGKILL ? "SIGKILL" : "SIGSTOP",
                          Seconds(*fell_at_ - launched).count());
      return;
    }
  }

  std::mt19937 random_;
  std::atomic<bool> over_ = false;
  std::optional<Clock::time_point> fell_at_;
  std::string text_ = "nobody was struck";
  std::thread thread_;
};

unsigned long number_from(const char* variable, unsigned long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoul(text);
}

TEST(Strikes, at_any_moment_of_a_jobs_life_do_not_keep_it_from_its_end) {
  const bool is_long = number_from("MEND_TEST_LONG", 0) == 1;
  const unsigned long most = number_from("MEND_STRIKES", is_long ? 500 : 1000);
  const auto until = Clock::now() + std::chrono::seconds(is_long ? 36'000 : 30);
  const auto undisturbed = run_stencil();
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.errors;
  const std::string expected = hash_in(undisturbed.output);

  const unsigned long first = number_from("MEND_SEED", 1);
  unsigned long struck = 0;
  unsigned long jobs = 0;
  unsigned long silent = 0;
  Seconds slowest{0};
  std::string slowest_was;
  for (unsigned long seed = first; jobs < most && Clock::now() < until; ++seed, ++jobs) {
    Blow blow(static_cast<unsigned>(seed), undisturbed.took);
    const auto end = run_stencil();
    const auto ended_at = Clock::now();
    blow.end();
    const std::string what = fmt::format("MEND_SEED={} MEND_STRIKES=1: {}", seed, blow.text());
    ASSERT_TRUE(end.in_time) << what;
    ASSERT_EQ(end.exit_code, 0) << what << "\n" << end.errors;
    // Rank 0 may have been struck after the end, before it could say it.
    const std::string hash = hash_in(end.output);
    if (hash == "none") {
      ++silent;
    } else {
      EXPECT_EQ(hash, expected) << what;
    }
    if (!blow.has_struck()) continue;
    ++struck;
    const Seconds took = ended_at - blow.fell_at();
    if (took > longest) std::cout << fmt::format("{:.1f} s until the end: {}\n{}", took.count(), what, end.errors);
    if (took > slowest) slowest_was = what;
    slowest = std::max(slowest, took);
  }
  std::cout << fmt::format("{} jobs, {} struck; the slowest had its end {:.1f} s after the blow: {}\n", jobs, struck,
                           slowest.count(), slowest_was);
  EXPECT_GT(struck, jobs / 2);
  EXPECT_LE(silent, 1 + jobs / 20);
  EXPECT_LT(slowest, longest) << slowest_was;
}

}  // namespace
