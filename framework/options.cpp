#include "framework/options.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "framework/option_file.hpp"
#include "transport/control/interfaces.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace mend {
namespace {

constexpr const char* group = "Resilience (mend)";

/// Numbers of options have a decimal point, whatever locale the program has set.
class InPlainLocale {
 public:
  InPlainLocale()
      : plain_(::newlocale(LC_NUMERIC_MASK, "C", ::duplocale(LC_GLOBAL_LOCALE))), before_(::uselocale(plain_)) {}
  ~InPlainLocale() {
    ::uselocale(before_);
    ::freelocale(plain_);
  }
  InPlainLocale(const InPlainLocale&) = delete;
  InPlainLocale& operator=(const InPlainLocale&) = delete;

 private:
  locale_t plain_;
  locale_t before_;
};

std::string check_positive(const std::string& text) {
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
  return fine ? "" : fmt::format("a number above 0 is expected, not {}", text);
}

std::string check_seconds(const std::string& text) {
  constexpr double day = 86'400;
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value > 0 && value <= day;
  return fine ? "" : fmt::format("a number of seconds above 0 and up to {:.0f} (a day) is expected, not {}", day, text);
}

std::string check_patience(const std::string& text) {
  constexpr double day = 86'400;
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value >= 0 && value <= day;
  return fine ? ""
              : fmt::format("a number of seconds up to {:.0f} (a day) is expected, or 0 for never, not {}", day, text);
}

std::string check_milliseconds(const std::string& text) {
  constexpr double day = 86'400'000;
  double value = 0;
  const bool fine = CLI::detail::lexical_cast(text, value) && value >= 1 && value <= day;
  return fine ? "" : fmt::format("a number of milliseconds from 1 to {:.0f} (a day) is expected, not {}", day, text);
}

auto check_count_from(int least) {
  return [least](const std::string& text) -> std::string {
    int value = 0;
    const bool fine = CLI::detail::lexical_cast(text, value) && value >= least;
    return fine ? "" : fmt::format("a number from {} up is expected, not {}", least, text);
  };
}

std::string check_versions(const std::string& text) {
  constexpr int most = 1000;  // each version has its own slots, which every commit searches
  int value = 0;
  if (!CLI::detail::lexical_cast(text, value) || value < 2) {
    return fmt::format("a number from 2 up is expected, not {}: one version is kept while the next is made", text);
  }
  return value <= most ? "" : fmt::format("a number up to {} is expected, not {}", most, text);
}

/// Adds an option. `parse` turns its text into a value, or throws UsageError.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, T& value, Parse parse, const std::string& help) {
  const auto take = [&value, parse, name](const std::string& text) {
    try {
      value = parse(text);
    } catch (const UsageError& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  return app.add_option_function<std::string>(name, take, help);
}

/// Adds an option whose value is the name of one of `choices`.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& value,
                        const std::vector<std::pair<std::string, T>>& choices, const std::string& help) {
  const auto named = [choices](const std::string& text) {
    return std::ranges::find(choices, text, &std::pair<std::string, T>::first)->second;
  };
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return add_parsed(app, name, value, named, help)
      ->check(CLI::IsMember(names))
      ->default_str(std::ranges::find(choices, value, &std::pair<std::string, T>::second)->first);
}

/// Returns the names in a list such as "node1, node2".
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream rest(text);
  for (std::string name; std::getline(rest >> std::ws, name, ',');) {
    name.erase(name.find_last_not_of(' ') + 1);
    names.push_back(name);
  }
  return names;
}

std::vector<std::pair<std::string, std::optional<agreement::Protocol>>> agreements() {
  using agreement::Protocol;
  std::vector<std::pair<std::string, std::optional<Protocol>>> known;
  for (const Protocol one :
       {Protocol::era, Protocol::log2phases, Protocol::validate_all, Protocol::validate_all_loose}) {
    known.emplace_back(name_of(one), one);
  }
  known.emplace_back("mpi", std::nullopt);
  return known;
}

std::vector<std::pair<std::string, LogLevel>> log_levels() {
  std::vector<std::pair<std::string, LogLevel>> known;
  for (const LogLevel level :
       {LogLevel::debug, LogLevel::info, LogLevel::notice, LogLevel::warn, LogLevel::error, LogLevel::off}) {
    known.emplace_back(to_string(level), level);
  }
  return known;
}

/// Gives an option its group, and the environment variable that sets it too.
using Entry = std::function<void(CLI::Option*, const char*)>;

