#include "framework/options.hpp"

#include "base/error.hpp"
#include "framework/recovery/commit_schedule.hpp"
#include "spares/policy.hpp"
#include "store/disk/folder.hpp"
#include "store/redundancy.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace mend {
namespace {

constexpr const char* group = "Resilience (mend)";

std::string check_positive(const std::string& text) {
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
  return fine ? "" : fmt::format("a number above 0 is wanted, not {}", text);
}

std::string check_seconds(const std::string& text) {
  constexpr double day = 86'400;
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value > 0 && value <= day;
  return fine ? "" : fmt::format("a number of seconds above 0 and up to {:.0f} (a day) is wanted, not {}", day, text);
}

std::string check_patience(const std::string& text) {
  constexpr double day = 86'400;
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value >= 0 && value <= day;
  return fine ? ""
              : fmt::format("a number of seconds up to {:.0f} (a day) is wanted, or 0 for never, not {}", day, text);
}

std::string check_milliseconds(const std::string& text) {
  constexpr double day = 86'400'000;
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value >= 1 && value <= day;
  return fine ? "" : fmt::format("a number of milliseconds from 1 to {:.0f} (a day) is wanted, not {}", day, text);
}

auto check_count_from(int least) {
  return [least](const std::string& text) -> std::string {
    int value = 0;
    const bool fine = CLI::detail::lexical_cast(text, value) && value >= least;
    return fine ? "" : fmt::format("a number from {} up is wanted, not {}", least, text);
  };
}

/// What whoever reads an option says against its text.
template <class Read>
std::string objection(Read read) {
  try {
    read();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string check_commit_every(const std::string& text) {
  return objection([&] { CommitSchedule{text}; });
}

std::string check_on_failure(const std::string& text) {
  return objection([&] { Policy::parse(text); });
}

std::string check_redundancy(const std::string& text) {
  return objection([&] { Redundancy::parse(text); });
}

std::string check_disk(const std::string& text) {
  return objection([&] { DiskOptions::parse(text); });
}

std::string check_versions(const std::string& text) {
  constexpr int most = 1000;  // each has slots of its own, which are looked through at every commit
  int value = 0;
  if (!CLI::detail::lexical_cast(text, value) || value < 2) {
    return fmt::format("a number from 2 up is wanted, not {}: one version is kept while the next is made", text);
  }
  return value <= most ? "" : fmt::format("a number up to {} is wanted, not {}", most, text);
}

/// Defines the options, named with `prefix` before each. `with_environment`: whether variables set them too.
void define(CLI::App& app, Options& options, const std::string& prefix, bool with_environment) {
  const auto from_environment = [&](CLI::Option* option, const char* variable) {
    option->group(group);
    refuse_flag_as_value(*option);
    if (with_environment) option->envname(variable);
  };
  from_environment(app.add_option(prefix + "spares", options.spares,
                                  "How many of the launched processes wait as spares (set by mend run)")
                       ->check(CLI::Validator(check_count_from(0), "N"))
                       ->capture_default_str(),
                   "MEND_SPARES");
  from_environment(
      app.add_option(
             prefix + "spare-memory", options.spare_memory,
             "ready: a waiting spare has memory for what a rank keeps of one version, which is there sooner then;\n"
             "none: it asks for it when it takes over")
          ->check(CLI::IsMember({"ready", "none"}))
          ->capture_default_str(),
      "MEND_SPARE_MEMORY");
  from_environment(
      app.add_option(
             prefix + "on-failure", options.on_failure,
             "What is done about a rank whose process has died, one or more of: spare (a waiting process takes it\n"
             "over), spawn (one more process is started for it), shrink (it is given up and the others close up), "
             "blank\n"
             "(it is given up and the others keep their numbers)")
          ->check(CLI::Validator(check_on_failure, "RUNG,..."))
          ->capture_default_str(),
      "MEND_ON_FAILURE");
  from_environment(
      app.add_option(
             prefix + "spawn-on", options.spawn_on,
             "Machines of the job on which processes are started for ranks, the best first (default: where the rank\n"
             "was, or else where fewest processes are)")
          ->type_name("HOST,..."),
      "MEND_SPAWN_ON");
  from_environment(app.add_option_function<double>(
                          prefix + "spawn-limit", [&options](double value) { options.spawn_limit = Seconds(value); },
                          "How long a process that is started for a rank may take to be there, in s (default 30)")
                       ->check(CLI::Validator(check_seconds, "S")),
                   "MEND_SPAWN_LIMIT");
  from_environment(
      app.add_option_function<int>(
             fmt::format("{0}tries,{0}spawn-tries", prefix), [&options](int value) { options.tries = value; },
             "After how many recoveries in a row, with no commit in between, a rank that dies by a fault of the\n"
             "program each time (a crash, exit) gets no further process (default 2), and none is started for any\n"
             "rank, whatever they die of (default 10)")
          ->check(CLI::Validator(check_count_from(1), "N")),
      "MEND_TRIES");
  from_environment(app.add_option(prefix + "commit-every", options.commit_every,
                                  "Steps between commits, or auto for Daly's interval")
                       ->check(CLI::Validator(check_commit_every, "N|auto"))
                       ->capture_default_str(),
                   "MEND_COMMIT_EVERY");
  from_environment(
      app.add_option_function<double>(
             prefix + "mtbf",
             [&options](double hours) { options.mtbf = std::chrono::duration<double, std::ratio<3600>>(hours); },
             "Expected time between failures of the job, in hours, for auto (default: as observed, and 24 until "
             "something fails)")
          ->check(CLI::Validator(check_positive, "HOURS")),
      "MEND_MTBF");
  from_environment(
      app.add_option(
             prefix + "redundancy", options.redundancy,
             "How committed data survives: partner (one copy), replicas:K (K copies), xor:G (one parity a group\n"
             "of G ranks), rs:K+M (groups that survive M losses), or local (not at all)")
          ->check(CLI::Validator(check_redundancy, "SCHEME"))
          ->capture_default_str(),
      "MEND_REDUNDANCY");
  from_environment(app.add_option(prefix + "versions", options.versions, "How many versions of the data are kept")
                       ->check(CLI::Validator(check_versions, "N"))
                       ->capture_default_str(),
                   "MEND_VERSIONS");
  from_environment(
      app.add_option(prefix + "find-changes", options.find_changes,
                     "How commits find what has changed: hash reads all data; writes asks the kernel (Linux 6.7 or "
                     "later) about\n"
                     "those of which little changes, unless devices or other processes write into them by themselves")
          ->check(CLI::IsMember({"hash", "writes"}))
          ->capture_default_str(),
      "MEND_FIND_CHANGES");
  from_environment(
      app.add_option(prefix + "disk", options.disk,
                     "Folder, on a disk that all ranks see, to which every N-th commit (default 10) is written in\n"
                     "the background, and from which a job goes on where one before it has ended")
          ->check(CLI::Validator(check_disk, "DIR[,every=N]")),
      "MEND_DISK");
  from_environment(app.add_option(prefix + "agreement", options.agreement,
                                  "How processes agree: mend's own protocols, or mpi for the library's")
                       ->check(CLI::IsMember({"era", "log2phases", "validate-all", "validate-all-loose", "mpi"}))
                       ->capture_default_str(),
                   "MEND_AGREEMENT");
  from_environment(
      app.add_option(prefix + "detector", options.detector,
                     "How failed processes are noticed: ring also sees those that hang or are cut off; runtime only\n"
                     "those that end (for debuggers, which stop processes)")
          ->check(CLI::IsMember({"ring", "runtime"}))
          ->capture_default_str(),
      "MEND_DETECTOR");
  const auto milliseconds = [&](const char* name, Milliseconds& time, const char* what) {
    return app
        .add_option_function<double>(
            prefix + name, [&time](double value) { time = Milliseconds(value); },
            fmt::format("{}, in ms (default {:g})", what, time.count()))
        ->check(CLI::Validator(check_milliseconds, "MS"));
  };
  from_environment(milliseconds("heartbeat", options.heartbeat, "Time between a process's heartbeats"),
                   "MEND_HEARTBEAT");
  from_environment(milliseconds("timeout", options.timeout, "Silence after which a process is held dead and killed"),
                   "MEND_TIMEOUT");
  const auto patience = [&](const char* name, Seconds& time, const char* help) {
    return app
        .add_option_function<double>(
            prefix + name, [&time](double value) { time = Seconds(value); }, help)
        ->check(CLI::Validator(check_patience, "S"));
  };
  from_environment(patience("stall", options.stall,
                            "How long ranks wait for others in mend's calls until it is told who waits where and who\n"
                            "has not come, in s (default 10; 0: never; not with --mend-detector runtime)"),
                   "MEND_STALL");
  from_environment(patience("stall-limit", options.stall_limit,
                            "How long they wait until the job is ended, with the stacks of all ranks if there is gdb,\n"
                            "in s (default 0: never; not with --mend-detector runtime)"),
                   "MEND_STALL_LIMIT");
  from_environment(app.add_option(prefix + "log", options.log_level, "What mend says on standard error")
                       ->check(CLI::IsMember({"debug", "info", "notice", "warn", "error", "off"}))
                       ->capture_default_str(),
                   "MEND_LOG");
  from_environment(app.add_option(prefix + "result", options.result,
                                  "File on what happened, for mend report (set by mend run --result)"),
                   "MEND_RESULT");
  from_environment(app.add_option(prefix + "trace", options.trace,
                                  "Folder for timelines in the Chrome trace format, one file a process"),
                   "MEND_TRACE");
}

/// What a TOML file says to mend: the keys of its [mend] table, or, if it has none, all that stand in no table.
std::vector<CLI::ConfigItem> items_for_mend(const std::string& file) {
  std::vector<CLI::ConfigItem> items = CLI::ConfigTOML().from_file(file);
  const auto in_our_table = [](const CLI::ConfigItem& item) {
    return item.parents == std::vector<std::string>{"mend"};
  };
  const bool has_table = std::any_of(items.begin(), items.end(), in_our_table);
  std::erase_if(items, [&](const CLI::ConfigItem& item) {
    const bool marks_a_table = item.name == "++" || item.name == "--";
    return marks_a_table || (has_table ? !in_our_table(item) : !item.parents.empty());
  });
  return items;
}

void read_file(const std::string& file, Options& options) {
  CLI::App keys("mend");
  keys.set_help_flag();
  define(keys, options, "--", false);
  try {
    for (const CLI::ConfigItem& item : items_for_mend(file)) {
      if (keys.get_option_no_throw("--" + item.name) == nullptr) {
        throw UsageError(fmt::format("'{}' is not an option of mend", item.name));
      }
      std::vector<std::string> words = item.inputs;
      words.push_back("--" + item.name);  // CLI11 takes a vector from its back
      keys.parse(words);
    }
  } catch (const std::exception& error) {
    throw CLI::ValidationError("--mend-config", fmt::format("{}: {}", file, error.what()));
  }
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return names;
}

}  // namespace

void add_options(CLI::App& app, Options& options) {
  // The first to be defined is the first to take effect, so that what variables and flags say comes over it.
  CLI::Option* const config =
      app.add_option_function<std::string>(
             "--mend-config", [&options](const std::string& file) { read_file(file, options); },
             "TOML file with any of these options, named as the flags are without --mend-; in a table [mend], or alone")
          ->envname("MEND_CONFIG")
          ->type_name("FILE")
          ->group(group);
  refuse_flag_as_value(*config);
  define(app, options, "--mend-", true);
}

void refuse_flag_as_value(CLI::Option& option) {
  option.transform(CLI::Validator(
      [](std::string& text) {
        return text.starts_with("--") ? fmt::format("a value is wanted, and {} follows instead", text) : std::string();
      },
      ""));
}

std::vector<std::string> option_variables() {
  Options unused;
  CLI::App app;
  add_options(app, unused);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_envname().empty()) names.push_back(option->get_envname());
  }
  return names;
}

Options take_options(int& argc, char** argv, const Options& unless_chosen) {
  Options options = unless_chosen;
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
      throw UsageError(fmt::format("'{}' is not an option of mend; there are {}", parser.remaining().front(),
                                   fmt::join(names_of_options(parser), ", ")));
    }
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return options;
}

}  // namespace mend
