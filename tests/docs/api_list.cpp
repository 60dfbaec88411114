#include "tests/docs/api_list.hpp"

#include "tests/docs/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

namespace documents {
namespace {

std::string squeezed_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string first_sentence(std::string_view text) {
  const std::string line = squeezed_line(text);
  for (std::size_t at = line.find(". "); at != std::string::npos; at = line.find(". ", at + 1)) {
    if (std::isupper(static_cast<unsigned char>(line[at + 2])) != 0) return line.substr(0, at + 1);
  }
  return line;
}

/// The name of the function or value in a declaration.
std::string name_in(std::string_view text) {
  if (const auto constraint = text.find("requires("); constraint != std::string_view::npos) {
    std::size_t at = text.find('(', constraint) + 1;
    for (int depth = 1; at < text.size() && depth > 0; ++at) depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    text.remove_prefix(at);
  }
  const std::string declaration(text.substr(0, text.find_first_of("({=;")));
  const std::regex last_word(R"((operator\W+|~?\w+)\s*$)");
  std::smatch found;
  return std::regex_search(declaration, found, last_word) ? found[1].str() : "";
}

/// Reads a header statement by statement.
class CppReader {
 public:
  explicit CppReader(std::string_view text) : text_(text) {}

  std::vector<Declaration> read() {
    scopes_.push_back({"", "", true, true});
    while (at_ < text_.size()) step();
    return std::move(found_);
  }

 private:
  struct Scope {
    std::string type;   // empty for a namespace
    std::string space;  // the namespace within mend, or without it: "kokkos", "fenix::data"
    bool is_public;
    bool is_shown;
  };

  void step() {
    if (take_comment() || take_preprocessor()) return;
    const char c = text_[at_++];
    if (c == '{') return open();
    if (c == '}') {
      if (scopes_.size() > 1) scopes_.pop_back();
      return begin_statement();
    }
    if (c == ';') return end_statement();
    statement_ += c;
    if (c == ':') take_access();
  }

  bool take_comment() {
    if (text_.substr(at_, 2) != "//") return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    if (line.starts_with("///<")) {
      if (squeezed_line(statement_).empty() && !found_.empty() && last_was_shown_) {
        found_.back().what = first_sentence(line.substr(4));
      }
    } else if (line.starts_with("///")) {
      if (!squeezed_line(statement_).empty()) return true;
      if (is_after_statement_) comment_.clear();
      is_after_statement_ = false;
      comment_ += fmt::format("{} ", line.substr(3));
    }
    return true;
  }

  bool take_preprocessor() {
    if (text_[at_] != '#' || !squeezed_line(statement_).empty()) return false;
    std::size_t end = at_;
    do {
      end = text_.find('\n', end + 1);
    } while (end != std::string_view::npos && text_[end - 1] == '\\');
    at_ = std::min(end, text_.size());
    return true;
  }

  /// Handles an access specifier such as "public:".
  void take_access() {
    const std::string word = squeezed_line(statement_);
    if (word != "public:" && word != "private:" && word != "protected:") return;
    scopes_.back().is_public = word == "public:";
    begin_statement();
  }