/// Defines the options for spares and for what is done about dead ranks.
void define_recovery(CLI::App& app, Options& options, const std::string& prefix, const Entry& from_environment) {
  from_environment(app.add_option(prefix + "spares", options.spares,
                                  "How many of the launched processes wait as spares (set by mend run)")
                       ->check(CLI::Validator(check_count_from(0), "N"))
                       ->capture_default_str(),
                   "MEND_SPARES");
  from_environment(
      app.add_option(prefix + "spare-nodes", options.spare_nodes,
                     "Number of nodes, counted from the last, whose processes are all spares (set by mend run)")
          ->check(CLI::Validator(check_count_from(0), "N"))
          ->capture_default_str(),
      "MEND_SPARE_NODES");
  from_environment(
      add_choice<SpareMemory>(
          app, prefix + "spare-memory", options.spare_memory,
          {{"ready", SpareMemory::ready}, {"none", SpareMemory::none}},
          "ready: a waiting spare has memory for what a rank keeps of one version, so that it takes over faster;\n"
          "none: it allocates that memory when it takes over"),
      "MEND_SPARE_MEMORY");
  from_environment(
      add_parsed(app, prefix + "on-failure", options.on_failure, Policy::parse,
                 "What is done about a rank whose process has died, one or more of: spare (a waiting process takes it\n"
                 "over), spawn (one more process is started for it), shrink (it is given up and the others close up), "
                 "blank\n"
                 "(the same, but mend's reports go on naming the others by their original numbers)")
          ->type_name(Policy::forms)
          ->default_str(to_string(options.on_failure)),
      "MEND_ON_FAILURE");
  from_environment(
      add_parsed(
          app, prefix + "spawn-on", options.spawn_on, names_in,
          "Machines of the job on which processes are started for ranks, the best first (default: where the rank\n"
          "was, or else where fewest processes are)")
          ->type_name("HOST,..."),
      "MEND_SPAWN_ON");
  from_environment(app.add_option_function<double>(
                          prefix + "spawn-limit", [&options](double value) { options.spawn_limit = Seconds(value); },
                          "How long a process that is started for a rank may take to join the job, in s (default 30)")
                       ->check(CLI::Validator(check_seconds, "S")),
                   "MEND_SPAWN_LIMIT");
  from_environment(
      app.add_option_function<int>(
             fmt::format("{0}tries,{0}spawn-tries", prefix), [&options](int value) { options.tries = value; },
             "After how many recoveries in a row, with no commit in between, a rank that dies by a fault of the\n"
             "program each time (a crash, exit) gets no further process (default 2), and none is started for any\n"
             "rank, whatever they die of (default 10). The second number also counts recoveries with at most one\n"
             "commit in between, in which the same rank dies or nobody does")
          ->check(CLI::Validator(check_count_from(1), "N")),
      "MEND_TRIES");
}

/// Defines the options for commits, for what is kept of them, and when.
void define_commits(CLI::App& app, Options& options, const std::string& prefix, const Entry& from_environment) {
  from_environment(add_parsed(app, prefix + "commit-every", options.commit_every, CommitInterval::parse,
                              "Steps between commits, or auto for Daly's interval")
                       ->type_name("{auto}|N")
                       ->default_str(to_string(options.commit_every)),
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
      add_parsed(app, prefix + "redundancy", options.redundancy, Redundancy::parse,
                 "How committed data survives: partner (one copy), replicas:K (K copies), xor:G (one parity a group\n"
                 "of G ranks), rs:K+M (groups that survive M losses), or local (not at all)")
          ->type_name(Redundancy::forms)
          ->default_str(to_string(options.redundancy)),
      "MEND_REDUNDANCY");
  from_environment(app.add_option(prefix + "versions", options.versions, "How many versions of the data are kept")
                       ->check(CLI::Validator(check_versions, "N"))
                       ->capture_default_str(),
                   "MEND_VERSIONS");
  from_environment(
      add_choice<FindChanges>(
          app, prefix + "find-changes", options.find_changes,
          {{"auto", FindChanges::automatic}, {"hash", FindChanges::by_hash}, {"writes", FindChanges::by_writes}},
          "How commits find what has changed: hash reads all data; writes asks the kernel (Linux 6.7 or "
          "later) about\n"
          "those of which little changes; auto does that too, unless a device is open that may write into them"),
      "MEND_FIND_CHANGES");
  from_environment(
      add_parsed(app, prefix + "disk", options.disk, DiskOptions::parse,
                 "Folder, on a disk that all ranks see, to which every N-th commit (default 10) is written in\n"
                 "the background, and from which a later job continues")
          ->type_name("DIR[,every=N]"),
      "MEND_DISK");
  from_environment(
      app.add_option_function<std::string>(
             prefix + "on-term",
             [&options](const std::string& text) {
               options.on_term = text == "kill" ? OnTerm::kill : OnTerm::checkpoint;
             },
             "What SIGTERM means: checkpoint (default with --mend-disk) asks the job to leave at the next commit,\n"
             "which goes to disk, with exit code 4; kill (default without) ends it. A second SIGTERM ends it always")
          ->check(CLI::IsMember({"checkpoint", "kill"})),
      "MEND_ON_TERM");
}

