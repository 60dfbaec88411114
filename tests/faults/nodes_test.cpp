// The loss of a whole node with two processes on it: its power fails, or its daemon dies with all processes. The nodes
// are emulated (emulated_nodes.sh), which needs root.

#include "tests/faults/app.hpp"
#include "tests/support/process_tree.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int node_count = 3;
constexpr int lost_node = 2;

class Nodes : public testing::Test {
 protected:
  void SetUp() override {
    static const bool is_possible = ::geteuid() == 0 && script("up", 0) && script("down", 0);
    if (!is_possible) GTEST_SKIP() << "nodes can be emulated by root only";
    up_ = true;
    ASSERT_TRUE(script("up", node_count)) << "the nodes cannot be made, or those of another test are still there";
  }
  ~Nodes() override {
    if (up_) script("down", node_count);
  }

  bool script(const std::string& what, int number) const {
    return std::system(fmt::format("{} {} {} {} >/dev/null 2>&1", MEND_EMULATED_NODES, what, name_, number).c_str()) ==
           0;
  }

  /// The processes on the nodes: two on the last one.
  struct Shape {
    int spares;
    int on_first;  // processes on each other node
    std::string on_failure;
    std::vector<std::string> options;          // of the program
    std::vector<std::string> options_of_mend;  // of mend run
  };
  static inline const Shape with_spares{2, 2, "spare", {}, {}};  // one of them on the last node
  static inline const Shape without_spares{0, 1, "spawn", {}, {}};

  /// Has the job run on the nodes, with two processes on the last and `on_first` on each other.
  void place(support::Job& job, int on_first, const std::vector<std::string>& options = {}) const {
    const auto end_of_options = std::find(job.command.begin(), job.command.end(), "--");
    job.command.insert(job.command.insert(end_of_options, options.begin(), options.end()),
                       {"--host", fmt::format("{0}-0:{1},{0}-1:{1},{0}-2:2", name_, on_first), "--mpi",
                        fmt::format("--prtemca plm_ssh_agent {} --mca mpi_yield_when_idle 1", MEND_EMULATED_NODES)});
    job.command.insert(job.command.begin(), {"ip", "netns", "exec", name_ + "-head"});
    job.deadline = std::chrono::seconds(300);
  }

  /// Runs the stencil with 4 ranks, disturbs it when a tenth is done, and returns its result.
  nlohmann::json run(const std::function<void()>& disturb, const Shape& shape = with_spares) {
    const support::ScratchFolder scratch;
    const auto result = scratch.path() / "result.json";
    auto job = support::mend_run(4, shape.spares,
                                 {MEND_STENCIL, "--size", "32", "--steps", "4000", "--commit-every", "20", "--result",
                                  result.string(), "--mend-on-failure", shape.on_failure});
    job.command.insert(job.command.end(), shape.options.begin(), shape.options.end());
    place(job, shape.on_first, shape.options_of_mend);
    bool disturbed = !disturb;
    job.on_output = [&](const std::string& said) {
      if (disturbed || said.find("stencil: step") == std::string::npos) return;
      disturbed = true;
      disturb();
    };
    const auto end = support::run_job(job);
    EXPECT_TRUE(disturbed) << "the solver has not said how far it is";
    EXPECT_EQ(end.exit_code, 0) << end.output << end.errors;
    errors_ = end.errors;
    std::ifstream in(result);
    return in ? nlohmann::json::parse(in)
              : nlohmann::json{{"field_hash", "none"}, {"recoveries", nlohmann::json::array()}};
  }

  /// The processes of the application; if `node` is given, only those on it.
  std::vector<pid_t> processes(std::optional<int> node = {}) const {
    std::vector<pid_t> found;
    for (const pid_t process : support::descendants_of(::getpid())) {
      if (support::program_of(process) != MEND_STENCIL) continue;
      const auto network = fmt::format("/proc/{}/ns/net", process);
      std::error_code gone;
      if (!node || std::filesystem::equivalent(network, fmt::format("/run/netns/{}-{}", name_, *node), gone))
        found.push_back(process);
    }
    return found;
  }
  /// The number of these processes.
  int application(std::optional<int> node = {}) const { return static_cast<int>(processes(node).size()); }
  /// Waits for that number. Returns false if it is not reached in time.
  bool becomes(int count, std::optional<int> node = {}) const {
    return support::soon([&] { return application(node) == count; });
  }