  void open() {
    const std::string head = squeezed_line(statement_);
    std::smatch found;
    if (std::regex_match(head, found, std::regex(R"((?:inline )?namespace ([\w:]*))"))) {
      std::string space = scopes_.back().space;
      const std::string inner = std::regex_replace(found[1].str(), std::regex("^mend(::)?"), "");
      if (!space.empty() && !inner.empty()) space += "::";
      scopes_.push_back({"", space + inner, true, scopes_.back().is_shown && found[1] != "detail"});
      return begin_statement();
    }
    if (std::regex_search(head, found,
                          std::regex(R"(^(?:template ?<.*> ?)?(class|struct) (\w+)( final)?( ?:[^:].*)?$)"))) {
      const bool is_shown = is_shown_here();
      if (is_shown) add(head.substr(0, head.find(" : ")), found[2], false);
      scopes_.push_back({found[2], scopes_.back().space, found[1] == "struct", is_shown});
      return begin_statement();
    }
    if (std::regex_search(head, found, std::regex(R"(^enum (?:class )?(\w+))"))) {
      const std::string enumerators = skip_block();
      if (is_shown_here())
        add(fmt::format("{} {{ {} }}", head.substr(0, head.find(" : ")), names_in(enumerators)), found[1], false);
      return begin_statement();
    }
    if (std::ranges::count(head, '(') > std::ranges::count(head, ')')) {  // the default value of a parameter
      skip_block();
      statement_ += "{}";
      return;
    }
    const bool is_body =
        head.find('(') != std::string::npos || head.starts_with("template") || head.starts_with("struct");
    skip_block();
    if (!is_body) return;  // an initialiser: the statement continues
    if (text_.substr(at_).starts_with(';')) ++at_;
    end_statement();
  }

  /// The enumerators, without comments and values.
  static std::string names_in(const std::string& block) {
    const std::string bare = std::regex_replace(block, std::regex("//[^\n]*|=[^,]*"), "");
    std::string names = squeezed_line(std::regex_replace(bare, std::regex(R"(\s*,\s*)"), ", "));
    while (!names.empty() && (names.back() == ',' || names.back() == ' ')) names.pop_back();
    return names.starts_with(' ') ? names.substr(1) : names;
  }

  /// Skips to the brace that closes the one just read. Returns the text between them.
  std::string skip_block() {
    const std::size_t begin = at_;
    for (int depth = 1; at_ < text_.size() && depth > 0; ++at_) {
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
        continue;
      }
      if (text_[at_] == '{') ++depth;
      if (text_[at_] == '}') --depth;
    }
    return std::string(text_.substr(begin, at_ - begin - 1));
  }

  void end_statement() {
    std::string text = squeezed_line(statement_);
    if (text.empty()) return begin_statement();  // after the brace of a type
    const std::string& type = scopes_.back().type;
    const std::string name = name_in(text);
    const auto holds = [&](const char* part) { return text.find(part) != std::string::npos; };
    const bool is_of_no_use = name.empty() || holds("= delete") || holds("static_assert") ||
                              text.starts_with("friend") || text.starts_with("template <>") || name.starts_with('~') ||
                              name.starts_with("operator") || name == type || text.starts_with("class ") ||
                              text.starts_with("extern") || (text.starts_with("using ") && !holds("=")) ||
                              holds("MemberOf<");
    last_was_shown_ = !is_of_no_use && is_shown_here();
    if (last_was_shown_) {
      const auto initialisers = std::regex_replace(text, std::regex(R"(\) : .*$)"), ")");
      text = std::regex_replace(initialisers, std::regex(R"(\s*=\s*0$|\s*=\s*default$|^virtual )"), "");
      const bool is_function =
          text.find('(') != std::string::npos && text.find('(') < std::min(text.find('='), text.size());
      add(text, text.starts_with("using ") ? squeezed_line(text.substr(6, text.find('=') - 6)) : name, is_function);
    }
    begin_statement();
    is_after_statement_ = true;
  }

  bool is_shown_here() const { return scopes_.back().is_public && scopes_.back().is_shown; }

  void add(const std::string& text, const std::string& name, bool is_function) {
    const Scope& scope = scopes_.back();
    found_.push_back(
        {scope.type.empty() ? scope.space : scope.type, name, text, first_sentence(comment_), is_function});
    last_was_shown_ = true;
  }

