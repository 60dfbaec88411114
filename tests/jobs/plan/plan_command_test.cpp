// `mend plan` as users call it.

#include "tests/support/mend_process.hpp"
#include "tests/support/job.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> plan_of(std::vector<std::string> more) {
  std::vector<std::string> line{"plan", "--nodes",  "1000", "--ranks-per-node", "4", "--node-mtbf",
                                "5y",   "--length", "24h"};
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

TEST(MendPlan, advises_a_command_for_mend_run) {
  MendProcess plan(plan_of({"--state-per-rank", "2GiB"}));
  EXPECT_EQ(plan.wait(), 0) << plan.errors();
  EXPECT_THAT(plan.errors(), IsEmpty());
  EXPECT_THAT(plan.output(),
              AllOf(HasSubstr("partner"), HasSubstr("rs:4+2"), HasSubstr("mend run -n 4000 --spare-nodes ")));
}

TEST(MendPlan, tells_scripts_the_same) {
  MendProcess plan(plan_of({"--state-per-rank", "2GiB", "--json"}));
  EXPECT_EQ(plan.wait(), 0) << plan.errors();
  const auto json = nlohmann::json::parse(plan.output());
  EXPECT_EQ(json["ranks"], 4000);
  EXPECT_LE(json["plan"]["chance_out_of_spares"].get<double>(), 0.01);
  EXPECT_LE(json["plan"]["chance_data_loss"].get<double>(), 0.01);
  EXPECT_EQ(json["plan"]["spares"], json["plan"]["spare_nodes"].get<int>() * 4);
  EXPECT_THAT(json["plan"]["command"].get<std::string>(), HasSubstr("--mend-mtbf 43.8"));
}

TEST(MendPlan, takes_state_and_commit_cost_from_a_result) {
  const support::ScratchFolder scratch;
  const std::string file = scratch.path() / "result.json";
  std::ofstream(file)
      << R"({"ranks": 4, "recoveries": [], "commits": 30, "timed_commits": 20, "snapshot_bytes": 1048576,
                             "phase_seconds": {"commit": 5.0, "restore": 0, "total": 100}})";
  MendProcess plan(plan_of({"--measured", file, "--redundancy", "partner", "--json"}));
  EXPECT_EQ(plan.wait(), 0) << plan.errors();
  const auto json = nlohmann::json::parse(plan.output());
  EXPECT_EQ(json["state_bytes_per_rank"], 1048576);
  EXPECT_DOUBLE_EQ(json["choices"][0]["commit_s"], 0.25);

  MendProcess larger(plan_of({"--measured", file, "--state-per-rank", "4MiB", "--redundancy", "partner", "--json"}));
  EXPECT_EQ(larger.wait(), 0) << larger.errors();
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(larger.output())["choices"][0]["commit_s"], 1.0);
}

TEST(MendPlan, exits_with_1_when_nothing_keeps_the_chances_low) {
  MendProcess plan(plan_of({"--state-per-rank", "2GiB", "--spare-nodes", "0"}));
  EXPECT_EQ(plan.wait(), 1);
  EXPECT_THAT(plan.errors(), HasSubstr("within 1%"));
}

/// Commits to disk make the job longer than the one without a disk, for which fewer spares suffice.
TEST(MendPlan, recommends_enough_spares_for_a_job_with_a_disk) {
  const std::vector<std::string> line{"plan", "--nodes",  "20000", "--ranks-per-node", "4",    "--node-mtbf",
                                      "1y",   "--length", "200h",  "--state-per-rank", "16GiB"};
  std::vector<std::string> for_scripts = line;
  for_scripts.emplace_back("--json");
  MendProcess plan(for_scripts);
  EXPECT_EQ(plan.wait(), 0) << plan.errors();
  const auto recommended = nlohmann::json::parse(plan.output())["plan"];
  EXPECT_EQ(recommended["disk"], true);
  EXPECT_LE(recommended["chance_out_of_spares"].get<double>(), 0.01);
  const std::string spares = std::to_string(recommended["spare_nodes"].get<int>());
  EXPECT_THAT(recommended["command"].get<std::string>(), HasSubstr("--spare-nodes " + spares + " "));
  MendProcess table(line);
  EXPECT_EQ(table.wait(), 0) << table.errors();
  EXPECT_THAT(table.output(), testing::ContainsRegex("> with disk +" + spares + " "));
}

