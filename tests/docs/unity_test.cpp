// Sources that CMake compiles together (MEND_UNITY) share their unnamed namespaces. If two of them define functions of
// the same name with different parameters, a call in one source may silently choose the function of the other. Types,
// constants and variables of the same name do not compile, or hide each other. Each source that is added to a target
// moves others to another unit, so names are compared within the whole target.

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
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

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

/// The name of the function, type, variable or alias whose definition or declaration begins in `line`, if one does.
std::optional<std::string> name_begun_in(const std::string& line) {
  static const std::array beginnings{
      std::regex(R"((?:template )?(?:using|namespace|concept) (\w+) =.*)"),
      std::regex(R"(using [\w:]*::(\w+);.*)"),
      std::regex(R"((?:template )?(?:struct|class|union|enum|enum class)(?: alignas\([^)]*\))? (\w+)(?: final)?)"
                 R"((?:(?:;| \{| :).*)?)"),
      // functions, and variables
      std::regex(R"((?:\[\[[\w:]+\]\] )?[A-Za-z_][\w:&* ]*[&* ]([A-Za-z_]\w*)\(.*)"),
      std::regex(R"((?!using )[A-Za-z_][\w:&* ]*[&* ]([A-Za-z_]\w*)(?:\[\w*\])*(?: \[\[\w+\]\])?(?: =|\{|;).*)"),
  };
  if (line.empty() || line.starts_with(' ') || line.starts_with('#') || line.starts_with('/')) return std::nullopt;
  const std::string plain = without_template_arguments(line);
  std::smatch parts;
  for (const std::regex& beginning : beginnings)
    if (std::regex_match(plain, parts, beginning)) return parts[1].str();
  return std::nullopt;
}

/// What the alias that is defined in `line` stands for. Empty if none is, or if the definition goes on in other lines.
std::string meaning_of_alias(const std::string& line) {
  static const std::regex alias(R"((?:using|namespace) (?:\w+ = )?(?:::)?([^;]+);.*)");
  std::smatch parts;
  return std::regex_match(line, parts, alias) ? parts[1].str() : "";
}

/// The names that `source` defines in unnamed namespaces; with those of aliases, what they stand for. Relies on
/// .clang-format: a definition in a namespace begins in the first column, and the lines that continue it do not; a
/// namespace of more than one definition, or of one with a body, ends with a comment.
std::map<std::string, std::string> hidden_names(const std::string& source) {
  std::map<std::string, std::string> names;
  std::istringstream in(source);
  bool is_hidden = false;
  bool has_bodies = false;  // in this namespace
  for (std::string line; std::getline(in, line);) {
    if (line == "namespace {") {
      is_hidden = true;
      has_bodies = false;
      continue;
    }
    if (line == "}  // namespace" || (line == "}" && !has_bodies)) is_hidden = false;
    if (!is_hidden) continue;
    if (line.substr(0, line.find("  // ")).ends_with('{')) has_bodies = true;
    const auto name = name_begun_in(line);
    if (name && std::ranges::find(found_by_type, *name) == found_by_type.end())
      names.emplace(*name, meaning_of_alias(line));
  }
  return names;
}

/// The sources of each target, by the folder of the files that include them to compile them together. Only files that
/// are compiled now: CMake leaves behind those of earlier configurations.
std::map<std::filesystem::path, std::vector<std::string>> sources_by_target() {
  std::map<std::filesystem::path, std::vector<std::string>> sources;
  const std::string commands = documents::text_of(MEND_BUILD_DIR "/compile_commands.json");
  for (const auto& command : nlohmann::json::parse(commands)) {
    const std::filesystem::path unit = command.at("file").get<std::string>();
    if (unit.parent_path().filename() != "Unity") continue;
    const std::string text = documents::text_of(unit);
    static const std::regex included(R"re(#include "([^"]+)")re");
    for (std::sregex_iterator one(text.begin(), text.end(), included), end; one != end; ++one)
      sources[unit.parent_path()].push_back((*one)[1].str());
  }
  return sources;
}

/// Removes four spaces at the beginning of each line.
std::string unindented(const std::string& text) {
  static const std::regex indentation("(^|\n)    ");
  return std::regex_replace(text, indentation, "$1");
}

TEST(TheNamesOfASource, are_found_in_its_unnamed_namespaces) {
  // Indented, so that this test does not find them when it reads this source.
  EXPECT_THAT(hidden_names(unindented(R"(
    #include "other.hpp"

    void seen(int x);

    namespace room {
    namespace {

    constexpr int most = 3;
    constexpr int size = static_cast<int>(sizeof(int));
    const std::vector<int> list{f(1), 2};
    const bool has_begun [[maybe_unused]] = [] {
      return true;
    }();
    std::atomic<int> value{0};
    char bytes[size];
    using Call = int (*)(void*);
    using Table = std::map<std::string,
                           int>;
    using testing::Contains;
    using ::testing::Each;  // of GoogleMock
    using namespace std::chrono_literals;
    namespace fs = std::filesystem;

    struct alignas(64) Line {
      int member(int x) { return x; }
      int size = 0;
    };
    struct Later;
    class ASuite : public testing::TestWithParam<int> {};
    enum class Colour : std::uint8_t { red };
    template <class T>
    concept Small = sizeof(T) < 8;

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
    const std::vector<std::string> words{"one",
                                         "two"};
    }

    void* seen_as_well(int size) { return nullptr; }
    int seen_variable = 0;

    namespace {
    void last() {}
    }  // namespace
)")),
              ElementsAre(Pair("ASuite", ""), Pair("Call", "int (*)(void*)"), Pair("Colour", ""),
                          Pair("Contains", "testing::Contains"), Pair("Each", "testing::Each"), Pair("Later", ""),
                          Pair("Line", ""), Pair("Small", ""), Pair("Table", ""), Pair("bytes", ""), Pair("fail", ""),
                          Pair("find", ""), Pair("fs", "std::filesystem"), Pair("has_begun", ""), Pair("last", ""),
                          Pair("list", ""), Pair("most", ""), Pair("size", ""), Pair("table", ""), Pair("value", ""),
                          Pair("words", "")));
}

TEST(SourcesOfATarget, have_no_names_in_common_in_unnamed_namespaces) {
  if (MEND_UNITY == 0) GTEST_SKIP() << "each source is compiled alone (MEND_UNITY=OFF)";
  const auto targets = sources_by_target();
  EXPECT_GT(targets.size(), 10U);
  std::size_t found = 0;
  std::vector<std::string> twice;
  for (const auto& [target, sources] : targets) {
    struct Definition {
      std::string source;
      std::string meaning;
    };
    std::map<std::string, Definition> first;  // by name
    for (const std::string& source : sources) {
      for (const auto& [name, meaning] : hidden_names(documents::text_of(source))) {
        ++found;
        const auto [other, is_first] = first.try_emplace(name, Definition{source, meaning});
        const bool means_the_same = !meaning.empty() && meaning == other->second.meaning;
        if (!is_first && !means_the_same)
          twice.push_back(fmt::format("{} and {} both define {}", other->second.source, source, name));
      }
    }
  }
  EXPECT_GT(found, 1'000U);
  EXPECT_THAT(twice, IsEmpty()) << "rename one of each pair";
}

}  // namespace
