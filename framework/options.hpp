#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mend {

/// What the user may choose at run time. Each is a command-line flag, an environment variable and a key of a TOML
/// file, in this order of precedence: --mend-spares 2, MEND_SPARES=2, or `spares = 2` in the file that
/// --mend-config (MEND_CONFIG) names.
struct Options {
  int spares = 0;                      ///< how many of the processes launched wait as spares
  std::string spare_memory = "ready";  ///< whether spares have it before they need it: ready, or none
  std::string on_failure = "spare";    ///< what is done about a dead rank: of spare, spawn, shrink, blank
  std::string spawn_on;                ///< "HOST,...": where processes are started rather than elsewhere
  Seconds spawn_limit{30};             ///< after which a process that was started for a rank is not waited for
  std::optional<int> tries;            ///< recoveries in a row with no commit in between; none: see --mend-tries
  std::string commit_every = "1";      ///< steps between commits, or "auto"
  std::optional<Seconds> mtbf;         ///< expected time between failures of the job, for "auto"; none: as observed
  std::string redundancy = "partner";  ///< partner, replicas:K, xor:G, rs:K+M, local
  int versions = 2;                    ///< of the data that are kept
  std::string find_changes = "hash";   ///< how commits find what has changed: hash, or writes
  std::string disk;                    ///< "DIR" or "DIR,every=N": where every N-th commit goes to disk; empty: none
  std::string agreement = "era";       ///< era, log2phases, validate-all, validate-all-loose, mpi
  std::string detector = "ring";       ///< ring, or runtime: only what the runtime sees
  Milliseconds heartbeat{100};         ///< between two of a process, for the ring
  Milliseconds timeout{1000};          ///< of silence, after which a process is held dead
  Seconds stall{10};                   ///< that ranks wait for others in mend's calls until that is told; 0: never
  Seconds stall_limit{0};              ///< that they wait until the job is ended; 0: never
  std::string log_level = "notice";    ///< debug, info, notice, warn, error, off
  std::filesystem::path result;        ///< file on what happened, for `mend report`; empty: none
  std::filesystem::path trace;         ///< folder for Chrome traces, one file a process; empty: none
};

/// Adds mend's options to the application's own command line, as a group in its --help. `options` is filled when
/// `app` parses and must outlive that. Local.
void add_options(CLI::App& app, Options& options);

/// Reads mend's options from the command line and the environment, and removes its flags from argv so that the
/// application's own parser does not meet them. `unless_chosen` is what holds otherwise. Local. Throws UsageError for a
/// wrong value or an unknown --mend- flag.
Options take_options(int& argc, char** argv, const Options& unless_chosen = {});

/// Has `option` refuse a value that looks like a flag, as in `--mend-disk --steps 5`, where the value was forgotten.
/// Local.
void refuse_flag_as_value(CLI::Option& option);

/// The environment variables that set options. Local.
std::vector<std::string> option_variables();

}  // namespace mend
