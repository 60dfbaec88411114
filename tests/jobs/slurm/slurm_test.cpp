// mend run and mend script in a real Slurm: two nodes that this machine plays (cluster.sh), which needs root.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"
#include "tests/support/long_tests.hpp"
#include "tests/support/scoped_environment.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string mend_script(const std::vector<std::string>& arguments) {
  std::vector<std::string> line{"script", "slurm", "--time-limit", "3min"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  MendProcess script(line);
  EXPECT_EQ(script.wait(), 0) << script.errors();
  return script.output();
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old << " is not in:\n" << text;
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

std::string executable_of(pid_t process) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process), error).string();
}

class Slurm : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "Slurm's daemons are started by root only";
    if (std::system("command -v slurmctld slurmd munged >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "there is no Slurm: install slurm-wlm and munge to run this test";
    ASSERT_EQ(cluster("up"), 0) << "Slurm does not start";
    up_ = true;
  }
  ~Slurm() override {
    if (up_) cluster("down");
  }

  std::filesystem::path folder() const { return scratch_.path(); }

  int cluster(const std::string& what, const std::string& more = "") const {
    return std::system(fmt::format("{} {} {} {} {}", MEND_SLURM_CLUSTER, what, name_, folder().string(), more).c_str());
  }

  /// What a command of Slurm's prints.
  std::string ask(const std::string& command) const {
    const auto answer = folder() / "answer";
    EXPECT_EQ(cluster("ask", fmt::format("{} >{} 2>&1", command, answer.string())), 0)
        << command << ": " << content_of(answer);
    return content_of(answer);
  }

  void submit(const std::string& script) {
    std::ofstream(folder() / "job.sh") << script;
    const std::string command =
        fmt::format("sbatch --parsable --chdir={0} --output={0}/output {0}/job.sh", folder().string());
    job_ = std::stoi(ask(command));
  }

  std::string output() const { return content_of(folder() / "output"); }

  /// Of the job: RUNNING, COMPLETED, ...
  std::string state() const { return field("JobState"); }
  std::string field(const std::string& name) const {
    const std::string job = ask(fmt::format("scontrol show job {}", job_));
    const auto at = job.find(name + "=");
    return at == std::string::npos
               ? ""
               : job.substr(at + name.size() + 1, job.find_first_of(" \n", at) - at - name.size() - 1);
  }

  /// Fails the test after two minutes.
  void wait_until(const std::string& what, const std::function<bool()>& holds) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "not " << what << ":\n" << output() << ask("squeue");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  void wait_for_output(const std::string& text) const {
    wait_until(text, [&] { return output().find(text) != std::string::npos; });
  }

  /// Waits until the job has been launched anew so often.
  void wait_for_restarts(int restarts) const {
    for (int count = 1; count <= restarts; ++count) {
      const auto is_launched = [&] { return std::stoi(field("Restarts")) >= count; };
      wait_until(fmt::format("launched anew {} times", count), [&] { return is_launched() || has_ended(); });
      ASSERT_TRUE(is_launched()) << output();
    }
  }

  /// Returns true if the job has ended for good. One that is launched anew is said to have failed for a moment, while
  /// squeue still lists it.
  bool has_ended() const {
    const std::string last = state();
    const bool ended =
        last == "COMPLETED" || last == "FAILED" || last == "TIMEOUT" || last == "CANCELLED" || last == "NODE_FAIL";
    return ended && ask("squeue --noheader").empty() && state() == last;
  }

  /// Returns the job's last state.
  std::string wait_for_end() const {
    wait_until("ended", [&] { return has_ended(); });
    return state();
  }

  /// The stencil on four ranks and as many spares: two of each on each node.
  std::vector<std::string> stencil(const std::vector<std::string>& of_script, const std::vector<std::string>& own = {},
                                   int steps = 60) const {
    std::vector<std::string> line{"-n", "4", "--spares", "4", "--processes-per-node", "4"};
    line.insert(line.end(), of_script.begin(), of_script.end());
    line.insert(line.end(),
                {"--", MEND_STENCIL, "--size", "16", "--steps", std::to_string(steps), "--result", result().string()});
    line.insert(line.end(), own.begin(), own.end());
    return line;
  }
  std::filesystem::path result() const { return folder() / "result.json"; }

  /// Of the field at the end.
  std::string hash() const { return nlohmann::json::parse(content_of(result())).at("field_hash").dump(); }

  /// How many processes of the application run there.
  int processes_on_node(int node) const {
    int count = 0;
    for (const pid_t process : processes_with_argument(result().string())) {
      const auto name = fmt::format("{}-{}", name_, node);
      count += std::filesystem::exists(fmt::format("/proc/{}/ns/net", process)) &&
               std::filesystem::equivalent(fmt::format("/proc/{}/ns/net", process), "/run/netns/" + name) &&
               std::filesystem::path(executable_of(process)).filename() == "stencil";
    }
    return count;
  }

 private:
  std::string name_ = fmt::format("slurm{}", ::getpid());
  support::ScratchFolder scratch_;
  support::ScopedEnvironment slurm_{
      {"SLURM_CONF", (scratch_.path() / "slurm.conf").string()},
      {"PATH", std::filesystem::path(MEND_COMMAND).parent_path().string() + ":/usr/sbin:/sbin:" + std::getenv("PATH")}};
  bool up_ = false;
  int job_ = 0;
};

