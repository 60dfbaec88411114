// The result file of any program (mend run --result), and what `mend report` makes of it.

#include "tests/framework/subject_job.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

support::JobEnd run_with_result(const std::string& scenario, const std::filesystem::path& result) {
  support::Job job = support::mend_run(3, 1, {MEND_SUBJECT, scenario});
  job.command.insert(job.command.begin() + 2, {"--result", result.string()});
  return support::run_job(job);
}

support::JobEnd report(const std::vector<std::string>& arguments) {
  support::Job job;
  job.command = {MEND_COMMAND, "report"};
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  return support::run_job(job);
}

TEST(AResult, tells_of_recoveries_and_of_the_same_answer_with_a_death_and_without) {
  const support::ScratchFolder folder;
  const auto quiet = folder.path() / "quiet.json";
  const auto killed = folder.path() / "killed.json";
  std::ofstream(quiet) << "of a job before";
  EXPECT_EQ(run_with_result("reports", quiet).exit_code, 0);
  EXPECT_EQ(run_with_result("reports_after_a_death", killed).exit_code, 0);

  std::ifstream in(killed);
  const auto document = nlohmann::json::parse(in);
  EXPECT_EQ(document.at("ranks"), 3);
  EXPECT_EQ(document.at("spares"), 1);
  EXPECT_THAT(document.at("hash").get<std::string>(), SizeIs(16));
  EXPECT_EQ(document.at("reported"), (nlohmann::json{{"norm", 0.1}, {"scheme", "counting"}, {"steps", 10}}));
  ASSERT_THAT(document.at("recoveries"), SizeIs(1));
  EXPECT_EQ(document.at("recoveries").at(0).at("dead"), nlohmann::json{1});

  const auto same = report({killed.string(), "--same-as", quiet.string()});
  EXPECT_EQ(same.exit_code, 0) << same.errors;
  EXPECT_THAT(same.output, AllOf(HasSubstr("3 ranks, 1 recovery, hash "), HasSubstr("rank 1 "), HasSubstr("steps: 10"),
                                 HasSubstr("the same as")));

  nlohmann::json other = document;
  other["hash"] = "0000000000000000";
  std::ofstream(quiet) << other;
  const auto differs = report({killed.string(), "--same-as", quiet.string()});
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_THAT(differs.errors, HasSubstr("hash"));
}

TEST(AResult, is_not_waited_for_by_a_rank_whose_body_has_ended_while_another_commits) {
  const support::ScratchFolder folder;
  const auto result = folder.path() / "result.json";
  expect_end(run_with_result("reports_while_rank_1_commits", result), 2,
             "rank [0-9]: this rank reached .* while another rank reached something else");
  EXPECT_FALSE(std::filesystem::exists(result));
}

TEST(AResult, that_cannot_be_written_is_refused_before_the_job_starts) {
  const auto end = run_with_result("reports", "/nonexistent/result.json");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("--result /nonexistent/result.json cannot be written"));
  EXPECT_THAT(said(end), IsEmpty());
}

}  // namespace
