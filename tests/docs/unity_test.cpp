// Sources that CMake compiles together (MEND_UNITY) share their unnamed namespaces. If two of them define functions of
// the same name with different parameters, a call in one source may silently choose the function of the other.

#include "tests/docs/documents.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Functions that libraries find by the types of their arguments, so that sources may have one each.
constexpr std::array found_by_type{std::string_view("PrintTo")};

std::string without_template_arguments(std::string_view line) {
  std::string rest;
  int depth = 0;
  for (const char c : line) {
    if (c == '<') ++depth;
    if (depth == 0) rest += c;
    if (c == '>' && depth > 0) --depth;
  }
  return rest;
}

/// The name of the function whose definition or declaration begins in `line`, if one does.
std::optional<std::string> function_begun_in(std::string_view line) {
  static const std::regex beginning(R"((?:\[\[[\w:]+\]\] )?[A-Za-z_][\w:&* ]*[&* ]([A-Za-z_]\w*)\(.*)");
  static const std::regex type(R"((?:struct|class|union|enum)\b.*)");
  if (line.starts_with(' ') || line.find('(') == std::string_view::npos) return std::nullopt;
  const std::string plain = without_template_arguments(line);
  std::smatch parts;
  if (!std::regex_match(plain, parts, beginning) || std::regex_match(plain, type)) return std::nullopt;
  return parts[1].str();
}

/// The names of the functions that `source` defines in unnamed namespaces. Relies on .clang-format: a definition in a
/// namespace begins in the first column, and the lines that continue it do not; a namespace of more than one line ends
/// with a comment.
std::set<std::string> hidden_functions(const std::string& source) {
  std::set<std::string> names;
  std::istringstream in(source);
  bool is_hidden = false;
  int lines = 0;  // in this namespace
  for (std::string line; std::getline(in, line); ++lines) {
    if (line == "namespace {") {
      is_hidden = true;
      lines = 0;
    }
    if (line == "}  // namespace" || (line == "}" && lines == 2)) is_hidden = false;
    if (!is_hidden) continue;
    const auto name = function_begun_in(line);
    if (name && std::ranges::find(found_by_type, *name) == found_by_type.end()) names.insert(*name);
  }
  return names;
}

/// The sources that are compiled together, by the file that includes them. Only files that are compiled now: CMake
/// leaves behind those of earlier configurations.
std::map<std::string, std::vector<std::string>> sources_by_unit() {
  std::map<std::string, std::vector<std::string>> sources;
  const std::string commands = documents::text_of(MEND_BUILD_DIR "/compile_commands.json");
  for (const auto& command : nlohmann::json::parse(commands)) {
    const auto unit = command.at("file").get<std::string>();
    if (unit.find("/Unity/unity_") == std::string::npos) continue;
    const std::string text = documents::text_of(unit);
    static const std::regex included(R"re(#include "([^"]+)")re");
    for (std::sregex_iterator one(text.begin(), text.end(), included), end; one != end; ++one)
      sources[unit].push_back((*one)[1].str());
  }
  return sources;
}

/// Removes four spaces at the beginning of each line.
std::string unindented(const std::string& text) {
  static const std::regex indentation("(^|\n)    ");
  return std::regex_replace(text, indentation, "$1");
}

TEST(TheFunctionsOfASource, are_found_in_its_unnamed_namespaces) {
  // Indented, so that this test does not find them when it reads this source.
  EXPECT_THAT(hidden_functions(unindented(R"(
    #include "other.hpp"

    void seen(int x);

    namespace room {
    namespace {

    constexpr int most = 3;
    constexpr int size = static_cast<int>(sizeof(int));
    const std::vector<int> list{f(1), 2};
    using Call = int (*)(void*);

    struct alignas(64) Line {
      int member(int x) { return x; }
    };

    /// A comment (with parentheses) calls nothing(x).
    std::map<std::string, std::function<void(int)>> table(const Line& one,
                                                          int other) {
      call(one);
    }

    [[noreturn]] void fail(const char* why) { throw why; }
    template <class T>
    const T* find(T& in) {
      return first(in);
    }
    std::ostream& operator<<(std::ostream& out, Line line) { return out; }
    bool operator==(Line one, Line other) { return true; }
    int Line::outside(int x) { return x; }
    void PrintTo(const Line& line, std::ostream* out) {}
    static_assert(sizeof(Line) == 64);
    TEST(ASuite, has_a_test) { run(); }
    MATCHER_P(IsLine, line, "") { return arg == line; }
    INSTANTIATE_TEST_SUITE_P(All, ASuite, Values(1));

    }  // namespace

    int Line::seen_too(int x) { return x; }

    }  // namespace room

    namespace {
    int count = 0;
    }

    void* seen_as_well(int size) { return nullptr; }

    namespace {
    void last() {}
    }  // namespace
)")),
              ElementsAre("fail", "find", "last", "table"));
}

TEST(SourcesThatAreCompiledTogether, have_no_functions_of_the_same_name_in_unnamed_namespaces) {
  if (MEND_UNITY == 0) GTEST_SKIP() << "each source is compiled alone (MEND_UNITY=OFF)";
  const auto units = sources_by_unit();
  EXPECT_GT(units.size(), 10U);
  std::size_t found = 0;
  std::vector<std::string> twice;
  for (const auto& [unit, sources] : units) {
    std::map<std::string, std::string> first;  // source with a function of this name
    for (const std::string& source : sources) {
      for (const std::string& name : hidden_functions(documents::text_of(source))) {
        ++found;
        const auto [other, is_first] = first.try_emplace(name, source);
        if (!is_first) twice.push_back(fmt::format("{} and {} both define {}()", other->second, source, name));
      }
    }
  }
  EXPECT_GT(found, 500U);
  EXPECT_THAT(twice, IsEmpty()) << "rename one function of each pair";
}

}  // namespace
