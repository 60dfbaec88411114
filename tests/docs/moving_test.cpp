// The pages for users of other libraries (docs/from-*.md) use calls of mend that exist, and README.md links to them.

#include "tests/docs/api_list.hpp"
#include "tests/docs/documents.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::IsEmpty;

/// All pages for users of other libraries.
std::vector<std::string> pages() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(MEND_SOURCE_DIR) / "docs")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("from-")) all.push_back("docs/" + name);
  }
  return all;
}

/// All code in a document, in a line or between fences.
std::string code_in(const std::string& document) {
  static const std::regex code(R"(```([^]*?)```|`([^`\n]*)`)");
  std::string all;
  for (std::sregex_iterator at(document.begin(), document.end(), code), end; at != end; ++at)
    all += (*at)[1].str() + (*at)[2].str() + "\n";
  return all;
}

/// The first group of every match.
std::set<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) all.insert((*at)[1]);
  return all;
}

/// The names that public headers declare in `scope`: a type, or a namespace within mend; mend itself is the empty
/// scope.
std::set<std::string> declared_for(const std::string& scope) {
  std::set<std::string> names;
  std::istringstream headers(MEND_PUBLIC_HEADERS);
  for (std::string header; std::getline(headers, header, ' ');) {
    for (const auto& one : documents::declarations_in_cpp(documents::text_of(header))) {
      if (one.scope == scope) names.insert(one.name);
    }
  }
  return names;
}

std::set<std::string> without(std::set<std::string> names, const std::set<std::string>& known) {
  std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
  return names;
}

TEST(ThePagesForOtherLibraries, are_five_and_listed_in_the_readme) {
  EXPECT_EQ(pages().size(), 5U);
  for (const std::string& page : pages())
    EXPECT_THAT(documents::text_of("README.md"), testing::HasSubstr("](" + page + ")"));
}

TEST(ThePagesForOtherLibraries, show_calls_that_exist) {
  const std::string header = documents::text_of("bindings/c/mend.h");
  std::set<std::string> in_c{"mend_session", "mend_kokkos"};
  for (const auto& function : documents::functions_in_c(header)) in_c.insert(function.name);
  const std::set<std::string> constants = found_in(header, R"(\b(MEND_[A-Z_]+))");
  const std::set<std::string> of_none = declared_for("");
  const std::set<std::string> of_kokkos = declared_for("kokkos");
  const std::set<std::string> of_store = declared_for("Store");
  const std::set<std::string> of_session = declared_for("Session");
  const std::set<std::string> of_file = declared_for("File");
  const std::set<std::string> options = found_in(documents::text_of("framework/options.cpp"), R"(prefix \+ "([\w-]+))");
  std::size_t seen = 0;
  for (const std::string& page : pages()) {
    const std::string code = code_in(documents::text_of(page));
    const auto expect = [&](const std::set<std::string>& used, const std::set<std::string>& known) {
      seen += used.size();
      EXPECT_THAT(without(used, known), IsEmpty()) << page;
    };
    expect(found_in(code, R"(\b(mend_\w+))"), in_c);
    expect(found_in(code, R"(\b(MEND_[A-Z]\w+))"), constants);
    expect(found_in(code, R"(\bmend::(?!kokkos\b)(\w+))"), of_none);
    expect(found_in(code, R"(\bmend::kokkos::(\w+))"), of_kokkos);
    expect(found_in(code, R"(\bstore(?:\(\))?\.(\w+)\()"), of_store);
    expect(found_in(code, R"(\bsession\.(\w+)\()"), of_session);
    expect(found_in(code, R"(\bfile(?:\("\w+"\))?\.(\w+)\()"), of_file);
    expect(found_in(code, R"(--mend-([\w-]+))"), options);
  }
  EXPECT_GT(seen, 80U);
}

}  // namespace
