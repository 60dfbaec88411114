#include "tests/docs/sentences.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <sstream>
#include <utility>

namespace documents {
namespace {

/// Calls whose texts are not for users: help texts, invariants of mend, and messages at debug and info level.
constexpr std::array<std::string_view, 11> not_for_users{
    "add_option", "add_option_function", "add_flag", "add_subcommand", "footer", "from_environment", "debug",
    "info",       "static_assert",       "require",  "MEND_ASSERT"};

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

/// The name before the parenthesis or brace at `at`: the function that is called, or the type that is made.
std::string callee_before(std::string_view source, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && std::isspace(static_cast<unsigned char>(source[end - 1])) != 0) --end;
  if (end > 0 && source[end - 1] == '>') end = source.rfind('<', end);
  std::size_t begin = end;
  while (begin > 0 && is_part_of_name(source[begin - 1])) --begin;
  return std::string(source.substr(begin, end - begin));
}

/// Returns true if the brace at `at` begins the body of a function or a lambda, or a block in it.
bool begins_body(std::string_view source, std::size_t at) {
  const auto last_before = [source](std::size_t end) {
    while (end > 0 && std::isspace(static_cast<unsigned char>(source[end - 1])) != 0) --end;
    return end;
  };
  const std::size_t end = last_before(at);
  if (end == 0) return false;
  if (source[end - 1] == ')' || source[end - 1] == ']') return true;
  std::size_t begin = end;
  while (begin > 0 && is_part_of_name(source[begin - 1])) --begin;
  return source.substr(0, last_before(begin)).ends_with("->");
}

constexpr std::string_view body = "{";

std::string longest_constant_run(const std::string& text) {
  static const std::regex values(R"(\{[^}]*\}|%[-+ 0-9.*]*[a-z]+|\\n)");
  std::string longest;
  for (std::sregex_token_iterator part(text.begin(), text.end(), values, -1), end; part != end; ++part) {
    std::string run = part->str();
    const auto is_edge = [](char c) {
      return std::isspace(static_cast<unsigned char>(c)) || std::ispunct(static_cast<unsigned char>(c));
    };
    while (!run.empty() && is_edge(run.back())) run.pop_back();
    run.erase(run.begin(), std::ranges::find_if_not(run, is_edge));
    if (run.size() > longest.size()) longest = run;
  }
  return longest;
}

bool has_four_words(const std::string& text) {
  std::istringstream in(text);
  int words = 0;
  for (std::string word; in >> word;) ++words;
  return words >= 4;
}

/// Reads C++ source: skips comments, joins adjacent literals, and records the calls that enclose a literal.
class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) {}

  std::vector<std::string> read() {
    while (at_ < source_.size()) step();
    flush();
    return std::move(found_);
  }

 private:
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  void skip_past(std::string_view end) {
    const auto found = source_.find(end, at_);
    at_ = found == std::string_view::npos ? source_.size() : found + end.size();
  }

  void step() {
    const char c = source_[at_];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      line_begins_ = line_begins_ || c == '\n';
      ++at_;
      return;
    }
    const bool first_of_line = std::exchange(line_begins_, false);
    if (first_of_line && c == '#') return skip_past("\n");
    if (starts("//")) {
      skip_past("\n");
      line_begins_ = true;
      return;
    }
    if (starts("/*")) return skip_past("*/");
    if (c == '"') return literal();
    flush();
    if (starts("R\"")) {
      const auto open = source_.find('(', at_);
      return skip_past(")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"");
    }
    const bool is_separator_of_digits = at_ > 0 && std::isalnum(static_cast<unsigned char>(source_[at_ - 1])) != 0;
    if (c == '\'' && !is_separator_of_digits) {
      at_ += source_[at_ + 1] == '\\' ? 3 : 1;
      return skip_past("'");
    }
    if (c == '{' && begins_body(source_, at_)) {
      calls_.emplace_back(body);
    } else if (c == '(' || c == '{') {
      calls_.push_back(callee_before(source_, at_));
    }
    if ((c == ')' || c == '}') && !calls_.empty()) calls_.pop_back();
    ++at_;
  }

  void literal() {
    for (++at_; at_ < source_.size() && source_[at_] != '"'; ++at_) {
      if (source_[at_] == '\\') {
        if (source_[at_ + 1] != '"') text_ += source_[at_];
        ++at_;
      }
      text_ += source_[at_];
    }
    ++at_;
  }

  void flush() {
    const std::string run = longest_constant_run(std::exchange(text_, {}));
    if (!has_four_words(run)) return;
    // A lambda among the arguments of a call says what it says by itself.
    const auto innermost = std::ranges::find(calls_.rbegin(), calls_.rend(), body).base();
    const bool is_for_users = std::none_of(innermost, calls_.end(), [](std::string_view call) {
      return std::ranges::find(not_for_users, call.substr(call.rfind(':') + 1)) != not_for_users.end();
    });
    if (is_for_users) found_.push_back(squeezed(run));
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool line_begins_ = true;
  std::string text_;
  std::vector<std::string> calls_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> sentences_in(std::string_view source) { return Reader(source).read(); }

std::string squeezed(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

}  // namespace documents