/// Defines the options for rollback and message logs.
void define_rollback(CLI::App& app, Options& options, const std::string& prefix, const Entry& from_environment) {
  const auto rollback_from = [&options](const std::string& text) {
    options.rollback_is_strict = text == "local,strict";
    return text == "all" ? Rollback::all : Rollback::local;
  };
  from_environment(add_parsed(app, prefix + "rollback", options.rollback, rollback_from,
                              "Who goes back to the last commit when a process has died: all ranks, or only the one\n"
                              "that takes over (local; the program must send the same messages again, otherwise all\n"
                              "go back; with local,strict the job ends then)")
                       ->check(CLI::IsMember({"all", "local", "local,strict"}).description(""))
                       ->type_name("{all,local}[,strict]")
                       ->default_str("all"),
                   "MEND_ROLLBACK");
  from_environment(
      add_parsed(
          app, prefix + "clusters", options.clusters, ClusterChoice::parse,
          "Which ranks go back together with --mend-rollback local, without logging messages between them: rank\n"
          "(each alone), K blocks of consecutive ranks, node (those of a machine), auto (by the traffic until the\n"
          "first commit; auto:M: M ranks at most), or as a file says, with the ranks of a cluster in each line,\n"
          "as \"0-3, 8\"")
          ->type_name("{rank,node,auto,auto:M}|K|FILE")
          ->default_str(to_string(options.clusters)),
      "MEND_CLUSTERS");
  from_environment(app.add_option_function<int>(
                          prefix + "log-limit",
                          [&options](int mebibytes) { options.log_limit = static_cast<ByteCount>(mebibytes) << 20U; },
                          "How large a rank's log of messages may get with --mend-rollback local, in MiB (default: a\n"
                          "tenth of the machine's memory, divided by its ranks); before, a commit is due")
                       ->check(CLI::Validator(check_count_from(1), "MIB")),
                   "MEND_LOG_LIMIT");
}

/// Defines the options for communicators, agreement, failure detection and the network.
void define_communication(CLI::App& app, Options& options, const std::string& prefix, const Entry& from_environment) {
  from_environment(
      add_choice<WorldMeans>(
          app, prefix + "world", options.world, {{"launch", WorldMeans::launch}, {"session", WorldMeans::session}},
          "What MPI_COMM_WORLD is in the body: all processes that were launched (launch), or session.comm(), for\n"
          "libraries that know no other communicator (session)"),
      "MEND_WORLD");
  from_environment(app.add_flag(prefix + "check-determinism", options.checks_determinism,
                                "A rank's process ends on purpose before the second commit, another's before the\n"
                                "third, one for each spare, and the messages that are sent again are compared with\n"
                                "the first (set by mend run --check-determinism; with --mend-rollback local,strict)"),
                   "MEND_CHECK_DETERMINISM");
  from_environment(add_choice(app, prefix + "agreement", options.agreement, agreements(),
                              "How processes agree: mend's own protocols, or mpi for the library's"),
                   "MEND_AGREEMENT");
  from_environment(
      add_choice<Detection>(
          app, prefix + "detector", options.detector, {{"ring", Detection::ring}, {"runtime", Detection::runtime}},
          "How failed processes are noticed: ring also sees those that hang or are cut off; runtime only\n"
          "those that end (for debuggers, which stop processes)"),
      "MEND_DETECTOR");
  const auto milliseconds = [&](const char* name, Milliseconds& time, const char* what) {
    return app
        .add_option_function<double>(
            prefix + name, [&time](double value) { time = Milliseconds(value); },
            fmt::format("{}, in ms (default {:g})", what, time.count()))
        ->check(CLI::Validator(check_milliseconds, "MS"));
  };
  from_environment(app.add_option(prefix + "network", options.network,
                                  "Interfaces or networks for mend's own connections, such as ib0 or 10.0.0.0/24\n"
                                  "(set by mend run --network; default: those that OMPI_MCA_btl_tcp_if_include\n"
                                  "names, otherwise the first network that all machines are in)")
                       ->check(CLI::Validator(transport::objection_to_network, ""))
                       ->type_name("INTERFACE,..."),
                   "MEND_NETWORK");
  from_environment(milliseconds("heartbeat", options.heartbeat, "Time between a process's heartbeats"),
                   "MEND_HEARTBEAT");
  from_environment(milliseconds("timeout", options.timeout, "Silence after which a process is held dead and killed"),
                   "MEND_TIMEOUT");
}

