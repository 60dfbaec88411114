// docs/papers.md has the output of the simulations.

#include "tests/support/mend_process.hpp"
#include "tests/support/sanitized.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

const std::string begin_mark = "<!-- mend simulate --all-figures -->\n\n";
const std::string end_mark = "<!-- end of mend simulate --all-figures -->";

/// The text between the marks.
std::string page() {
  std::ifstream in(MEND_SOURCE_DIR "/docs/papers.md");
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const auto begin = all.find(begin_mark);
  const auto end = all.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return all.substr(begin + begin_mark.size(), end - begin - begin_mark.size());
}

bool long_tests() { return std::getenv("MEND_TEST_LONG") != nullptr; }

struct Section {
  std::vector<std::string> words;  ///< after `mend`
  std::string text;
};

std::vector<Section> sections() {
  std::vector<Section> found;
  std::istringstream lines(page());
  bool in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    mend ")) {
      std::istringstream words(line.substr(9));
      found.push_back({{std::istream_iterator<std::string>(words), {}}, ""});
    } else if (line.starts_with("```")) {
      in_block = !in_block;
    } else if (in_block && !found.empty()) {
      found.back().text += line + "\n";
    }
  }
  return found;
}

/// Removes spaces at the ends of lines and empty lines at the end.
std::string trimmed(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) kept += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return kept.substr(0, kept.find_last_not_of('\n') + 1) + "\n";
}

TEST(ThePageOfPapers, holds_what_each_quick_command_prints) {
  SKIP_IF_SANITIZED();
  ASSERT_EQ(sections().size(), 11U);
  for (const Section& section : sections()) {
    const bool slow = section.words.at(3) == "ring-4" || section.words.at(3) == "ring-5";
    if (slow && !long_tests()) continue;
    MendProcess run(section.words);
    // A figure takes seconds, and with sanitizers on a busy machine more than a minute.
    EXPECT_EQ(run.wait(std::chrono::minutes(4)), 0) << run.errors();
    EXPECT_EQ(trimmed(run.output()), section.text)
        << "put the output of mend simulate --all-figures between the marks of docs/papers.md";
  }
}

TEST(ThePageOfPapers, holds_what_all_figures_prints) {
  if (!long_tests()) GTEST_SKIP() << "the slow figures are compared with MEND_TEST_LONG=1";
  std::FILE* const pipe = ::popen("'" MEND_COMMAND "' simulate --all-figures", "r");
  ASSERT_NE(pipe, nullptr);
  std::string printed;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) printed += static_cast<char>(letter);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(printed, page());
}

}  // namespace
