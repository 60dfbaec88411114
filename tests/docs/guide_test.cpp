// The programs that docs/guide.md quotes exist, survive, and print the quoted output.

#include "tests/docs/documents.hpp"
#include "tests/support/job.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>

namespace {

using testing::SizeIs;
using testing::UnorderedElementsAreArray;

const std::map<std::string, std::string>& programs() {
  static const std::map<std::string, std::string> all{
      {"again", MEND_GUIDE_again}, {"in_place", MEND_GUIDE_in_place}, {"transaction", MEND_GUIDE_transaction}};
  return all;
}

TEST(TheGuide, quotes_its_programs_as_they_are) {
  const std::string guide = documents::text_of("docs/guide.md");
  for (const auto& [name, program] : programs()) {
    const std::string file = fmt::format("apps/guide/{}.cpp", name);
    EXPECT_EQ(documents::block_after(guide, file), documents::text_of(file)) << "docs/guide.md quotes another " << file;
  }
}

TEST(TheGuide, is_four_pages_at_most) {
  const std::string guide = documents::text_of("docs/guide.md");
  constexpr auto lines_of_a_page = 66;
  constexpr std::size_t letters_of_a_line = 100;
  std::size_t lines = 0;
  std::istringstream in(guide);
  for (std::string line; std::getline(in, line);) lines += 1 + line.size() / letters_of_a_line;
  EXPECT_LE(lines, 4 * lines_of_a_page);
}

struct JobWithResult {
  support::JobEnd end;
  nlohmann::json result;
};

/// Runs the program, with a death if `die` orders one (die.cpp).
JobWithResult play_and_read(const std::string& name, const std::string& die) {
  const support::ScratchFolder folder;
  const auto file = folder.path() / "result.json";
  support::Job job = support::mend_run(4, 2, {programs().at(name)});
  job.command.insert(job.command.begin() + 2, {"--result", file.string()});
  if (!die.empty()) job.environment["MEND_TEST_DIE"] = die;
  JobWithResult run{support::run_job(job), {}};
  EXPECT_EQ(run.end.exit_code, 0) << run.end.errors;
  std::ifstream in(file);
  run.result = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  return run;
}

/// A line of output without the parts that differ between runs: times, and the times of log lines.
std::string form_of(const std::string& line) {
  static const std::regex number("[0-9]+[.][0-9]+( ms)?");
  static const std::regex time("[0-9]+:[0-9]+:[0-9]+[.][0-9]+");
  static const std::regex speaker("mend\\[[0-9]+\\]");
  static const std::regex spaces(" +");
  std::string form = std::regex_replace(line, time, "TIME");
  form = std::regex_replace(form, speaker, "mend[P]");
  if (form.find("heat") == std::string::npos) form = std::regex_replace(form, number, "T");
  return std::regex_replace(form, spaces, " ");
}

std::vector<std::string> forms_of(const std::string& text) {
  std::vector<std::string> forms;
  for (std::string line : support::lines_of(text)) {
    if (line.ends_with('\r')) line.pop_back();
    forms.push_back(form_of(line));
  }
  return forms;
}

TEST(TheGuide, quotes_output_as_it_is) {
  const std::string quoted = documents::block_after(documents::text_of("docs/guide.md"), "output");
  const std::string run_line = "$ mend run -n 4 --spares 2 --result result.json -- ./again\n";
  const std::string report_line = "$ mend report result.json\n";
  const auto report_at = quoted.find(report_line);
  ASSERT_TRUE(quoted.starts_with(run_line) && report_at != std::string::npos) << quoted;

  const support::ScratchFolder folder;
  const auto file = folder.path() / "result.json";
  support::Job job = support::mend_run(4, 2, {programs().at("again")});
  job.command.insert(job.command.begin() + 2, {"--result", file.string()});
  job.environment["MEND_TEST_DIE"] = "1 commit.exchange 7";
  const auto end = support::run_job(job);
  ASSERT_EQ(end.exit_code, 0) << end.errors;
  EXPECT_THAT(forms_of(quoted.substr(run_line.size(), report_at - run_line.size())),
              UnorderedElementsAreArray(forms_of(end.errors + end.output)));

  support::Job reporting;
  reporting.command = {MEND_COMMAND, "report", file.string()};
  std::string told = support::run_job(reporting).output;
  if (const auto name = told.find("test_guide_"); name == 0) told.erase(0, std::string("test_guide_").size());
  EXPECT_EQ(forms_of(quoted.substr(report_at + report_line.size())), forms_of(told));
}

class AProgramOfTheGuide : public testing::TestWithParam<std::string> {};

TEST_P(AProgramOfTheGuide, has_the_same_answer_whoever_dies) {
  const JobWithResult quiet = play_and_read(GetParam(), "");
  ASSERT_TRUE(quiet.result.contains("hash"));
  for (const char* die : {"1 commit.exchange 7", "0 commit.publish 20"}) {
    const JobWithResult killed = play_and_read(GetParam(), die);
    EXPECT_THAT(killed.result.at("recoveries"), SizeIs(1)) << die;
    EXPECT_EQ(killed.result.at("hash"), quiet.result.at("hash")) << die;
    EXPECT_EQ(killed.result.at("reported"), quiet.result.at("reported")) << die;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AProgramOfTheGuide, testing::Values("again", "in_place", "transaction"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
