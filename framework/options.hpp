#pragma once

#include "agreement/protocol.hpp"
#include "base/clock.hpp"
#include "base/log_level.hpp"
#include "framework/rollback.hpp"
#include "spares/failure_policy.hpp"
#include "store/redundancy.hpp"
#include "store/store_options.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mend {

/// When Session::commit_due says that a commit is due (--mend-commit-every).
struct CommitInterval {
  std::optional<int> steps = 1;  ///< from one commit to the next; none: "auto", Daly's interval from measured costs
  bool operator==(const CommitInterval&) const = default;

  /// A positive number of steps, or "auto". Throws UsageError for anything else. Local.
  static CommitInterval parse(std::string_view text);
};

/// As CommitInterval::parse takes it. Local.
std::string to_string(const CommitInterval& interval);

/// Whether a waiting spare has memory for the blocks of a rank (--mend-spare-memory).
enum class SpareMemory : std::uint8_t {
  ready,  ///< before it is needed: a recovery is faster
  none,   ///< only when the spare takes a rank over
};

/// How failed processes are noticed (--mend-detector).
enum class Detection : std::uint8_t {
  ring,     ///< by silence as well: processes that hang or are cut off
  runtime,  ///< only as far as the runtime sees that they end: for debuggers, which stop processes
};

/// What a trace holds (--mend-trace-detail).
enum class TraceDetail : std::uint8_t {
  spans,     ///< commits, recoveries, deaths
  messages,  ///< and the messages of agreements and failure detection, but no heartbeats
};

/// What SIGTERM means to a process of the job, and to `mend run` (--mend-on-term).
enum class OnTerm : std::uint8_t {
  checkpoint,  ///< a request to leave in time: at the next commit, which goes to disk
  kill,        ///< the end
};

/// What the user may choose at run time. Each option is a command-line flag, an environment variable and a key of a
/// TOML file, in this order of precedence: --mend-spares 2, MEND_SPARES=2, or `spares = 2` in the file that
/// --mend-config (MEND_CONFIG) names.
struct Options {
  int spares = 0;                                 ///< how many of the launched processes wait as spares
  SpareMemory spare_memory = SpareMemory::ready;  ///< whether spares have memory before they need it
  Policy on_failure;                              ///< what is done about a dead rank
  std::vector<std::string> spawn_on;              ///< machines on which processes are started first, the best first
  Seconds spawn_limit{30};   ///< after which the job no longer waits for a process that it has started
  std::optional<int> tries;  ///< recoveries in a row with no commit in between; none: see --mend-tries
  CommitInterval commit_every;
  std::optional<Seconds> mtbf;  ///< expected time between failures of the job, for "auto"; none: as observed
  Redundancy redundancy;        ///< of members that have none of their own
  int versions = 2;             ///< of the data that are kept
  FindChanges find_changes = FindChanges::by_hash;
  std::optional<DiskOptions> disk;    ///< where every N-th commit goes to disk; none: nowhere
  Rollback rollback = Rollback::all;  ///< who goes back when a process has died
  std::optional<OnTerm> on_term;      ///< none: checkpoint with a disk, kill without
  std::optional<agreement::Protocol> agreement = agreement::Protocol::era;  ///< none: the MPI library's ("mpi")
  Detection detector = Detection::ring;
  Milliseconds heartbeat{100};            ///< between two heartbeats of a process
  Milliseconds timeout{1000};             ///< of silence, after which a process is declared dead
  Seconds stall{10};                      ///< of waiting for others in mend's calls, until mend reports it; 0: never
  Seconds stall_limit{0};                 ///< of the same, until the job is ended; 0: never
  LogLevel log_level = LogLevel::notice;  ///< what is written on standard error
  std::filesystem::path result;           ///< file on what happened, for `mend report`; empty: none
  std::filesystem::path trace;            ///< folder for Chrome traces, one file a process; empty: none
  TraceDetail trace_detail = TraceDetail::spans;  ///< what the trace holds
  bool help = false;                              ///< print these options, and do nothing else
};

/// Adds mend's options to the application's own command line, as a group in its --help. `app` fills `options` when it
/// parses; `options` must outlive that. Local.
void add_options(CLI::App& app, Options& options);

/// Reads mend's options from the command line and the environment, and removes its flags from argv, so that the
/// application's own parser does not see them. `unless_chosen` has the values of options that are not given. Local.
/// Throws UsageError for a wrong value or an unknown --mend- flag.
Options take_options(int& argc, char** argv, const Options& unless_chosen = {});

/// These options and what they mean, as --mend-help prints them: the group in the --help of an application that has
/// called add_options. Local.
std::string describe_options();

/// Makes `option` refuse a value that looks like a flag, as in `--mend-disk --steps 5`, where the value was forgotten.
/// Local.
void refuse_flag_as_value(CLI::Option& option);

/// The environment variables that set options. Local.
std::vector<std::string> option_variables();

}  // namespace mend
