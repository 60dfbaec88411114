// docs/messages.md has the sentences of CLI11, which reads the command lines of mend and the options of programs.

#include "tests/docs/documents.hpp"
#include "tests/docs/sentences.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::HasSubstr;

/// A parser with one option for each kind of check that mend uses.
class Parser {
 public:
  Parser() {
    app_.add_option("--count", count_)->check(CLI::Range(1, 9));
    app_.add_option("--kind", kind_)->check(CLI::IsMember({"a", "b"}));
    CLI::Option* const nodes = app_.add_option("--nodes", nodes_);
    app_.add_option("--share", share_)->excludes(nodes);
    app_.add_option("--of", share_)->needs(nodes);
    app_.add_flag("--json", json_);
    app_.add_option("FILE", file_)->required();
  }

  std::string complaint(std::vector<std::string> words) {
    std::ranges::reverse(words);  // CLI11 takes arguments from the back of the vector
    try {
      app_.parse(words);
      return "";
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
  }

 private:
  CLI::App app_;
  int count_ = 0;
  double nodes_ = 0;
  double share_ = 0;
  bool json_ = false;
  std::string kind_;
  std::string file_;
};

struct Said {
  std::vector<std::string> words;
  const char* sentence;
  const char* in_list;
};

TEST(TheListOfMessages, has_the_sentences_of_the_parser) {
  // Later versions put them slightly otherwise.
  if (!std::string_view(CLI11_VERSION).starts_with("2.1.")) GTEST_SKIP() << "CLI11 is " << CLI11_VERSION;
  const std::string list = documents::squeezed(documents::text_of("docs/messages.md"));
  const std::vector<Said> all{
      {{}, "FILE is required", "NAME is required"},
      {{"f", "--count", "0"}, "--count: Value 0 not in range 1 to 9", "OPTION: Value X not in range N to M"},
      {{"f", "--count"}, "--count: 1 required INT:INT in [1 - 9] missing", "OPTION: 1 required TYPE missing"},
      {{"f", "--count", "1", "--count", "2"},
       "--count: At Most 1 required but received 2",
       "OPTION: At Most 1 required but received N"},
      {{"f", "--kind", "c"}, "--kind: c not in {a,b}", "OPTION: X not in {A,B,...}"},
      {{"f", "--nodes", "x"}, "Could not convert: --nodes = x", "Could not convert: OPTION = X"},
      {{"f", "--nodes", "1", "--share", "1"}, "--nodes excludes --share", "OPTION excludes OTHER"},
      {{"f", "--of", "1"}, "--of requires --nodes", "OPTION requires OTHER"},
      {{"f", "--jsn"}, "The following argument was not expected: --jsn", "The following argument was not expected: X"},
      {{"f", "g", "h"},
       "The following arguments were not expected: h g",
       "The following arguments were not expected: X Y"},
  };
  for (const auto& [words, sentence, in_list] : all) {
    EXPECT_EQ(Parser().complaint(words), sentence);
    EXPECT_THAT(list, HasSubstr(in_list));
  }
}

}  // namespace