  void begin_statement() {
    statement_.clear();
    if (!is_after_statement_) comment_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string statement_;
  std::string comment_;
  bool is_after_statement_ = false;
  bool last_was_shown_ = false;
  std::vector<Scope> scopes_;
  std::vector<Declaration> found_;
};

const Declaration* find_function(const std::vector<Declaration>& all, std::string_view name) {
  const auto at = std::ranges::find_if(all, [&](const Declaration& one) {
    return one.is_function && (one.scope.empty() ? one.name : one.scope + "::" + one.name) == name;
  });
  return at == all.end() ? nullptr : &*at;
}

std::string cell(const std::string& text) { return std::regex_replace(text, std::regex(R"(\|)"), "\\|"); }
std::string code(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", cell(text)); }

/// The text of a table cell: "the members keep their values." without the full stop.
std::string in_table(std::string what) {
  while (!what.empty() && what.back() == '.') what.pop_back();
  return cell(what);
}

std::string table_side_by_side(const std::vector<Declaration>& cpp, const std::vector<Declaration>& c,
                               const std::vector<Declaration>& fortran) {
  std::string table = "| C++ | C | Fortran | what it does |\n|---|---|---|---|\n";
  for (const Declaration& function : c) {
    const auto in_fortran = std::ranges::find(fortran, function.name, &Declaration::name);
    table += fmt::format("| {} | {} | {} | {} |\n", code(counterpart_in_cpp(function.name, cpp)), code(function.text),
                         in_fortran == fortran.end() ? "" : code(in_fortran->text), in_table(function.what));
  }
  for (const Declaration& function : fortran) {
    if (std::ranges::find(c, function.name, &Declaration::name) == c.end())
      table += fmt::format("|  |  | {} | {} |\n", code(function.text), in_table(function.what));
  }
  return table;
}

/// The enumerations, structures and types of functions of a header in C, each with the first sentence of its comment.
std::vector<Declaration> types_in_c(const std::string& header) {
  std::vector<Declaration> types;
  const std::regex pattern(
      R"(/\*\*([^*]*(?:\*(?!/)[^*]*)*)\*/\s*(enum \{[^}]*\}|typedef struct \{[^}]*\} \w+|typedef [^;{]*);)");
  for (std::sregex_iterator at(header.begin(), header.end(), pattern), end; at != end; ++at) {
    const std::string comment = std::regex_replace((*at)[1].str(), std::regex(R"(\n\s*\*?)"), " ");
    const std::string bare = std::regex_replace((*at)[2].str(), std::regex(R"(/\*+[^*]*\*/)"), "");
    types.push_back({"", "", squeezed_line(bare), first_sentence(comment), false});
  }
  return types;
}

std::string table_of(const std::vector<Declaration>& all) {
  std::string table = "| declaration | what it is |\n|---|---|\n";
  for (const Declaration& one : all) {
    const std::string scope = one.scope.empty() ? "" : fmt::format("{}: ", code(one.scope));
    table += fmt::format("| {}{} | {} |\n", scope, code(one.text), in_table(one.what));
  }
  return table;
}

}  // namespace

std::vector<Declaration> declarations_in_cpp(std::string_view header) { return CppReader(header).read(); }

std::vector<Declaration> functions_in_c(std::string_view header) {
  std::vector<Declaration> functions;
  const std::string text(header);
  const std::regex pattern(R"(/\*\*([^]*?)\*/|^([a-zA-Z][\w ]*[ *])(mend_\w+)(\([^;]*\));)",
                           std::regex::ECMAScript | std::regex::multiline);
  std::string comment;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    if ((*at)[1].matched) {
      comment = std::regex_replace((*at)[1].str(), std::regex(R"(\n\s*\*?)"), " ");
      continue;
    }
    if ((*at)[2].str().starts_with("typedef")) continue;
    const std::string declaration = squeezed_line((*at)[2].str() + (*at)[3].str() + (*at)[4].str());
    functions.push_back({"", (*at)[3], declaration, first_sentence(comment), true});
  }
  return functions;
}

std::vector<Declaration> functions_in_fortran(std::string_view module) {
  std::vector<Declaration> functions;
  std::istringstream lines(std::regex_replace(std::string(module), std::regex(R"(&\s*\n\s*)"), ""));
  const std::regex pattern(R"((?:function|subroutine) (mend_\w+)(\([^)]*\)))");
  std::string comment;
  bool is_abstract = false;
  for (std::string read; std::getline(lines, read);) {
    const std::string line = squeezed_line(read);
    if (line.starts_with('!')) {
      comment += line.substr(1) + " ";
      continue;
    }
    if (line == "abstract interface") is_abstract = true;
    if (line == "end interface") is_abstract = false;
    std::smatch found;
    if (!is_abstract && std::regex_search(line, found, pattern))
      functions.push_back({"", found[1], found[1].str() + found[2].str(), first_sentence(comment), true});
    comment.clear();
  }
  return functions;
}

std::string counterpart_in_cpp(const std::string& c_name, const std::vector<Declaration>& cpp) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 25> differently_named{{
      {"mend_comm_dup", "Session::dup"},
      {"mend_comm_split", "Session::split"},
      {"mend_comm_cart", "Session::cart"},
      {"mend_comm_derive", "Session::derive"},
      {"mend_protect_with", "Store::protect"},
      {"mend_protect_part", "part"},
      {"mend_protect_subset", "subset"},
      {"mend_protect_replicated", "replicated"},
      {"mend_protect_file", "Store::file"},
      {"mend_file_open", "File::open"},
      {"mend_file_path", "File::path"},
      {"mend_file_exists", "File::exists"},
      {"mend_file_size", "File::size"},
      {"mend_replace_part", "Store::replace"},
      {"mend_restore_version", "Store::restore"},
      {"mend_versions_in_memory", "Store::versions"},
      {"mend_versions_on_disk", "Store::versions"},
      {"mend_recovery_count", "Session::recoveries"},
      {"mend_recovery_get", "Session::recoveries"},
      {"mend_recovery_dead", "Session::recoveries"},
      {"mend_recovery_rank", "Session::recoveries"},
      {"mend_report_number", "Session::report"},
      {"mend_report_integer", "Session::report"},
      {"mend_report_text", "Session::report"},
      {"mend_comm_fortran", "Session::comm"},
  }};
  for (const auto& [c, other] : differently_named) {
    if (c == c_name) return find_function(cpp, other) == nullptr ? "" : std::string(other);
  }
  const std::string bare = c_name.substr(std::string_view("mend_").size());
  for (const std::string& name : {"Session::" + bare, "Store::" + bare, bare}) {
    if (find_function(cpp, name) != nullptr) return name;
  }
  return "";
}

