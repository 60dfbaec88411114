// The result file of any program (mend run --result), and its display by `mend report`.

#include "tests/framework/subject_job.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

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

/// The number after each of `words` in `text`, in order.
std::vector<double> numbers_after(const std::string& text, const std::vector<std::string>& words) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    const auto at = text.find(word);
    numbers.push_back(at == std::string::npos ? -1 : std::stod(text.substr(at + word.size())));
  }
  return numbers;
}

TEST(AResult, tells_the_same_times_of_a_recovery_as_the_job_does_at_its_end) {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "result.json";
  const auto end = run_with_result("reports_after_a_death", file);
  ASSERT_EQ(end.exit_code, 0) << end.errors;
  std::ifstream in(file);
  const auto recovery = nlohmann::json::parse(in).at("recoveries").at(0);
  const auto told = numbers_after(end.errors, {"taken over; ", "interrupt ", ", agree ", ", rebuild ", ", restore "});
  double sum = 0;
  const std::vector<std::string> phases{"interrupt_ms", "agree_ms", "rebuild_ms", "restore_ms"};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_NEAR(told[i + 1], recovery.at(phases[i]), 0.11) << phases[i] << ": " << end.errors;
    sum += recovery.at(phases[i]).get<double>();
  }
  EXPECT_NEAR(numbers_after(end.errors, {"1 rank was taken over; "}).front(), sum, 0.06) << end.errors;

  const auto table = report({file.string()});
  EXPECT_THAT(table.output, testing::Not(HasSubstr("detect"))) << "the moment of the death is not known";
  const auto rank = table.output.rfind("rank 1 ");
  ASSERT_NE(rank, std::string::npos);
  std::istringstream columns(table.output.substr(rank + 7));
  std::vector<double> times;
  for (double time = 0; columns >> time;) times.push_back(time);
  ASSERT_EQ(times.size(), 5U) << table.output;
  EXPECT_NEAR(times.back(), sum, 0.02);
}

TEST(AResult, is_not_waited_for_by_a_rank_whose_body_has_ended_while_another_commits) {
  const support::ScratchFolder folder;
  const auto result = folder.path() / "result.json";
  expect_end(run_with_result("reports_while_rank_1_commits", result), 2,
             "rank 1 is in commit\\(\\), ranks 0, 2 are at the end of the body");
  EXPECT_FALSE(std::filesystem::exists(result));
}

TEST(AResult, that_cannot_be_written_is_refused_before_the_job_starts) {
  const auto end = run_with_result("reports", "/nonexistent/result.json");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("--result /nonexistent/result.json cannot be written"));
  EXPECT_THAT(said(end), IsEmpty());
}

}  // namespace