TEST_F(Slurm, runs_a_job_that_outlives_a_killed_rank) {
  submit(mend_script(stencil({}, {"--kill", "1@30"})));
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_THAT(output(), AllOf(HasSubstr("rank 1"), HasSubstr("SIGKILL"), Not(HasSubstr("--no-kill"))));
}

TEST_F(Slurm, runs_a_job_that_outlives_a_node) {
  submit(mend_script(stencil({}, {"--mend-disk=" + (folder() / "disk").string() + ",every=10"}, 100)));
  wait_for_output("is on disk");
  cluster("lose", "1");
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_THAT(output(), HasSubstr("took over"));
}

TEST_F(Slurm, launches_a_job_anew_without_the_node_that_was_lost_with_too_many_ranks) {
  const auto script = mend_script(stencil({}, {"--mend-disk=" + (folder() / "disk").string() + ",every=10"}, 100));
  submit(replaced(script, "mend run -n 4 --spares 4", "mend run -n 8 --relaunch 1"));
  wait_for_output("is on disk");
  cluster("lose", "1");
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_THAT(output(), AllOf(HasSubstr("cannot be reached any more: the next launch does without it"),
                              HasSubstr("continues from version")));
}

TEST_F(Slurm, launches_a_job_anew_that_has_left_before_its_time_limit_and_it_goes_on) {
  const int launches = support::long_tests() ? 10 : 2;
  submit(mend_script(stencil({})));
  ASSERT_EQ(wait_for_end(), "COMPLETED") << output();
  const std::string undisturbed = hash();
  std::filesystem::remove(result());

  const auto disk = (folder() / "disk").string();
  const auto script = mend_script(stencil({"--disk", disk, "--requeue", std::to_string(launches)}));
  // Every launch but the last is asked at once to leave, as three minutes are all that Slurm gives it.
  submit(
      replaced(script, "mend run",
               fmt::format("mend run --time-margin $([ ${{SLURM_RESTART_COUNT:-0}} -lt {} ] && echo 3min || echo 1s)",
                           launches)));
  wait_for_restarts(launches);
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_EQ(field("Restarts"), std::to_string(launches));
  EXPECT_THAT(output(), AllOf(HasSubstr("mend: the time limit is near"), HasSubstr("continues from version")));
  EXPECT_EQ(hash(), undisturbed);
}

TEST_F(Slurm, launches_a_job_anew_that_has_lost_its_first_node) {
  submit(mend_script(stencil({"--disk", (folder() / "disk").string() + ",every=10", "--requeue", "1"}, {}, 200)));
  wait_for_output("is on disk");
  cluster("lose", "0");
  wait_for_restarts(1);
  cluster("return", "0");
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_THAT(output(), HasSubstr("continues from version"));
}

TEST_F(Slurm, is_told_of_when_it_would_end_the_job_with_a_node) {
  submit(replaced(mend_script(stencil({})), "#SBATCH --no-kill\n", ""));
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_THAT(output(), HasSubstr("mend: Slurm ends this job when one of its nodes fails"));
}

TEST_F(Slurm, lends_whole_nodes_for_spares) {
  const auto script = mend_script(stencil({}));
  submit(replaced(script, "mend run -n 4 --spares 4", "mend run -n 5 --spare-nodes 1"));
  EXPECT_EQ(wait_for_end(), "FAILED");
  EXPECT_THAT(
      output(),
      HasSubstr("mend: --spare-nodes 1 leaves 1 of the 2 nodes of Slurm for ranks, with place for 4 of the 5 ranks"));

  submit(replaced(replaced(script, "mend run -n 4 --spares 4", "mend run -n 4 --spare-nodes 1"), "--steps 60",
                  "--steps 200"));
  wait_for_output("stencil: step 20 ");
  EXPECT_EQ(processes_on_node(0), 4);
  EXPECT_EQ(processes_on_node(1), 4);
  // Nobody works there: nobody goes back.
  cluster("lose", "1");
  EXPECT_EQ(wait_for_end(), "COMPLETED") << output();
  EXPECT_THAT(output(), AllOf(HasSubstr("spare"), Not(HasSubstr("took over"))));
}

}  // namespace
