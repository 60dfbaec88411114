#include "framework/options.hpp"

#include "base/error.hpp"
#include "framework/commit_schedule.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace mend {
namespace {

constexpr const char* group = "Resilience (mend)";

std::string check_commit_every(const std::string& text) {
  try {
    CommitSchedule(text, std::chrono::hours(1));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  app.add_option("--mend-spares", options.spares, "How many of the launched processes wait as spares (set by mend run)")
      ->envname("MEND_SPARES")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--mend-commit-every", options.commit_every, "Steps between commits, or auto for Young's interval")
      ->envname("MEND_COMMIT_EVERY")
      ->check(CLI::Validator(check_commit_every, "N|auto"))
      ->capture_default_str()
      ->group(group);
  app.add_option_function<double>(
         "--mend-mtbf",
         [&options](double hours) { options.mtbf = std::chrono::duration<double, std::ratio<3600>>(hours); },
         "Expected time between failures of the job, in hours, for auto (default 24)")
      ->envname("MEND_MTBF")
      ->check(CLI::PositiveNumber)
      ->group(group);
  app.add_option("--mend-log", options.log_level, "What mend says on standard error")
      ->envname("MEND_LOG")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--mend-trace", options.trace, "Folder for timelines in the Chrome trace format, one file a process")
      ->envname("MEND_TRACE")
      ->group(group);
  // In the file the keys are the flags without the prefix; under [mend] they may stand beside the application's own.
  app.set_config("--mend-config", "", "TOML file with any of these options, named as the flags are without the dashes")
      ->envname("MEND_CONFIG")
      ->group(group);
}

Options take_options(int& argc, char** argv) {
  Options options;
  CLI::App parser("mend");
  parser.set_help_flag();
  parser.allow_extras();
  add_options(parser, options);

  // Only what begins with --mend- is ours; the rest is the application's and must not be judged here.
  std::vector<std::string> ours;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") {
      while (i < argc) argv[kept++] = argv[i++];
      break;
    }
    if (!argument.starts_with("--mend-")) {
      argv[kept++] = argv[i];
      continue;
    }
    ours.emplace_back(argument);
    const bool has_value = argument.find('=') != std::string_view::npos;
    if (!has_value && i + 1 < argc) ours.emplace_back(argv[++i]);
  }
  if (argc > 0) {
    argc = kept;
    argv[argc] = nullptr;
  }
  try {
    std::reverse(ours.begin(), ours.end());  // CLI11 takes a vector from its back
    parser.parse(ours);
    if (!parser.remaining().empty()) {
      throw UsageError(fmt::format("'{}' is not an option of mend; its options are listed in docs/options.md", parser.remaining().front()));
    }
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return options;
}

}  // namespace mend