/// Defines the options for waits for other processes.
void define_waits(CLI::App& app, Options& options, const std::string& prefix, const Entry& from_environment) {
  const auto patience = [&](const char* name, Seconds& time, const char* help) {
    return app
        .add_option_function<double>(
            prefix + name, [&time](double value) { time = Seconds(value); }, help)
        ->check(CLI::Validator(check_patience, "S"));
  };
  from_environment(
      patience("stall", options.stall,
               "How long ranks wait for others in mend's calls until mend reports who waits where and who\n"
               "has not come, in s (default 10; 0: never; not with --mend-detector runtime)"),
      "MEND_STALL");
  from_environment(patience("stall-limit", options.stall_limit,
                            "How long they wait until the job is ended, with the stacks of all ranks,\n"
                            "in s (default 0: never; not with --mend-detector runtime); may be below --mend-stall"),
                   "MEND_STALL_LIMIT");
  from_environment(
      patience("stuck-limit", options.stuck_limit,
               "How long a process may be stuck in a recovery, commit or agreement, inside of the MPI library, while\n"
               "all others wait for it or have gone on, until it is held dead and replaced; under local rollback, how\n"
               "long all ranks may wait for each other after one has gone back, until all go back,\n"
               "in s (default 15; 0: never; not with --mend-detector runtime)"),
      "MEND_STUCK_LIMIT");
}

/// Defines the options for mend's messages and files.
void define_reports(CLI::App& app, Options& options, const std::string& prefix, const Entry& from_environment) {
  from_environment(add_choice(app, prefix + "log", options.log_level, log_levels(), "What mend says on standard error"),
                   "MEND_LOG");
  from_environment(app.add_option(prefix + "result", options.result,
                                  "File on what happened, for mend report (set by mend run --result)"),
                   "MEND_RESULT");
  from_environment(app.add_option(prefix + "trace", options.trace,
                                  "Folder for timelines in the Chrome trace format, one file a process,\n"
                                  "for mend report --html, and for Perfetto"),
                   "MEND_TRACE");
  from_environment(add_choice<TraceDetail>(app, prefix + "trace-detail", options.trace_detail,
                                           {{"spans", TraceDetail::spans}, {"messages", TraceDetail::messages}},
                                           "spans: commits, recoveries and deaths; messages: those of agreements and\n"
                                           "failure detection too"),
                   "MEND_TRACE_DETAIL");
}

/// Defines the options, with `prefix` before each name. `with_environment`: environment variables set them too.
void define(CLI::App& app, Options& options, const std::string& prefix, bool with_environment) {
  const Entry from_environment = [&](CLI::Option* option, const char* variable) {
    option->group(group);
    refuse_flag_as_value(*option);
    if (with_environment) option->envname(variable);
  };
  for (const auto define_some :
       {define_recovery, define_commits, define_rollback, define_communication, define_waits, define_reports})
    define_some(app, options, prefix, from_environment);
}

/// Returns true if the option takes no value.
bool is_flag(const CLI::App& app, std::string_view name) {
  const CLI::Option* option = app.get_option_no_throw(std::string(name));
  return option != nullptr && option->get_items_expected_max() == 0;
}

/// Throws CLI::ValidationError. `said`: the option that names the file.
void read_file(const std::string& said, const std::string& file, Options& options) {
  CLI::App keys("mend");
  keys.set_help_flag();
  define(keys, options, "--", false);
  const auto items = options_in_file(said, file, OptionTable::programs);
  try {
    for (const CLI::ConfigItem& item : items) {
      const std::string name = "--" + item.name;
      if (keys.get_option_no_throw(name) == nullptr)
        throw UsageError(fmt::format("'{}' is not an option of mend", item.name));
      std::vector<std::string> words = item.inputs;
      words.push_back(name);  // CLI11 takes arguments from the back of the vector
      if (is_flag(keys, name) && item.inputs.size() == 1) words = {name + "=" + item.inputs.front()};
      keys.parse(words);
    }
  } catch (const std::exception& error) {
    throw CLI::ValidationError(said, fmt::format("{}: {}", file, error.what()));
  }
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return names;
}

}  // namespace

