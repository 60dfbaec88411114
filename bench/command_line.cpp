#include "bench/command_line.hpp"

#include <CLI/CLI.hpp>

#include <limits>
#include <utility>

namespace mend::bench {
namespace {

CLI::Validator check_of(int least, int most) {
  if (most < std::numeric_limits<int>::max()) return CLI::Range(least, most);
  if (least > 0) return CLI::PositiveNumber;
  return CLI::NonNegativeNumber;
}

}  // namespace

struct CommandLine::Parser {
  Parser(std::string program, std::string description) : app(std::move(description), std::move(program)) {}
  CLI::App app;
};

CommandLine::CommandLine(std::string program, std::string description)
    : parser_(std::make_unique<Parser>(std::move(program), std::move(description))) {}

CommandLine::~CommandLine() = default;

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

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    parser_->app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return parser_->app.exit(error);
  }
}

}  // namespace mend::bench
