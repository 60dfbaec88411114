#include "apps/common/command_line.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/telemetry/written_output.hpp"
#include "framework/run.hpp"
#include "jobs/manual/description.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string_view>
#include <system_error>

namespace apps {
namespace {

/// As many as one MPI_Reduce counts.
constexpr std::int64_t most_values_of_plot = std::numeric_limits<int>::max();

std::string check_steps(const std::string& text) {
  return text.starts_with('-') ? fmt::format("the number of steps cannot be negative, as {} is", text) : "";
}

std::string check_kill(const std::string& text) {
  try {
    parse_kill_order(text);
    return "";
  } catch (const mend::UsageError& error) {
    return error.what();
  }
}

/// Creates the folder and removes the evidence of an earlier run. The first process launched clears it before MPI_Init,
/// when no process can have finished yet. All processes check the folder, so that all continue, or none.
std::string prepare_evidence_folder(const std::string& text) {
  const std::filesystem::path folder(text);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder, error) || ::access(folder.c_str(), W_OK) != 0) {
    return fmt::format("the folder {} cannot be made or is not writable", text);
  }
  if (!mend::launch::speaks_for_all()) return "";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("rank-") && name.ends_with(".json")) std::filesystem::remove(entry.path(), error);
  }
  return "";
}

/// CLI11 may put several lines into one error message.
std::string first_line(std::string text) {
  text.erase(std::min(text.find('\n'), text.size()));
  return text;
}

int refuse(const CLI::App& app, const std::string& sentence) {
  return mend::refuse(fmt::format("{}: {}; see --help", app.get_name(), sentence));
}

}  // namespace

std::string check_writable_file(const std::string& text) {
  const std::filesystem::path file(text);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fmt::format("{} cannot be written because there is no folder {}", text, folder.string());
  }
  if (std::filesystem::is_directory(file, ignored)) return fmt::format("{} is a folder, and a file is wanted", text);
  if (::access(folder.c_str(), W_OK) != 0) {
    return fmt::format("{} cannot be written because the folder {} is not writable", text, folder.string());
  }
  if (std::filesystem::exists(file, ignored) && ::access(file.c_str(), W_OK) != 0) {
    return fmt::format("{} is there already and may not be written", text);
  }
  return "";
}

void check_kills(const CommonOptions& options, std::vector<std::string> places, long last_step) {
  places.push_back("step");
  const bool more_may_come = options.mend.on_failure.spawn;
  for (const KillOrder& order : options.kills)
    check_kill_order(order, places, last_step, options.mend.spares, more_may_come);
}

void require_steps_left(int step, const CommonOptions& options) {
  if (step > options.steps) {
    throw mend::UsageError(
        fmt::format("the restored version is of step {}, and --steps asks for {} only: ask for {} or more", step,
                    options.steps, step));
  }
}

void check_plot(const CommonOptions& options, std::int64_t values) {
  if (!options.plot.empty() && values > most_values_of_plot) {
    throw mend::UsageError(fmt::format(
        "--plot: a slice of {} values is too large, {} are possible: leave out --plot, or take a smaller grid", values,
        most_values_of_plot));
  }
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  const auto path_into = [](std::filesystem::path& path) { return [&path](const std::string& text) { path = text; }; };
  const auto checked = [](std::string (*check)(const std::string&)) {
    return CLI::Validator([check](std::string& text) { return check(text); }, "");
  };

  app.add_option("--steps", options.steps, "How many time steps to do")
      ->check(checked(check_steps))
      ->capture_default_str()
      ->type_name("N")
      ->group("Problem");

  const char* const fault_tolerance = "Fault tolerance";
  const auto take_commit_every = [&options](const std::string& text) {
    try {
      options.mend.commit_every = mend::CommitInterval::parse(text);
    } catch (const mend::UsageError& error) {
      throw CLI::ValidationError("--commit-every", error.what());
    }
  };
  app.add_option_function<std::string>("--commit-every", take_commit_every,
                                       "Steps between commits, or \"auto\" for the interval of Young and Daly")
      ->default_str(to_string(options.mend.commit_every))
      ->type_name("N|auto")
      ->group(fault_tolerance);
  const auto add_orders = [&](const char* name, bool hang, const char* help) {
    const auto take = [&options, hang](const std::vector<std::string>& orders) {
      std::erase_if(options.kills, [&](const KillOrder& order) { return order.hangs == hang; });
      for (const std::string& text : orders) {
        options.kills.push_back(parse_kill_order(text));
        options.kills.back().hangs = hang;
      }
    };
    app.add_option_function<std::vector<std::string>>(name, take, help)
        ->check(checked(check_kill))
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("RANK@STEP[:POINT]")
        ->group(fault_tolerance);
  };
  add_orders("--kill", false,
             "Have RANK send itself SIGKILL in step STEP (repeatable). POINT says where:\n"
             "step (its start, the default), halo (messages under way), or one of mend's\n"
             "own such as commit, restore, recovery. A second order for a rank is for the\n"
             "process that took over. pN instead of RANK is the process launched as\n"
             "number N, so that spares die too");
  add_orders("--hang", true,
             "Have RANK stop (SIGSTOP) in the same way, and do nothing any more: mend's failure\n"
             "detector finds and kills it (--mend-timeout). Second orders count after --kill's");

  const char* const output = "Output";
  app.add_option_function<std::string>("--result", path_into(options.result),
                                       "Write what happened, and a hash of the final field, as JSON;\n"
                                       "who was killed when goes to FILE.kills")
      ->check(checked(check_writable_file))
      ->type_name("FILE")
      ->group(output);
  app.add_option_function<std::string>("--evidence", path_into(options.evidence),
                                       "Have every rank that finishes write what it saw to DIR/rank-<r>.json")
      ->check(checked(prepare_evidence_folder))
      ->type_name("DIR")
      ->group(output);
  app.add_option_function<std::string>("--plot", path_into(options.plot), "Draw a slice of the final field")
      ->check(checked(check_writable_file))
      ->type_name("FILE.png")
      ->group(output);

  mend::add_options(app, options.mend);
}

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  return parse_command_line(app, argc, argv, {});
}

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const std::function<void()>& check) {
  if (argc == 2 && std::string_view(argv[1]) == mend::jobs::describe_argument) {
    std::puts(nlohmann::json(mend::jobs::describe(app)).dump().c_str());
    return mend::written_or_failed(static_cast<int>(mend::ExitCode::ok));
  }
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) mend::refuse_flag_as_value(*option);
  }
  try {
    app.parse(argc, argv);
    if (check) check();
    return std::nullopt;
  } catch (const CLI::Success& help_or_version) {
    if (mend::launch::speaks_for_all()) app.exit(help_or_version);
    return static_cast<int>(mend::ExitCode::ok);
  } catch (const CLI::ParseError& error) {
    return refuse(app, first_line(error.what()));
  } catch (const std::exception& error) {
    return refuse(app, error.what());
  }
}

}  // namespace apps
