// The result file of any program (mend run --result), and its display by `mend report`.

#include "tests/support/subject_job.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
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
  EXPECT_EQ(document.at("reported"),
            (nlohmann::json{{"norm", 0.1}, {"ratio", "-inf"}, {"scheme", "counting"}, {"steps", 10}}));
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
  const auto failed = nlohmann::json::parse(std::ifstream(result));
  EXPECT_EQ(failed.at("exit_code"), 2);
  EXPECT_THAT(failed.at("reason"), HasSubstr("rank 1 is in commit()"));
  EXPECT_EQ(failed.at("reported"), nlohmann::json::object()) << "no rank has come to the end";
}

TEST(AResult, that_cannot_be_written_is_refused_before_the_job_starts) {
  const auto end = run_with_result("reports", "/nonexistent/result.json");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.errors, HasSubstr("--result /nonexistent/result.json cannot be written"));
  EXPECT_THAT(said(end), IsEmpty());
}

// --- names that are those of no regular file: never /dev/null itself, which other processes need -----------------

TEST(AResult, that_is_written_to_a_device_leaves_the_device_there) {
  const support::ScratchFolder folder;
  const auto null = folder.path() / "null";
  if (::mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 && errno == EPERM) GTEST_SKIP() << "needs root";
  const auto end = run_with_result("reports", null);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(support::complaints(end), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_character_file(std::filesystem::symlink_status(null)));
}

TEST(AResult, goes_where_a_symbolic_link_leads) {
  const support::ScratchFolder folder;
  const auto there = folder.path() / "there";
  std::filesystem::create_directory(there);
  for (const bool has_target : {false, true}) {
    const auto link = folder.path() / (has_target ? "link" : "dangling");
    const auto target = there / link.filename();
    std::filesystem::create_symlink(std::filesystem::path("there") / link.filename(), link);
    if (has_target) std::ofstream(target) << "of a job before";
    EXPECT_EQ(run_with_result("reports", link).exit_code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    std::ifstream in(target);
    EXPECT_EQ(nlohmann::json::parse(in).at("ranks"), 3);
  }
}

TEST(AResult, is_seen_on_the_standard_output_of_the_job) {
  const support::ScratchFolder folder;
  const auto output = folder.path() / "stdout";  // as /dev/stdout is
  std::filesystem::create_symlink("/proc/self/fd/1", output);
  const auto end = run_with_result("reports", output);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(end.output, HasSubstr(R"("scheme": "counting")"));
  EXPECT_TRUE(std::filesystem::is_symlink(output));
}

TEST(AResult, is_given_to_the_reader_of_a_pipe_and_waits_for_none) {
  const support::ScratchFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto unread = run_with_result("reports", pipe);
  EXPECT_EQ(unread.exit_code, 1);
  EXPECT_THAT(unread.errors, HasSubstr("the result " + pipe.string() + " cannot be written: nobody reads it"));

  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto end = run_with_result("reports", pipe);
  EXPECT_EQ(end.exit_code, 0) << end.errors;
  std::string text(65536, ' ');
  const auto read = ::read(reader, text.data(), text.size());
  ::close(reader);
  ASSERT_GT(read, 0);
  EXPECT_EQ(nlohmann::json::parse(text.substr(0, static_cast<std::size_t>(read))).at("ranks"), 3);
}

}  // namespace