CommitInterval CommitInterval::parse(std::string_view text) {
  if (text == "auto") return {std::nullopt};
  int steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc{} || end != text.data() + text.size() || steps < 1) {
    throw UsageError(fmt::format("'{}' is not a commit interval: give a number of steps from 1 up, or auto", text));
  }
  return {steps};
}

std::string to_string(const CommitInterval& interval) {
  return interval.steps ? fmt::format("{}", *interval.steps) : "auto";
}

void add_options(CLI::App& app, Options& options) {
  // These options are defined first and so take effect first: the file overrides the site's, and variables and flags
  // override both.
  CLI::Option* const site =
      app.add_option_function<std::string>(
             "--mend-site-config",
             [&options](const std::string& file) {
               if (is_site_file(file)) read_file("--mend-site-config", file, options);
             },
             fmt::format(
                 "TOML file of the site, which all other choices override, or none (default {}, if it is there)",
                 usual_site_file))
          ->envname("MEND_SITE_CONFIG")
          ->type_name("FILE")
          ->group(group)
          ->default_str(usual_site_file)
          ->force_callback();
  refuse_flag_as_value(*site);
  CLI::Option* const config =
      app.add_option_function<std::string>(
             "--mend-config", [&options](const std::string& file) { read_file("--mend-config", file, options); },
             "TOML file with any of these options, named as the flags are without --mend-; in a table [mend], or alone")
          ->envname("MEND_CONFIG")
          ->type_name("FILE")
          ->group(group);
  refuse_flag_as_value(*config);
  define(app, options, "--mend-", true);
  app.add_flag("--mend-help", options.help, "Print this group of options on one process, and do nothing else")
      ->group(group);
}

std::string describe_options() {
  Options defaults;
  CLI::App app;
  app.set_help_flag();
  add_options(app, defaults);
  return CLI::Formatter().make_groups(&app, CLI::AppFormatMode::Normal);
}

void refuse_flag_as_value(CLI::Option& option) {
  option.transform(CLI::Validator(
      [](std::string& text) {
        return text.starts_with("--") ? fmt::format("a value is missing: {} follows instead", text) : std::string();
      },
      ""));
}

void refuse_wrong_variables(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    const char* const value = option->get_envname().empty() ? nullptr : std::getenv(option->get_envname().c_str());
    if (value == nullptr || *value == '\0' || !option->empty()) continue;
    option->add_result(value);
    option->run_callback();  // throws
  }
}

void check_option_variables() {
  const InPlainLocale plain;
  Options unused;
  CLI::App app("mend");
  app.set_help_flag();
  add_options(app, unused);
  try {
    app.parse(std::vector<std::string>());
    refuse_wrong_variables(app);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
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

namespace {

/// Returns true also for an option of mend in other letters. It is refused, because nothing else would read it.
bool is_for_mend(std::string_view argument) {
  constexpr std::string_view prefix = "--mend-";
  const auto is_alike = [](char given, char ours) {
    return std::tolower(static_cast<unsigned char>(given)) == ours || (given == '_' && ours == '-');
  };
  return argument.starts_with("--") && argument.size() > prefix.size() &&
         std::ranges::equal(argument.substr(0, prefix.size()), prefix, is_alike);
}

}  // namespace

Options take_options(int& argc, char** argv, const Options& unless_chosen) {
  const InPlainLocale plain;
  Options options = unless_chosen;
  CLI::App parser("mend");
  parser.set_help_flag();
  parser.allow_extras();
  add_options(parser, options);

  // Arguments that begin with --mend- are mend's, also in other letters. The others belong to the application.
  std::vector<std::string> ours;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") {
      while (i < argc) argv[kept++] = argv[i++];
      break;
    }
    if (argument == "--mend" && launch::speaks_for_all())
      log::warn("'--mend' is not an option of mend, and is left to the program: mend's options begin with --mend-");
    if (!is_for_mend(argument)) {
      argv[kept++] = argv[i];
      continue;
    }
    ours.emplace_back(argument);
    const bool has_value = argument.find('=') != std::string_view::npos || is_flag(parser, argument);
    if (!has_value && i + 1 < argc) ours.emplace_back(argv[++i]);
  }
  if (argc > 0) {
    argc = kept;
    argv[argc] = nullptr;
  }
  try {
    std::reverse(ours.begin(), ours.end());  // CLI11 takes arguments from the back of the vector
    parser.parse(ours);
    refuse_wrong_variables(parser);
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
