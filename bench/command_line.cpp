#include "bench/command_line.hpp"

#include "base/telemetry/written_output.hpp"
#include "jobs/manual/description.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

namespace mend::bench {
namespace {

CLI::Validator check_of(int least, int most) {
  if (most < std::numeric_limits<int>::max()) return CLI::Range(least, most);
  if (least > 0) return CLI::PositiveNumber;
  return CLI::NonNegativeNumber;
}

/// Returns the name of an option that was given "nan", which passes every check of a range; nothing if there is none.
std::optional<std::string> option_without_number(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& text : option->results()) {
      char* end = nullptr;
      if (std::isnan(std::strtod(text.c_str(), &end)) && *end == '\0') return option->get_name();
    }
  }
  return std::nullopt;
}

}  // namespace

Option Option::between(int least, int most) const { return Option(option_->check(CLI::Range(least, most))); }
Option Option::between(double least, double most) const { return Option(option_->check(CLI::Range(least, most))); }
Option Option::one_of(const std::vector<std::string>& values) const {
  return Option(option_->check(CLI::IsMember(values)));
}
Option Option::separated_by_commas() const { return Option(option_->delimiter(',')); }
Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
Option Option::with_default() const { return Option(option_->capture_default_str()); }
Option Option::with_type(const std::string& name) const { return Option(option_->type_name(name)); }
Option Option::in_group(const std::string& name) const { return Option(option_->group(name)); }
std::string Option::name() const { return option_->get_name(); }
bool Option::is_given() const { return option_->count() > 0; }

struct CommandLine::Parser {
  Parser(std::string program, std::string description) : app(std::move(description), std::move(program)) {}
  CLI::App app;
};

CommandLine::CommandLine(std::string program, std::string description)
    : parser_(std::make_unique<Parser>(std::move(program), std::move(description))) {}

CommandLine::~CommandLine() = default;

template <class Value>
Option CommandLine::option(const std::string& name, Value& value, const std::string& text) {
  return Option(parser_->app.add_option(name, value, text));
}
template Option CommandLine::option(const std::string&, int&, const std::string&);
template Option CommandLine::option(const std::string&, std::uint32_t&, const std::string&);
template Option CommandLine::option(const std::string&, std::uint64_t&, const std::string&);
template Option CommandLine::option(const std::string&, double&, const std::string&);
template Option CommandLine::option(const std::string&, std::string&, const std::string&);
template Option CommandLine::option(const std::string&, std::vector<int>&, const std::string&);
template Option CommandLine::option(const std::string&, std::vector<std::uint32_t>&, const std::string&);
template Option CommandLine::option(const std::string&, std::vector<std::string>&, const std::string&);

Option CommandLine::flag(const std::string& name, bool& value, const std::string& text) {
  return Option(parser_->app.add_flag(name, value, text));
}

void CommandLine::add(const std::string& name, int& value, const std::string& text, int least, int most) {
  parser_->app.add_option(name, value, text)->check(check_of(least, most))->capture_default_str();
}

void CommandLine::add(const std::string& name, double& value, const std::string& text, double least, double most) {
  parser_->app.add_option(name, value, text)->check(CLI::Range(least, most))->capture_default_str();
}

void CommandLine::add(const std::string& name, std::vector<int>& values, const std::string& text, int least, int most) {
  parser_->app.add_option(name, values, text)->delimiter(',')->check(CLI::Range(least, most))->capture_default_str();
}

void CommandLine::add(const std::string& name, std::string& value, const std::string& text) {
  parser_->app.add_option(name, value, text);
}

void CommandLine::add_hidden(const std::string& name, std::string& value) {
  parser_->app.add_option(name, value)->group("");
}

void CommandLine::add_flag(const std::string& name, bool& value, const std::string& text, const std::string& needs) {
  CLI::Option* const flag = parser_->app.add_flag(name, value, text);
  if (!needs.empty()) flag->needs(parser_->app.get_option(needs));
}

void CommandLine::allow_options_of_mend() { parser_->app.allow_extras(); }

void CommandLine::allow_options_of_mend_beside(const std::string& option) {
  CLI::App& app = parser_->app;
  app.allow_extras();
  app.callback([&app, option] {
    if (app.count(option) == 0 && app.remaining_size() > 0) throw CLI::ExtrasError(app.get_name(), app.remaining());
  });
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    parser_->app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return parser_->app.exit(error);
  }
}

std::optional<int> CommandLine::parse_as_command(int argc, char** argv) {
  CLI::App& app = parser_->app;
  if (argc == 2 && std::string_view(argv[1]) == jobs::describe_argument) {
    std::puts(nlohmann::json(jobs::describe(app)).dump().c_str());
    return 0;
  }
  try {
    app.parse(argc, argv);
    if (const auto wrong = option_without_number(app)) {
      std::fprintf(stderr, "mend: %s: nan is no number\n", wrong->c_str());
      return 2;
    }
    return std::nullopt;
  } catch (const CLI::CallForHelp& help) {
    return written_or_failed(app.exit(help));
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "mend: %s\n", error.what());
    return 2;
  }
}

}  // namespace mend::bench
