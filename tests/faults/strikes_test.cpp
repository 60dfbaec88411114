// Jobs that get one SIGKILL or SIGSTOP each, at a random time from their launch to their last exit. None may hang, and
// all must end soon with the result of the undisturbed run. Runs for half a minute; with MEND_TEST_LONG=1, 500 jobs,
// each with a line of its own.
//
// MEND_STRIKES=n    runs n jobs instead
// MEND_SEED=n       the seed of the first job: with MEND_STRIKES, runs a part of the 500, or repeats one of them

#include "tests/faults/app.hpp"
#include "tests/support/process_tree.hpp"
#include "tests/support/long_tests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// From the signal on: a second until a hanging process is declared dead, a new launch, and the job itself.
constexpr Seconds longest{10};

const std::vector<std::string>& program() {
  static const std::vector<std::string> line{MEND_STENCIL, "--size", "32", "--steps", "400", "--commit-every", "10"};
  return line;
}

support::JobEnd run_stencil() {
  support::Job job = support::mend_run(faults::ranks, faults::spares, program());
  job.command.insert(std::find(job.command.begin(), job.command.end(), "--"), {"--end-limit", "2"});
  return support::run_job(job);
}

std::string hash_in(const std::string& output) {
  std::smatch found;
  return std::regex_search(output, found, std::regex("field hash ([0-9a-f]+)")) ? found[1].str() : "none";
}

/// A signal to one process of the job, some time after its launch.
class Blow {
 public:
  Blow(unsigned seed, Seconds within) : random_(seed), thread_([this, within] { strike(within); }) {}
  ~Blow() { end(); }
  Blow(const Blow&) = delete;
  Blow& operator=(const Blow&) = delete;

  bool has_struck() const { return fell_at_.has_value(); }
  Clock::time_point fell_at() const { return *fell_at_; }
  const std::string& text() const { return text_; }
  const char* signal_name() const { return signal_ == SIGKILL ? "SIGKILL" : "SIGSTOP"; }
  /// Call this when the job is over, before asking for the result of the signal.
  void end() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void strike(Seconds within) {
    const Seconds delay(std::uniform_real_distribution(0.0, within.count())(random_));
    signal_ = std::uniform_int_distribution(0, 1)(random_) == 0 ? SIGKILL : SIGSTOP;
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
      if (::kill(victim, signal_) != 0) continue;
      fell_at_ = Clock::now();
      text_ = fmt::format("{} after {:.3f} s", signal_name(), Seconds(*fell_at_ - launched).count());
      return;
    }
  }

  std::mt19937 random_;
  int signal_ = SIGKILL;
  std::atomic<bool> over_ = false;
  std::optional<Clock::time_point> fell_at_;
  std::string text_ = "nobody was struck";
  std::thread thread_;
};

unsigned long number_from(const char* variable, unsigned long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoul(text);
}

/// The result of a signal.
std::string outcome_of(const support::JobEnd& end, const Blow& blow) {
  if (!end.in_time) return "hung";
  if (end.exit_code != 0) return fmt::format("exit code {}", end.exit_code);
  const auto says = [&](const char* text) { return end.errors.find(text) != std::string::npos; };
  std::vector<std::string> ways;
  if (says("launched anew")) ways.emplace_back("launched anew");
  if (says("took over")) ways.emplace_back("recovered");
  if (says("spare process")) ways.emplace_back("lost a spare");
  if (says("after the end of the job and")) ways.emplace_back("killed at its end");
  if (ways.empty()) ways.emplace_back(blow.has_struck() ? "went on" : "was not struck");
  return fmt::format("{}", fmt::join(ways, ", "));
}

/// The results of all jobs.
class Tally {
 public:
  void add(const Blow& blow, const std::string& outcome, Seconds took) {
    ++ends_[{blow.signal_name(), outcome}];
    seconds_.push_back(took.count());
  }
  void print() {
    for (const auto& [end, count] : ends_) std::cout << fmt::format("{:4} {}: {}\n", count, end.first, end.second);
    if (seconds_.empty()) return;
    std::ranges::sort(seconds_);
    const auto at = [&](std::size_t percent) { return seconds_[(seconds_.size() - 1) * percent / 100]; };
    std::cout << fmt::format("from the blow to the end: median {:.1f} s, 95% {:.1f} s, slowest {:.1f} s\n", at(50),
                             at(95), at(100));
  }

 private:
  std::map<std::pair<std::string, std::string>, int> ends_;
  std::vector<double> seconds_;
};

TEST(Strikes, at_any_moment_of_a_jobs_life_do_not_keep_it_from_its_end) {
  const bool is_long = support::long_tests();
  const unsigned long most = number_from("MEND_STRIKES", is_long ? 500 : 1000);
  const auto until = Clock::now() + std::chrono::seconds(is_long ? 36'000 : 30);
  const auto undisturbed = run_stencil();
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.errors;
  const std::string expected = hash_in(undisturbed.output);

  const unsigned long first = number_from("MEND_SEED", 1);
  unsigned long struck = 0;
  unsigned long jobs = 0;
  unsigned long silent = 0;
  Tally tally;
  Seconds lifetime = undisturbed.took;  // longer while others use the machine
  for (unsigned long seed = first; jobs < most && Clock::now() < until; ++seed, ++jobs) {
    Blow blow(static_cast<unsigned>(seed), lifetime);
    const auto end = run_stencil();
    const auto ended_at = Clock::now();
    blow.end();
    const Seconds took = blow.has_struck() ? ended_at - blow.fell_at() : Seconds(0);
    const std::string outcome = outcome_of(end, blow);
    const std::string what =
        fmt::format("MEND_SEED={} MEND_STRIKES=1: {}, {}, {:.1f} s later", seed, blow.text(), outcome, took.count());
    if (is_long) std::cout << what << std::endl;
    EXPECT_EQ(end.exit_code, 0) << what << "\n" << end.errors;
    EXPECT_LT(took, longest) << what << "\n" << end.errors;
    // Rank 0 may have been killed after the end, before it could print the result.
    const std::string hash = hash_in(end.output);
    if (hash == "none") {
      ++silent;
    } else {
      EXPECT_EQ(hash, expected) << what;
    }
    if (!blow.has_struck()) {
      lifetime = std::min(lifetime, end.took);
      continue;
    }
    ++struck;
    tally.add(blow, outcome, took);
  }
  std::cout << fmt::format("{} jobs, {} struck, {} of them without a word of rank 0's on the result\n", jobs, struck,
                           silent);
  tally.print();
  EXPECT_GE(2 * struck, jobs);
  EXPECT_LE(silent, 1 + jobs / 20);
}

}  // namespace
