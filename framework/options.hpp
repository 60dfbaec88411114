#pragma once

#include "agreement/protocol.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/log_level.hpp"
#include "framework/clusters.hpp"
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

/// The rule by which Session::commit_due returns true (--mend-commit-every).
struct CommitInterval {
  std::optional<int> steps = 1;  ///< from one commit to the next; none: "auto", Daly's interval from measured costs
  bool operator==(const CommitInterval&) const = default;

  /// Parses a positive number of steps, or "auto". Throws UsageError for any other text. Local.
  static CommitInterval parse(std::string_view text);
};

/// Returns the text that CommitInterval::parse accepts. Local.
std::string to_string(const CommitInterval& interval);

/// When a spare allocates memory for the blocks of a rank (--mend-spare-memory).
enum class SpareMemory : std::uint8_t {
  ready,  ///< in advance, which makes a recovery faster
  none,   ///< only when the spare takes a rank over
};

/// How failures of processes are detected (--mend-detector).
enum class Detection : std::uint8_t {
  ring,     ///< by missing heartbeats too, so that processes that hang or are cut off are detected
  runtime,  ///< only by the runtime, when a process ends: for debuggers, which stop processes
};

/// The contents of a trace (--mend-trace-detail).
enum class TraceDetail : std::uint8_t {
  spans,     ///< commits, recoveries, deaths
  messages,  ///< also the messages of agreements and failure detection, without heartbeats
};

/// The meaning of MPI_COMM_WORLD in a body (--mend-world).
enum class WorldMeans : std::uint8_t {
  launch,   ///< all processes that were launched, as MPI says; its use is refused when there are spares
  session,  ///< session.comm(), for programs and libraries that know no other communicator
};

/// How a process of the job and `mend run` react to SIGTERM (--mend-on-term).
enum class OnTerm : std::uint8_t {
  checkpoint,  ///< they treat it as a request to leave in time: at the next commit, which goes to disk
  kill,        ///< they end
};

/// The options that the user can set at run time. Each option is a command-line flag, an environment variable and a key
/// of a TOML file, in this order of precedence: --mend-spares 2, MEND_SPARES=2, or `spares = 2` in the file that
/// --mend-config (MEND_CONFIG) names, then in the site's file (/etc/mend.toml, --mend-site-config).
struct Options {
  int spares = 0;                                 ///< number of launched processes that wait as spares
  int spare_nodes = 0;                            ///< the last nodes, whose processes become spares first
  bool last_are_spares = false;                   ///< and not the last of each node, spread over the nodes (Fenix)
  SpareMemory spare_memory = SpareMemory::ready;  ///< whether spares allocate memory in advance
  Policy on_failure;                              ///< what happens to the rank of a dead process
  std::vector<std::string> spawn_on;              ///< machines on which to start processes, the best first
  Seconds spawn_limit{30};   ///< after which the job no longer waits until a process that it has started has joined
  std::optional<int> tries;  ///< recoveries in a row without a commit in between; none: see --mend-tries
  CommitInterval commit_every;
  std::optional<Seconds> mtbf;  ///< expected time between failures of the job, for "auto"; none: as observed
  Redundancy redundancy;        ///< of members that have none of their own
  int versions = 2;             ///< number of versions kept, 2 or more
  FindChanges find_changes = FindChanges::automatic;
  std::optional<DiskOptions> disk;        ///< where every N-th commit is written to disk; none: nowhere
  Rollback rollback = Rollback::all;      ///< which ranks roll back when a process dies
  ClusterChoice clusters;                 ///< ... together, under local rollback
  bool rollback_is_strict = false;        ///< "local,strict": the job ends where all ranks would have to roll back
  std::optional<ByteCount> log_limit;     ///< of a rank's log of messages; none: its share of a tenth of the memory
  bool checks_determinism = false;        ///< ranks end on purpose, and what is sent again is compared
  WorldMeans world = WorldMeans::launch;  ///< what MPI_COMM_WORLD is in a body
  std::optional<OnTerm> on_term;          ///< none: checkpoint with a disk, kill without
  std::optional<agreement::Protocol> agreement = agreement::Protocol::era;  ///< none: the MPI library's ("mpi")
  Detection detector = Detection::ring;
  std::string network;                    ///< interfaces or networks of mend's own connections; empty: any
  Milliseconds heartbeat{100};            ///< between two heartbeats of a process
  Milliseconds timeout{1000};             ///< of silence, after which a process is declared dead
  Seconds stall{10};                      ///< waiting in mend's calls after which it is reported; 0: never
  Seconds stall_limit{0};                 ///< waiting after which the job is ended; 0: never
  Seconds stuck_limit{15};                ///< in a call of the MPI library, until a process is declared dead; 0: never
  LogLevel log_level = LogLevel::notice;  ///< messages written to standard error
  std::filesystem::path result;           ///< the result file, for `mend report`; empty: none
  std::filesystem::path trace;            ///< folder for Chrome traces, one file a process; empty: none
  TraceDetail trace_detail = TraceDetail::spans;  ///< contents of the trace
  bool help = false;                              ///< prints these options instead of running
};

/// Adds mend's options to the application's own command line, as a group in its --help. `app` fills `options` when it
/// parses; `options` must outlive that. Local.
void add_options(CLI::App& app, Options& options);

/// Reads mend's options from the command line and the environment, and removes its flags from argv, so that the
/// application's own parser does not see them. `unless_chosen` has the values of options that are not given. Local.
/// Throws UsageError for a wrong value or an unknown --mend- flag.
Options take_options(int& argc, char** argv, const Options& unless_chosen = {});

/// Returns the help text of the options, as --mend-help prints it: the group in the --help of an application that has
/// called add_options. Local.
std::string describe_options();

/// Makes `option` refuse a value that looks like a flag, as in `--mend-disk --steps 5`, where the value is missing.
/// Local.
void refuse_flag_as_value(CLI::Option& option);

/// Throws CLI::ParseError if an environment variable has a value that its option does not take. `app` has been parsed:
/// CLI11 itself refuses such a value before its release 2.4, and from then on takes the variable for one that is not
/// set. Local.
void refuse_wrong_variables(CLI::App& app);

/// The same for mend's options, for a program that parses its command line itself. Throws UsageError. Local.
void check_option_variables();

/// Returns the environment variables that set options. Local.
std::vector<std::string> option_variables();

}  // namespace mend
