// The options that both mini-apps share.

#pragma once

#include "apps/common/kill_switch.hpp"
#include "framework/options.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace apps {

struct CommonOptions {
  int steps = 100;
  std::vector<KillOrder> kills;
  std::filesystem::path result;    ///< JSON file about the run, written by rank 0; empty: none
  std::filesystem::path evidence;  ///< folder for one JSON file from every rank that finishes; empty: none
  std::filesystem::path plot;      ///< PNG of a slice of the final field; empty: none
  mend::Options mend;
};

/// Adds --steps, --commit-every, --kill, --result, --evidence and --plot to `app`, and mend's own options. The values
/// in `options` are the defaults. It is filled when `app` parses, and must outlive that. Local.
void add_common_options(CLI::App& app, CommonOptions& options);

/// For the application's own check: throws mend::UsageError for kill orders that can never be obeyed. `places`: the
/// names of the application's own places, besides "step". `last_step`: the highest number that it gives to a step.
void check_kills(const CommonOptions& options, std::vector<std::string> places, long last_step);

/// Throws mend::UsageError if the data on disk is of a later step than the last that is wanted.
void require_steps_left(int step, const CommonOptions& options);

/// Throws mend::UsageError if a slice of `values` is to be drawn that is too large to be brought to rank 0.
void check_plot(const CommonOptions& options, std::int64_t values);

/// Returns why `text` cannot be written as a file, or an empty string. Checked at the start, not after hours of
/// computing.
std::string check_writable_file(const std::string& text);

/// Parses the arguments. Returns nothing if the program should continue; otherwise the exit code that main must return:
/// help was requested (0), or an argument is wrong (2). Every process calls it, before mend::run. One of them prints
/// the help text, or one sentence about the wrong argument. If --mend-describe is the only argument, the description of
/// the command line is printed as JSON, for mend man.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

/// The same with a check of several options together: `check` throws mend::UsageError if they are incompatible.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check);

}  // namespace apps