std::string api_list(const std::vector<std::string>& headers) {
  std::vector<Declaration> cpp;
  std::string by_header;
  for (const std::string& header : headers) {
    const auto declared = declarations_in_cpp(text_of(header));
    if (declared.empty()) continue;
    by_header += fmt::format("\n### [{0}](../{0})\n\n{1}", header, table_of(declared));
    cpp.insert(cpp.end(), declared.begin(), declared.end());
  }
  const auto c = functions_in_c(text_of("bindings/c/mend.h"));
  auto fortran = functions_in_fortran(text_of("bindings/fortran/mend.f90"));
  const auto of_f08 = functions_in_fortran(text_of("bindings/fortran/mend_f08.f90"));
  fortran.insert(fortran.end(), of_f08.begin(), of_f08.end());
  return fmt::format(
      "# The interface\n\n"
      "This list is made of the public headers by a test, which fails when the list is out of date. "
      "`MEND_UPDATE_GOLDEN=1 ctest --preset release -R docs.TheInterface` writes it again. The headers say more: what "
      "is collective, what is thrown, and what the arguments mean. The functions of Fenix are in "
      "[fenix.md](fenix.md).\n\n"
      "## C++, C and Fortran side by side\n\n"
      "In C and Fortran a function returns a code where C++ throws, except where it returns what it is asked for. "
      "In Fortran, arguments at the end may be left out where the module says so. `mend_comm_f08...` are in the module "
      "`mend_f08`.\n\n"
      "{}\n### Types and constants of C\n\nFortran has them under the same names.\n\n{}\n"
      "## C++, header by header\n{}",
      table_side_by_side(cpp, c, fortran), table_of(types_in_c(text_of("bindings/c/mend.h"))), by_header);
}

}  // namespace documents
