// docs/fenix.md has a row for every function that Fenix's headers declare here. The program that the row names calls
// the function, and if the program has deaths, they are real.

#include "tests/docs/documents.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// The functions that a header declares, with their namespaces.
std::set<std::string> functions_declared_in(const std::string& header) {
  static const std::regex opens(R"(^namespace ([\w:]+) \{)");
  static const std::regex closes(R"(^\}  // namespace)");
  static const std::regex declares(R"(^(?:inline |extern |\[\[noreturn\]\] )*[\w:<>]+(?: [\w:<>]+)*[ *&]+(\w+)\()");
  std::set<std::string> found;
  std::vector<std::string> namespaces;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, opens)) {
      namespaces.push_back(match[1]);
    } else if (std::regex_search(line, closes)) {
      if (!namespaces.empty()) namespaces.pop_back();
    } else if (std::regex_search(line, match, declares) && !match.str().starts_with("typedef")) {
      std::string name = match[1];
      if (name.starts_with("mend_")) continue;
      for (auto outer = namespaces.rbegin(); outer != namespaces.rend(); ++outer) name = *outer + "::" + name;
      found.insert(name);
    }
  }
  return found;
}

struct Row {
  std::vector<std::string> functions;
  std::string state;
  std::string shown_by;
};

std::vector<Row> rows_of(const std::string& document) {
  static const std::regex row(R"(\n\| (`[^|]*`) \| ([^|]*) \| ([^|]*) \|)");
  static const std::regex name(R"(`([\w:]+)`)");
  std::vector<Row> rows;
  for (std::sregex_iterator at(document.begin(), document.end(), row), end; at != end; ++at) {
    Row found{{}, (*at)[2], (*at)[3]};
    const std::string names = (*at)[1];
    for (std::sregex_iterator one(names.begin(), names.end(), name); one != std::sregex_iterator(); ++one)
      found.functions.push_back((*one)[1]);
    rows.push_back(found);
  }
  return rows;
}

std::string text_of_program(const std::string& name) {
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(fs::path(MEND_SOURCE_DIR) / "tests/fenix")) {
    if (file.path().stem() == name + "_subject") return documents::text_of(file.path());
  }
  return "";
}

bool calls(const std::string& program, const std::string& function) {
  const std::string name = function.substr(function.rfind(':') == std::string::npos ? 0 : function.rfind(':') + 1);
  return std::regex_search(program, std::regex("\\b" + name + "\\("));
}

TEST(FunctionsInHeaders, are_found_with_their_namespaces) {
  EXPECT_THAT(
      functions_declared_in("int Fenix_a(int x);\ntypedef void (*Fenix_fn)(int);\n  struct S { int f(); };\n"
                            "namespace fenix::data {\n"
                            "inline int store(int group) {\n  return other(group);\n}\n"
                            "MPI_Group cohort(int group);\n[[noreturn]] void leave();\n}  // namespace fenix::data\n"
                            "std::optional<std::vector<int>> last();\n#define Fenix_Init(x) y(x)\n"),
      UnorderedElementsAre("Fenix_a", "fenix::data::store", "fenix::data::cohort", "fenix::data::leave", "last"));
}

TEST(TheTableOfFenix, has_every_function_of_the_headers_once_and_no_other) {
  std::set<std::string> declared = functions_declared_in(documents::text_of("fenix/fenix.h"));
  declared.merge(functions_declared_in(documents::text_of("fenix/fenix.hpp")));
  declared.insert("Fenix_Init");       // a macro
  declared.erase("fenix::init_with");  // part of fenix::init
  EXPECT_GT(declared.size(), 120U);
  std::set<std::string> told;
  for (const Row& row : rows_of(documents::text_of("docs/fenix.md"))) {
    for (const std::string& function : row.functions) EXPECT_TRUE(told.insert(function).second) << function << " twice";
  }
  std::string missing;
  for (const std::string& function : declared) {
    if (!told.contains(function)) missing += fmt::format("| `{}` | as in Fenix | PROGRAM | |\n", function);
  }
  EXPECT_EQ(missing, "") << "rows for docs/fenix.md";
  for (const std::string& function : told) EXPECT_TRUE(declared.contains(function)) << function << " is not declared";
}

TEST(TheTableOfFenix, names_for_each_function_a_program_that_calls_it_and_in_which_processes_die) {
  const std::set<std::string> states{"as in Fenix", "more", "otherwise", "refused"};
  for (const Row& row : rows_of(documents::text_of("docs/fenix.md"))) {
    EXPECT_TRUE(states.contains(row.state)) << row.functions[0] << ": " << row.state;
    const std::string program = text_of_program(row.shown_by);
    EXPECT_NE(program, "") << row.functions[0] << ": there is no program " << row.shown_by;
    EXPECT_TRUE(calls(program, "die_at") || calls(program, "die_in") || calls(program, "kill"))
        << row.shown_by << ": nobody dies in it";
    for (const std::string& function : row.functions)
      EXPECT_TRUE(calls(program, function)) << row.shown_by << " does not call " << function;
  }
}

}  // namespace