/// A disk makes the job longer, and the given number of spares too small.
TEST(MendPlan, judges_the_choice_that_it_recommends) {
  MendProcess plan({"plan", "--nodes", "20000", "--ranks-per-node", "4", "--node-mtbf", "1y", "--length", "200h",
                    "--state-per-rank", "16GiB", "--spare-nodes", "581", "--redundancy", "xor:8", "--json"});
  EXPECT_EQ(plan.wait(), 1);
  const auto json = nlohmann::json::parse(plan.output());
  EXPECT_EQ(json["plan"]["disk"], true);
  EXPECT_LE(json["without_disk"]["chance_out_of_spares"].get<double>(), 0.01);
  EXPECT_GT(json["plan"]["chance_out_of_spares"].get<double>(), 0.01);
  EXPECT_THAT(plan.errors(), HasSubstr("keep both chances within 1%"));
}

/// Nodes and spares that all fail: the chance must not be summed term by term.
TEST(MendPlan, of_a_job_without_end_ends) {
  MendProcess plan({"plan", "--nodes", "100", "--node-mtbf", "5y", "--length", "1e9y", "--state-per-rank", "1GiB"});
  EXPECT_EQ(plan.wait(), 1);
  EXPECT_THAT(plan.errors(), HasSubstr("no redundancy and number of spares that fit keep both chances within 1%"));
}

TEST(MendPlan, of_more_than_mend_run_starts_says_so) {
  MendProcess plan({"plan", "--nodes", "500000", "--ranks-per-node", "4", "--node-mtbf", "1000y", "--length", "1h",
                    "--state-per-rank", "1MiB"});
  plan.wait();
  EXPECT_THAT(plan.errors(),
              testing::ContainsRegex("the job has 2[0-9]* processes, and mend run starts at most 1000000"));
}

TEST(MendPlan, draws_into_a_file) {
  const support::ScratchFolder scratch;
  const auto file = scratch.path() / "plan.svg";
  MendProcess plan(plan_of({"--state-per-rank", "2GiB", "--picture", file}));
  EXPECT_EQ(plan.wait(), 0) << plan.errors();
  EXPECT_GT(std::filesystem::file_size(file), 2000U);
}

/// Its text "<1e-9 %" would be a mark in XML.
TEST(MendPlan, draws_very_small_chances) {
  const support::ScratchFolder scratch;
  const auto file = scratch.path() / "plan.svg";
  MendProcess plan({"plan", "--nodes", "100", "--node-mtbf", "5y", "--length", "1h", "--state-per-rank", "1GiB",
                    "--spare-nodes", "8", "--picture", file});
  EXPECT_EQ(plan.wait(), 0) << plan.errors();
  std::ifstream in(file);
  const std::string picture{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(picture, testing::HasSubstr(">8: &lt;1e-9 %</text>"));
}

TEST(MendPlan, refuses_what_makes_no_sense_in_one_sentence) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "give --state-per-rank, or --measured"},
      {{"--state-per-rank", "2 apples"}, "'2 apples' is not a size"},
      {{"--state-per-rank", "2GiB", "--picture", "plan.png"}, "--picture plan.png would be an SVG"},
      {{"--state-per-rank", "1GB", "--requeue", "an hour"}, "'an hour' is not a time"},
      {{"--state-per-rank", "1GB", "--requeue", "1e300y"}, "'1e300y' is not a time"},
      {{"--state-per-rank", "1GB", "--risk", "3"}, "'3' is not a probability"},
      {{"--state-per-rank", "1GB", "--redundancy", "raid5"}, "'raid5' is not a redundancy"},
      {{"--state-per-rank", "1GB", "--commit-cost", "5d"}, "makes no progress"},
      {{"--state-per-rank", "1GB", "--picture", "/nonexistent/plan.svg"},
       "cannot be written: No such file or directory"},
      {{"--state-per-rank", "1GB", "--picture", "/dev/full"}, "cannot be written: No space left on device"},
      {{"--measured", "/nonexistent"}, "the result /nonexistent cannot be read"},
  };
  for (const auto& [more, sentence] : cases) {
    MendProcess plan(plan_of(more));
    EXPECT_EQ(plan.wait(), 2) << sentence;
    EXPECT_THAT(plan.errors(), HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(plan.errors(), '\n'), 1) << plan.errors();
    EXPECT_THAT(plan.output(), IsEmpty());
  }
}

}  // namespace