  /// The result of the solver after this disturbance, which must be the undisturbed one.
  nlohmann::json survive(const std::function<void()>& disturb, const Shape& shape = with_spares) {
    static const nlohmann::json undisturbed = run({});
    const auto survived = run(disturb, shape);
    EXPECT_EQ(survived["field_hash"], undisturbed["field_hash"]);
    return survived;
  }

  void expect_survived(const std::function<void()>& loss, const Shape& shape = with_spares) {
    const auto survived = survive(loss, shape);
    std::size_t dead = 0;
    for (const auto& recovery : survived["recoveries"]) dead += recovery["dead"].size();
    EXPECT_EQ(dead, 2U) << survived["recoveries"].dump();
  }

 private:
  bool up_ = false;

 protected:
  std::string name_ = fmt::format("mend{}", ::getpid() % 10000);
  std::string errors_;  // of the last run
};

TEST_F(Nodes, that_run_programs_for_fenix_leave_each_rank_the_number_of_its_process) {
  auto job = support::mend_run(4, 2, {MEND_FENIX_EARLY, "2"});
  place(job, 2);
  const auto end = support::run_job(job);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_THAT(end.output, testing::HasSubstr(fmt::format("rank {0}: process {0}, ", rank)));
}

TEST_F(Nodes, that_lose_their_power_are_survived) {
  expect_survived([this] {
    script("cut", lost_node);
    script("kill", lost_node);
  });
}

TEST_F(Nodes, that_are_lost_are_made_up_for_by_processes_started_on_others) {
  expect_survived([this] { script("kill", lost_node); }, without_spares);
  expect_survived(
      [this] {
        script("cut", lost_node);
        script("kill", lost_node);
      },
      without_spares);
}

TEST_F(Nodes, that_are_lost_with_too_many_ranks_are_left_out_when_the_job_is_launched_anew) {
  const support::ScratchFolder disk;
  constexpr int with_two_ranks = 1;
  survive(
      [this] {
        script("cut", with_two_ranks);
        script("kill", with_two_ranks);
      },
      {0, 2, "spare", {"--mend-disk", disk.path().string()}, {"--relaunch", "1"}});
  EXPECT_THAT(errors_, testing::HasSubstr(
                           fmt::format("{}-{} cannot be reached any more: the next launch does without it", name_, 1)));
  EXPECT_THAT(errors_, testing::HasSubstr("continues from version"));
}

TEST_F(Nodes, where_processes_are_started_can_be_chosen) {
  const auto chosen = [this](int node) {
    auto shape = without_spares;
    shape.options = {"--mend-spawn-on", fmt::format("{}-{}", name_, node)};
    return shape;
  };
  for (const int node : {0, 1}) {
    survive(
        [&] {
          ::kill(processes(lost_node).front(), SIGKILL);
          EXPECT_TRUE(becomes(2, node)) << "nobody was started on node " << node;
        },
        chosen(node));
  }
}

TEST_F(Nodes, that_are_cut_off_are_survived_and_their_processes_end_by_themselves) {
  expect_survived([this] {
    script("cut", lost_node);
    EXPECT_TRUE(becomes(0, lost_node)) << "processes that most others hold dead go on";
    script("kill", lost_node);  // the daemon
  });
}

TEST_F(Nodes, that_are_cut_off_for_less_than_the_time_out_go_on) {
  const auto survived = survive([this] {
    script("cut", lost_node);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    script("mend", lost_node);
  });
  EXPECT_EQ(survived["recoveries"].size(), 0U) << survived["recoveries"].dump();
  // A spare too is told of. Over other transports than TCP, mend warns of them.
  EXPECT_THAT(errors_,
              testing::AnyOf("", testing::MatchesRegex("mend: btl [^\n]*: these transports were not tried with "
                                                       "failures, or on one machine only\n")))
      << "somebody has died of it";
}

TEST_F(Nodes, that_are_cut_off_for_longer_lose_their_processes_and_nobody_else) {
  expect_survived([this] {
    script("cut", lost_node);
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    script("mend", lost_node);
  });
}

TEST_F(Nodes, that_lose_their_daemon_are_survived) {
  if (!std::filesystem::exists(MEND_LOST_DAEMON_CORRECTION))
    GTEST_SKIP() << "this Open MPI ends the job then; see docs/open-mpi.md";
  expect_survived([this] { script("kill", lost_node); });
}

}  // namespace
