// Ranks and spares are killed from outside at random times, job after job, for 90 seconds or MEND_SOAK_SECONDS. In
// contrast to the fault matrix, this is not systematic.

#include "tests/faults/app.hpp"
#include "tests/support/process_tree.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

namespace {

using nlohmann::json;

constexpr int most_kills = 8;

/// A job of a solver, and its result.
class Solver {
 public:
  /// `spares`: as many as are killed at most, or fewer; then processes are started, so that the ranks can be filled.
  Solver(std::string name, int spares, std::vector<std::string> command)
      : name_(std::move(name)), spares_(spares), command_(std::move(command)) {
    if (spares < most_kills) command_.insert(command_.end(), {"--mend-on-failure", "spare,spawn"});
    command_.insert(command_.end(), {"--mend-redundancy", "replicas:2"});
    undisturbed_ = run([](const std::string&) {}).result.at("field_hash");
  }

  /// How the job ended: `result` is null if it has not finished.
  struct Outcome {
    json result;
    std::string errors;
  };

  /// Returns true if a process was held dead because it did not come out of the MPI library.
  static bool was_stuck(const std::string& errors) { return errors.find("(--mend-stuck-limit)") != std::string::npos; }

  /// Runs the job; calls `on_output` with its output.
  Outcome run(const std::function<void(const std::string&)>& on_output) const {
    const support::ScratchFolder scratch;
    const auto result = scratch.path() / "result.json";
    auto command = command_;
    command.insert(command.end(), {"--result", result.string()});
    support::Job job = support::mend_run(faults::ranks, spares_, command);
    job.deadline = std::chrono::seconds(180);
    job.on_output = on_output;
    const auto end = support::run_job(job);
    EXPECT_TRUE(end.in_time) << name_;
    std::ifstream in(result);
    if (end.exit_code == 0 && in) return {json::parse(in), end.errors};
    // Three ranks that hold each other's data may die before any of it is copied again, or three newcomers in turn, or
    // all.
    EXPECT_EQ(end.exit_code, 3) << name_ << ": " << end.errors;
    // Those that are held dead because they are stuck in the MPI library take spares that were meant for others.
    if (was_stuck(end.errors)) return {nullptr, end.errors};
    EXPECT_THAT(end.errors,
                testing::ContainsRegex("the data of ranks? .* is lost|the data that they committed is lost|version "
                                       "[0-9]+ is lost: no living process|3 that it has started have died|every "
                                       "process that could .* was killed"))
        << name_;
    return {nullptr, end.errors};
  }

  const std::string& program() const { return command_.front(); }
  const json& undisturbed() const { return undisturbed_; }
  bool has_a_spare_for_each_kill() const { return spares_ >= most_kills; }

 private:
  std::string name_;
  int spares_;
  std::vector<std::string> command_;
  json undisturbed_;
};

/// Kills random processes of a program while it lives, from the time at which it is started.
class Killer {
 public:
  Killer(std::string program, unsigned seed) : program_(std::move(program)), random_(seed) {}
  ~Killer() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Killer(const Killer&) = delete;
  Killer& operator=(const Killer&) = delete;

  void let_loose() {
    if (!thread_.joinable()) thread_ = std::thread([this] { rage(); });
  }
  int struck() const { return struck_; }

 private:
  void rage() {
    while (!over_ && struck_ < most_kills) {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(10, 250)(random_)));
      std::vector<pid_t> alive;
      for (const pid_t process : support::descendants_of(::getpid())) {
        if (support::program_of(process) == program_) alive.push_back(process);
      }
      if (alive.empty()) continue;
      ::kill(alive[std::uniform_int_distribution<std::size_t>(0, alive.size() - 1)(random_)], SIGKILL);
      ++struck_;
    }
  }

  std::string program_;
  std::mt19937 random_;
  std::atomic<bool> over_ = false;
  std::atomic<int> struck_ = 0;
  std::thread thread_;
};

TEST(Chaos, leaves_the_result_as_it_was) {
  const auto deadline = std::chrono::steady_clock::now() + support::soak_time(std::chrono::seconds(90));
  const char* first = std::getenv("MEND_SEED");
  const std::vector<std::string> stencil{MEND_STENCIL, "--size", "32", "--steps", "3000", "--commit-every", "10"};
  const std::vector<std::string> minife{MEND_MINIFE, "--nx", "12", "--steps", "300", "--commit-every", "5"};
  const auto locally = [](std::vector<std::string> command) {
    command.insert(command.end(), {"--mend-rollback", "local"});
    return command;
  };
  const auto in_clusters = [&](const std::vector<std::string>& command) {
    std::vector<std::string> words = locally(command);
    words.insert(words.end(), {"--mend-clusters", "2"});
    return words;
  };
  std::vector<Solver> solvers{Solver("stencil", most_kills, stencil),
                              Solver("minife", most_kills, minife),
                              Solver("stencil, rolled back in clusters", most_kills, in_clusters(stencil)),
                              Solver("minife, rolled back in clusters", most_kills, in_clusters(minife)),
                              Solver("stencil, rolled back locally", most_kills, locally(stencil)),
                              Solver("minife, rolled back locally", most_kills, locally(minife))};
  if (std::getenv("MEND_SOAK_SECONDS") != nullptr) {  // on request, for longer: also with processes that are started
    solvers.emplace_back("stencil, started anew", 1, stencil);
    solvers.emplace_back("minife, started anew", 1, minife);
  }
  int jobs = 0;
  int lost = 0;
  int stuck = 0;
  int lost_with_spares = 0;  // started processes may come too late for the next kill, especially on a busy machine
  std::size_t recoveries = 0;
  for (unsigned seed = first ? static_cast<unsigned>(std::stoul(first)) : 1;
       std::chrono::steady_clock::now() < deadline; ++seed, ++jobs) {
    const Solver& solver = solvers[seed % solvers.size()];
    Killer killer(solver.program(), seed);
    const auto [result, errors] = solver.run([&](const std::string& said) {
      if (said.find("step") != std::string::npos) killer.let_loose();
    });
    if (HasFailure()) FAIL() << "after " << killer.struck() << " kills; seed " << seed;
    if (Solver::was_stuck(errors)) {
      ++stuck;
      std::cout << fmt::format("seed {}: {}\n", seed, errors);
    }
    if (result.is_null()) {
      ++lost;
      if (solver.has_a_spare_for_each_kill()) ++lost_with_spares;
      continue;
    }
    EXPECT_EQ(result.at("field_hash"), solver.undisturbed()) << "seed " << seed;
    std::size_t dead = 0;
    for (const json& recovery : result.at("recoveries")) dead += recovery.at("dead").size();
    const bool somebody_died_of_himself = dead > static_cast<std::size_t>(killer.struck());
    EXPECT_FALSE(somebody_died_of_himself && !Solver::was_stuck(errors)) << "seed " << seed << "\n" << errors;
    recoveries += result.at("recoveries").size();
  }
  std::cout << fmt::format(
      "{} jobs: {} recoveries; {} jobs lost data and said so; in {} a process was held dead as stuck\n", jobs,
      recoveries, lost, stuck);
  EXPECT_LE(stuck, 1 + jobs / 100);
  EXPECT_GT(recoveries, 0U);
  EXPECT_LT(lost_with_spares, std::max(2, jobs / 4));
}

}  // namespace
