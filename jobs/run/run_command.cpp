// mend run: launches a program with spares, with the flags that fault tolerance needs.

#include "base/error.hpp"
#include "base/files/whole_file.hpp"
#include "base/launch.hpp"
#include "base/telemetry/json_text.hpp"
#include "base/telemetry/user_text.hpp"
#include "jobs/allocation/nodes.hpp"
#include "jobs/allocation/silent_nodes.hpp"
#include "jobs/allocation/slurm_agent.hpp"
#include "jobs/commands.hpp"
#include "jobs/control/job_socket.hpp"
#include "jobs/control/job_state.hpp"
#include "jobs/doctor/corrections.hpp"
#include "jobs/network/network_here.hpp"
#include "jobs/option_files.hpp"
#include "jobs/plan/quantities.hpp"
#include "jobs/program_argument.hpp"
#include "jobs/report/job_result.hpp"
#include "jobs/run/child.hpp"
#include "jobs/run/executable.hpp"
#include "jobs/run/find_mpirun.hpp"
#include "jobs/run/mpirun_line.hpp"
#include "jobs/run/placement.hpp"
#include "jobs/run/process_limits.hpp"
#include "jobs/run/time_limit.hpp"
#include "jobs/run/verdict.hpp"
#include "jobs/say.hpp"
#include "jobs/setup/tested_open_mpi.hpp"
#include "jobs/shell_words.hpp"
#include "jobs/watch/job_requests.hpp"
#include "jobs/watch/job_watch.hpp"
#include "transport/control/interfaces.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace mend::jobs {
namespace {

struct RunArguments {
  Launch launch;
  std::string spares = "0";  // as typed by the user
  std::string mpirun_options;
  std::optional<int> start_limit_seconds;  // nothing: usual_start_limit
  int start_tries = 3;
  int end_limit_seconds = 8;
  int relaunches = 0;
  std::string time_limit;            // as typed by the user; empty: that of the allocation
  std::string time_margin;           // the same; empty: the default
  std::string network;               // as typed by the user
  bool network_is_of_file = false;   // settings of the user override it
  bool program_has_network = false;  // the user has set the network of mend's own connections, which overrides a file
  bool dry_run = false;
  bool verbose = false;
};

/// A private folder with an empty status file. Removed by the destructor.
class StatusFile {
 public:
  StatusFile() {
    std::error_code error;
    const auto where = std::filesystem::temp_directory_path(error);
    if (error) throw UsageError("TMPDIR is not a folder for temporary files: set it to a folder, or unset it");
    // Absolute: processes of the job may have other working directories.
    std::string name = (std::filesystem::absolute(where) / "mend-run-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw EnvironmentError(fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)));
    }
    folder_ = name;
    std::ofstream{path()};
  }
  ~StatusFile() {
    std::error_code ignored;  // errors are ignored: a file left in the temporary folder does no harm
    std::filesystem::remove_all(folder_, ignored);
  }
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;

  std::filesystem::path path() const { return folder_ / "status"; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

std::chrono::seconds start_limit_of(const RunArguments& arguments) {
  if (arguments.start_limit_seconds) return std::chrono::seconds(*arguments.start_limit_seconds);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const bool here = all_here(arguments.launch);
  return usual_start_limit(arguments.launch.processes(), here ? std::optional(cores) : std::nullopt);
}

/// Returns true if mpirun is told in which folder it finds the program.
bool names_folder(const std::vector<std::string>& mpirun_options) {
  constexpr std::array<std::string_view, 6> folders{"--wdir", "-wdir", "--wd", "-wd", "--path", "-path"};
  return std::ranges::any_of(mpirun_options, [&](std::string_view option) {
    return std::ranges::find(folders, option.substr(0, option.find('='))) != folders.end();
  });
}

/// Throws UsageError if mpirun is told on which nodes to run: mend run must know whether processes are elsewhere.
void refuse_nodes_in(const std::vector<std::string>& mpirun_options) {
  constexpr std::array<std::string_view, 10> naming{"--host",
                                                    "-host",
                                                    "--hostfile",
                                                    "-hostfile",
                                                    "--machinefile",
                                                    "-machinefile",
                                                    "--default-hostfile",
                                                    "-default-hostfile",
                                                    "prte_default_hostfile",
                                                    "orte_default_hostfile"};
  const auto found = std::ranges::find_if(mpirun_options, [&](std::string_view word) {
    return word.starts_with("-H") || std::ranges::find(naming, word.substr(0, word.find('='))) != naming.end();
  });
  if (found != mpirun_options.end())
    throw UsageError(fmt::format("--mpi \"{}\": name the nodes by --host or --hostfile of mend run", *found));
}

void check(const Launch& launch) {
  if (launch.program.empty()) {
    throw UsageError("no program to run: name it after the options, as in mend run -n 4 -- ./program");
  }
  if (const std::string& wanted = launch.network.interfaces; !wanted.empty()) {
    const std::string objection = transport::objection_to_network(wanted);
    if (!objection.empty()) throw UsageError(fmt::format("--network {}: {}", wanted, objection));
    // With several machines, each needs only one of the networks in the list.
    for (const std::string& one : all_here(launch) ? CLI::detail::split(wanted, ',') : std::vector{wanted}) {
      const std::string obstacle = transport::obstacle_to_network(one);
      if (!obstacle.empty()) throw UsageError(fmt::format("--network {}: {}", one, obstacle));
    }
    if (launch.network.for_mpi.empty() && !all_here(launch))
      throw UsageError(fmt::format("--network {}: the loopback interface leads to no other machine", wanted));
  }
  const std::string& program = launch.program.front();
  if (program.starts_with('-')) {
    throw UsageError(fmt::format("unknown option {} (see mend run --help); the program's own come after it", program));
  }
  if (const auto told = spares_told(launch.program); told && *told != launch.spares) {
    throw UsageError(fmt::format(
        "the program's --mend-spares {} contradicts {} of mend run: give the number to mend run alone, as "
        "--spares",
        *told, launch.spares == 0 ? "the launch without spares" : fmt::format("--spares {}", launch.spares)));
  }
  // Other nodes may have other files.
  if (!all_here(launch)) return;  // and other limits
  if (!names_folder(launch.mpirun_options)) {
    const auto file = find_program(program);
    if (!file) throw UsageError(fmt::format("'{}' is not a program that can be run", program));
    if (const std::string obstacle = obstacle_to_running(*file, program); !obstacle.empty()) throw UsageError(obstacle);
  }
  if (const std::string objection = objection_to(launch.processes(), process_limits()); !objection.empty())
    throw UsageError(objection);
}

/// Removes an existing result file, which would be mistaken for this job's. A device or a pipe stays as it is.
void make_way_for(const std::filesystem::path& result) {
  if (result.empty()) return;
  const Destination destination = destination_of(result);
  if (destination.kind == Destination::Kind::unusable)
    throw UsageError(fmt::format("--result {} {}: name a file", result.string(), destination.obstacle));
  std::error_code error;
  const bool is_file = destination.kind == Destination::Kind::file;
  const bool writable = is_file ? static_cast<bool>(std::ofstream(destination.path, std::ios::app))
                                : ::access(destination.path.c_str(), W_OK) == 0;
  if (is_file && writable) std::filesystem::remove(destination.path, error);
  if (!writable || error)
    throw UsageError(fmt::format("--result {} cannot be written: name a file in a folder that exists and is writable",
                                 result.string()));
}

void print_line(const std::vector<std::string>& line, const Environment& environment) {
  for (const auto& [name, value] : environment) {
    if (!name.starts_with("MEND_")) std::printf("%s=%s ", name.c_str(), shell_quoted(value).c_str());
  }
  const char* separator = "";
  for (const auto& word : line) {
    std::printf("%s%s", separator, shell_quoted(word).c_str());
    separator = " ";
  }
  std::printf("\n");
}

/// Reports what the Open MPI in use cannot do, if the job needs it.
void tell_limits(const std::filesystem::path& prefix, const Launch& launch) {
  if (!all_here(launch) && !has_correction(prefix, "lost-daemon-is-survivable")) {
    say(fmt::format(
        "this Open MPI ends the job when a node's daemon is lost; jobs/setup.sh --open-mpi {} builds one that does not",
        tested_open_mpi));
  }
}

/// The program's standard input. A new launch must read the same input as the first one.
class RepeatableInput {
 public:
  RepeatableInput() : begin_(::lseek(STDIN_FILENO, 0, SEEK_CUR)) {
    struct stat kind {};
    is_stream_ = ::fstat(STDIN_FILENO, &kind) == 0 && (S_ISFIFO(kind.st_mode) || S_ISSOCK(kind.st_mode));
  }

  /// Returns true if no input is lost. Input that was read from a pipe cannot be read again.
  bool rewind() const {
    if (begin_ >= 0) ::lseek(STDIN_FILENO, begin_, SEEK_SET);
    return !is_stream_;
  }

 private:
  off_t begin_;
  bool is_stream_ = false;
};

Environment environment_of(const Launch& launch, const StatusFile& status) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  return job_environment(launch, status.path(), terminal, ::geteuid() == 0);
}

struct Launched {
  Verdict verdict;
  bool lost_at_start = false;
  bool killed_at_start = false;
  std::vector<EarlyCrash> crashes{};
  bool has_disk = false;  ///< true also if unknown, because its processes are on other nodes
  bool was_asked_to_leave = false;
  bool was_ended_by_user = false;  ///< by a signal to mend run, such as Ctrl-C
  std::string reason{};            ///< why it has failed, as reported by a process or the launcher

  /// Returns true if so many processes died that only a new launch can continue, and the user has not ended the job.
  bool has_lost_too_much() const {
    return verdict.exit_code == static_cast<int>(ExitCode::unrecoverable) && !was_asked_to_leave && !was_ended_by_user;
  }
  /// Describes what happened to a process of the launch.
  std::string loss() const {
    if (!crashes.empty()) return describe(crashes);
    return killed_at_start ? "a process was stopped before all had met, and was killed"
                           : "a process died before all had met";
  }

  /// Returns true if a process has crashed in the same way as in `before`.
  bool fails_as(const std::optional<Launched>& before) const {
    return before && std::ranges::find_first_of(crashes, before->crashes) != crashes.end();
  }
};

/// The time at which the job is asked to leave; nothing if there is no limit. Reports the limit if the user has named
/// none.
std::optional<Clock::time_point> time_to_leave(const RunArguments& arguments) {
  const auto of_allocation = time_left_in_allocation();
  std::optional<Seconds> limit = of_allocation;
  if (!arguments.time_limit.empty()) {
    const Seconds told = parse_time(arguments.time_limit);
    limit = std::min(told, of_allocation.value_or(told));
  }
  if (!limit) return std::nullopt;
  const Seconds margin = arguments.time_margin.empty() ? usual_margin(*limit) : parse_time(arguments.time_margin);
  if (limit == of_allocation) {
    say(fmt::format("Slurm ends this job in {}: it is asked to leave {} before that (--time-margin)", text_of(*limit),
                    text_of(margin)));
  }
  constexpr Seconds longest = std::chrono::hours(24 * 365 * 100);  // the clock counts nanoseconds
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::clamp(*limit - margin, Seconds{0}, longest));
}

/// The board also needs places for processes that are started later to take over ranks.
std::size_t places_on_board(const Launch& launch) { return 4 * static_cast<std::size_t>(launch.processes()) + 64; }

std::string answer_to_request(bool taken, const std::string& sentence) {
  return nlohmann::json{{"taken", taken}, {"sentence", sentence}}.dump();
}

/// Returns the answer to mend status, mend commit and mend stop.
std::string answer_to(const std::string& question, const JobFacts& facts, const board::Board& board,
                      JobRequests& requests) {
  if (question == "status") return json_text(state_of(facts, board)) + "\n";
  if (question == "look") return nlohmann::json{{"look", facts.all_here ? 0 : requests.ask_for_look()}}.dump();
  if (question != "commit" && question != "stop")
    return answer_to_request(false, "this mend run does not support that request");
  if (question == "stop" && requests.is_passed_on()) {
    requests.ask_to_leave(board::Leave::stop);
    return answer_to_request(true, fmt::format("job {}, of which no process is on this machine, is asked to leave at "
                                               "its next commit",
                                               facts.job));
  }
  if (!requests.is_heard()) {
    return answer_to_request(
        false, fmt::format("no process of job {} has come to mend::run on the machine of its mend run", facts.job));
  }
  if (question == "commit" && requests.disk() == DiskUse::none)
    return answer_to_request(false, fmt::format("job {} has no disk: start it with --mend-disk", facts.job));
  if (question == "commit" && requests.disk() == DiskUse::given_up) {
    return answer_to_request(false, fmt::format("job {} writes no more to disk, because that has failed: its messages "
                                                "say why",
                                                facts.job));
  }
  if (question == "commit") {
    requests.ask_for_version();
    return answer_to_request(true, fmt::format("job {} writes its next commit to disk", facts.job));
  }
  requests.ask_to_leave(board::Leave::stop);
  const char* note = "";
  if (requests.disk() == DiskUse::none) note = "; it has no disk, and leaves only if it asks should_exit()";
  if (requests.disk() == DiskUse::given_up) note = "; it writes no more to disk, because that has failed";
  return answer_to_request(true, fmt::format("job {} is asked to leave at its next commit{}", facts.job, note));
}

/// Returns true if the options of the job make SIGTERM a request to leave, as far as they are known here.
bool expects_sigterm(const Launch& launch) {
  const char* const variable = std::getenv("MEND_ON_TERM");
  const std::string on_term = launch.on_term.empty() && variable != nullptr ? variable : launch.on_term;
  if (!on_term.empty()) return on_term == "checkpoint";
  return std::getenv("MEND_DISK") != nullptr ||
         std::ranges::any_of(launch.program, [](const std::string& word) { return word.starts_with("--mend-disk"); });
}

/// Listens for these questions. If that is not possible, the job runs without the socket.
std::unique_ptr<JobSocket> listen(pid_t job, JobSocket::Answer answer) {
  try {
    return std::make_unique<JobSocket>(job, std::move(answer));
  } catch (const EnvironmentError& error) {
    say(fmt::format("mend status will not find this job: {}", error.what()));
    return nullptr;
  }
}

Launched launch_once(const RunArguments& arguments, const std::filesystem::path& mpirun,
                     std::optional<Clock::time_point> leave_at) {
  const Launch& launch = arguments.launch;
  const StatusFile status;
  board::Board board(status.folder(), places_on_board(launch));
  JobRequests requests(board, leave_at, {launch.is_here_too, expects_sigterm(launch)});
  const auto environment = environment_of(launch, status);
  JobWatch watch(status.path(), {.start = {.limit = start_limit_of(arguments)},
                                 .end = std::chrono::seconds(arguments.end_limit_seconds),
                                 .processes = launch.processes(),
                                 .all_here = all_here(launch)});
  const JobFacts facts{::getpid(), launch.program.front(), launch.ranks, launch.spares, all_here(launch), Clock::now()};
  const auto socket =
      listen(facts.job, [&](const std::string& question) { return answer_to(question, facts, board, requests); });
  const auto look = [&](const Children& children) {
    requests.look(children.child);
    if (socket) socket->poll();
    return watch.look(children);
  };
  const auto end = run_child(mpirun_line(mpirun, launch, environment), environment, look,
                             [&](int signal) { return requests.heed(signal); });
  watch.read();
  Launched launched{judge(end, watch.reports(), launch.processes(),
                          {.all_here = all_here(launch),
                           .lost_at_start = watch.lost_at_limit(),
                           .start_limit = start_limit_of(arguments),
                           .late_reports = watch.late_reports(),
                           .killed_at_start = watch.killed_at_start(),
                           .mpirun_was_stopped = watch.told_of_stopped_mpirun(),
                           .killed_at_end = watch.killed_at_end()})};
  if (const std::string lost = lost_reason(end, watch.reports()); !lost.empty() && lost != launched.verdict.sentence)
    say(lost);
  launched.killed_at_start = watch.killed_at_start();
  launched.lost_at_start = launched.verdict.did_not_start && watch.lost_at_start();
  launched.crashes = watch.reports().early_crashes;
  launched.has_disk = requests.disk() != DiskUse::none || !all_here(launch);
  launched.was_asked_to_leave = requests.leaves();
  launched.was_ended_by_user = end.asked_to_end.has_value();
  if (launched.lost_at_start && launched.was_asked_to_leave) {
    launched.lost_at_start = false;
    launched.verdict = {
        static_cast<int>(ExitCode::left_in_time),
        fmt::format("{}; nothing has been computed yet, and the job is not launched anew, because it was "
                    "asked to leave",
                    launched.loss())};
  }
  launched.reason = launched.verdict.sentence.empty() ? watch.reports().reason : launched.verdict.sentence;
  return launched;
}

/// Returns true if a new launch has the same input. Otherwise reports that.
bool can_be_read_again(const RepeatableInput& input) {
  if (input.rewind()) return true;
  say("the job is not launched anew (--relaunch): what it has read of its standard input, a pipe, is gone; give it a "
      "file, or /dev/null");
  return false;
}

/// Returns true if a new launch can continue from disk. Reports if only the disk is missing.
bool goes_on_from_disk(const Launched& launched) {
  if (!launched.has_lost_too_much()) return false;
  if (!launched.has_disk) say("the job is not launched anew (--relaunch): it has no disk (--mend-disk)");
  return launched.has_disk;
}

/// Removes the lost nodes from the next launch. Returns false if no node is left.
bool leave_out_lost_nodes(Launch& launch, Nodes& nodes) {
  constexpr auto patience = std::chrono::seconds(10);
  if (all_here(launch) || nodes.list.empty()) return true;
  const auto lost = silent_nodes(nodes.list, daemon_agent(launch), patience);
  if (lost.empty()) return true;
  const int spares = launch.spares;
  if (!leave_out(lost, launch, nodes)) {
    say("the job is not launched anew (--relaunch): none of its nodes can be reached any more");
    return false;
  }
  say(fmt::format("{} cannot be reached any more: the next launch does without {}{}", fmt::join(lost, ", "),
                  lost.size() == 1 ? "it" : "them",
                  launch.spares == spares ? "" : fmt::format(", with {} spares instead of {}", launch.spares, spares)));
  return true;
}

LaunchEnd end_of(const Launch& launch, const Launched& launched) {
  return {launch.program.front(),    launch.ranks, launch.spares, launch.number, launched.verdict.exit_code,
          printable(launched.reason)};
}

void tell(const Verdict& verdict) {
  if (!verdict.sentence.empty()) say(printable(verdict.sentence));
}

void tell_of_result(const std::string& obstacle) {
  if (!obstacle.empty()) say(obstacle);
}

std::map<std::string, std::string> inherited_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

/// Quotes of one kind may stand between those of another.
bool has_open_quote(std::string_view text) {
  char open = 0;
  for (const char letter : text) {
    if (letter == open) {
      open = 0;
    } else if (open == 0 && (letter == '\'' || letter == '"' || letter == '`')) {
      open = letter;
    }
  }
  return open != 0;
}

/// If this process belongs to a job, removes what that job has set for its processes: it is not the user's choice for
/// this one. What has another value was set by the user, inside of that job.
void forget_outer_job() {
  for (const char* of_outer_job : {launch::process_variable, launch::job_variable, launch::host_address_variable,
                                   launch::parent_death_variable, launch::restart_variable, launch::number_variable})
    ::unsetenv(of_outer_job);
  if (!launch::processes()) return;
  if (std::getenv("MEND_CHECK_DETERMINISM") != nullptr) ::unsetenv("MEND_ROLLBACK");  // was set with it
  for (const char* of_mend_run : {launch::processes_variable, "MEND_SPARES", "MEND_SPARE_NODES", "MEND_RESULT",
                                  "MEND_NETWORK", "MEND_ON_TERM", "MEND_CHECK_DETERMINISM"})
    ::unsetenv(of_mend_run);
  const char* const settings = std::getenv(own_settings_variable);
  if (settings == nullptr) return;
  for (const auto& [name, value] : own_settings_in(settings)) {
    const std::string variable = fmt::format("OMPI_MCA_{}", name);
    if (const char* const now = std::getenv(variable.c_str()); now != nullptr && now == value)
      ::unsetenv(variable.c_str());
  }
  ::unsetenv(own_settings_variable);
}

/// Gives --spares the value of its variable, unless a flag says how many spares there are.
void take_spares_from_variable(CLI::App& command) {
  CLI::Option* const spares = command.get_option("--spares");
  const char* const value = std::getenv("MEND_SPARES");
  if (value == nullptr || *value == '\0' || !spares->empty() || command.count("--spare-nodes") > 0) return;
  spares->add_result(value);
  spares->run_callback();
}

/// Prepares the environment of this process, which mpirun inherits. The user's lists of components that are left out
/// leave out mend's, too; an empty list is none; interfaces that --network names override others.
void prepare_environment(const NetworkChoice& network) {
  for (const std::string_view framework : frameworks_for_messages) {
    const std::string variable = fmt::format("OMPI_MCA_{}", framework);
    if (const char* const users = std::getenv(variable.c_str()); users != nullptr && *users == '\0')
      ::unsetenv(variable.c_str());
  }
  const auto complete = [](const char* variable, const char* own) {
    if (const char* users = std::getenv(variable); users != nullptr)
      ::setenv(variable, launch::components(users, own).c_str(), 1);
  };
  complete("OMPI_MCA_btl", launch::transports_by_default);
  complete("OMPI_MCA_coll", launch::collectives_by_default);
  if (!network.for_daemons.empty()) {
    for (const std::string& variable : variables_for_daemons()) ::unsetenv(variable.c_str());
  }
  if (network.interfaces.empty()) return;
  ::unsetenv("OMPI_MCA_btl_tcp_if_include");
  ::unsetenv("OMPI_MCA_btl_tcp_if_exclude");
}

/// Returns the network of `arguments`, after the nodes and the options for mpirun. `in_files`: what the files of the
/// Open MPI say.
NetworkChoice network_of(const RunArguments& arguments, const Settings& in_files) {
  const Launch& launch = arguments.launch;
  NetworkChoice network = read_network(arguments.network);
  if (arguments.network_is_of_file) {
    network = unless_set_by(settings_of_user({}, inherited_environment(), launch.mpirun_options), network);
    if (are_interfaces_in(in_files)) network.interfaces.clear();
  }
  if (network.interfaces.empty()) return network;
  auto [for_mpi, for_daemons] = transport::leading_to_others(network.interfaces);
  network.for_mpi = all_here(launch) ? network.interfaces : std::move(for_mpi);
  const bool daemons_have_others = arguments.network_is_of_file && !variables_for_daemons().empty();
  if (!daemons_have_others) network.for_daemons = std::move(for_daemons);
  if (!arguments.program_has_network) network.for_mend = network.interfaces;
  return network;
}

int run(RunArguments& arguments) {
  Launch& launch = arguments.launch;
  // Checks both times, also a margin without a limit, and also with --dry-run.
  for (const std::string& time : {arguments.time_limit, arguments.time_margin})
    if (!time.empty()) parse_time(time);
  launch.spares = spares_for(arguments.spares, launch.ranks);
  Nodes nodes = nodes_of(launch);
  place(launch, nodes);
  launch.mpirun_options = CLI::detail::split_up(arguments.mpirun_options);
  if (has_open_quote(arguments.mpirun_options))
    throw UsageError(fmt::format("--mpi \"{}\": a quote is not closed", arguments.mpirun_options));
  refuse_nodes_in(launch.mpirun_options);
  have_home();  // mpirun needs one, also to tell its version
  const auto mpirun = find_mpirun();
  const auto prefix = mpirun.parent_path().parent_path();
  const Settings in_files = settings_in_files_of(prefix);
  launch.network = network_of(arguments, in_files);
  check(launch);
  prepare_environment(launch.network);
  launch.inherited = inherited_environment();
  const Settings user = settings_of_user(launch.network, launch.inherited, launch.mpirun_options);
  const Settings in_force = with_files(user, in_files, launch.network);
  Objections objections = objections_to(launch.network, in_force);
  const bool is_refused = !objections.refusal.empty() &&
                          (objections.unless_corrected.empty() || !has_correction(prefix, objections.unless_corrected));
  if (is_refused) throw UsageError(objections.refusal);
  if (!arguments.dry_run) {
    require_component(mpirun, component_of(launch.network.transport));
    const std::string slow = all_here(launch) ? "" : slow_choice(launch.network, user, infiniband_devices());
    if (!slow.empty() && has_component(mpirun, "uct")) objections.warnings.push_back(slow);
    for (const std::string& warning : objections.warnings) say(warning);
  }
  if (arguments.verbose) say(describe(launch.network, in_force));
  if (arguments.dry_run) {
    const StatusFile status;
    const auto environment = environment_of(launch, status);
    print_line(mpirun_line(mpirun, launch, environment), environment);
    return static_cast<int>(ExitCode::ok);
  }

  make_way_for(launch.result);
  tell_limits(prefix, launch);
  if (may_end_with_a_node(nodes)) {
    say("Slurm ends this job when one of its nodes fails, unless it was submitted with --no-kill: add #SBATCH "
        "--no-kill to its script");
  }
  const auto leave_at = time_to_leave(arguments);
  const RepeatableInput input;
  JobResult result(launch.result);
  std::optional<Launched> before;
  int relaunched = 0;
  for (int number = 1;; ++number) {
    const Launched launched = launch_once(arguments, mpirun, leave_at);
    if (relaunched < arguments.relaunches && goes_on_from_disk(launched) && can_be_read_again(input)) {
      tell(launched.verdict);
      const LaunchEnd end = end_of(launch, launched);  // end_of uses the number of spares of this launch
      if (!leave_out_lost_nodes(launch, nodes)) {
        tell_of_result(result.end_job(end));
        return launched.verdict.exit_code;
      }
      result.end_launch(end);
      say(fmt::format("too many processes have died to continue in place: the job is launched anew (relaunch {} of {})",
                      ++relaunched, arguments.relaunches));
      number = 0;
      ++launch.number;
      before.reset();
      continue;
    }
    const bool again =
        launched.lost_at_start && number < arguments.start_tries && !launched.fails_as(before) && input.rewind();
    if (!again) {
      const Verdict& verdict = launched.verdict;
      tell(verdict);
      tell_of_result(result.end_job(end_of(launch, launched)));
      return verdict.exit_code;
    }
    say(fmt::format("{}; nothing has been computed yet, and the job is launched anew (launch {} of {})",
                    launched.loss(), number + 1, arguments.start_tries));
    before = launched;
    ++launch.number;
  }
}

}  // namespace

void add_slurm_agent_command(CLI::App& mend, Action& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto* const agent = mend.add_subcommand(slurm_agent_command, "")->group("");  // not shown
  agent->prefix_command();
  agent->callback([agent, words, &chosen] {
    *words = agent->remaining();
    if (words->size() < 2) throw UsageError("slurm-agent is for mpirun: it takes a node and a command");
    chosen = [words] { return start_daemon(words->front(), {words->begin() + 1, words->end()}); };
  });
}

void add_run_command(CLI::App& mend, const std::vector<std::string>& after_dashes, Action& chosen) {
  auto arguments = std::make_shared<RunArguments>();
  Launch& launch = arguments->launch;
  auto* run_command = mend.add_subcommand("run", "Run an MPI program that outlives the death of its processes");
  run_command->footer(
      "The program and its arguments come last: mend run -n 4 --spares 2 -- ./program --its-own-option\n\n"
      "Exits with 0 exactly when the application finished correctly, whatever died on the way; with 1 when it\n"
      "did not get through MPI_Init, or fails by itself though nobody dies; with 2 for wrong arguments; with 3 when\n"
      "too many processes died to go on; with 4 when it was asked to leave, and has: the same command goes on, with\n"
      "--mend-disk from where it was; otherwise with the program's own exit code, or 128 + the signal that ended the\n"
      "job or mpirun. Of programs that do not use mend, and of those that run on other nodes alone, mpirun's word is\n"
      "taken.\n\n"
      "MEND_MPIRUN names the mpirun to use, should it not be the one of the MPI that mend was built with.\n\n"
      "Options that are set for all jobs are in files: the table [mend.run] of the file that MEND_CONFIG names, and "
      "of\n"
      "the site's, /etc/mend.toml; their names are those of the flags. Flags and variables override them.");
  run_command->add_option("-n,--ranks", launch.ranks, "Ranks of the application")
      ->required()
      ->configurable(false)
      ->check(CLI::Range(1, most_processes));
  auto* const spares = run_command
                           ->add_option("-s,--spares", arguments->spares,
                                        "Processes that wait, at no cost, to replace dead ones: a number, or a share "
                                        "of the ranks such as 10%. They are spread over the nodes (environment: "
                                        "MEND_SPARES)")
                           ->type_name("N|P%")
                           ->capture_default_str();
  run_command
      ->add_option("--spare-nodes", launch.spare_nodes,
                   "Instead: so many nodes, the last of the job, are spares as a whole. The nodes are those of the "
                   "allocation (Slurm, PBS, LSF, Flux), of --host or of --hostfile")
      ->check(CLI::Range(1, most_processes))
      ->excludes(spares);
  auto* const hosts =
      run_command->add_option("--host", launch.hosts, "Where to run, as mpirun takes it: node1:4,node2:4");
  run_command->add_option("--hostfile", launch.hostfile, "The same from a file")->excludes(hosts);
  run_command
      ->add_option(
          "--network", arguments->network,
          "What carries MPI's messages between nodes: auto (default: shared memory and TCP), tcp, ofi "
          "(libfabric) or uct (UCX); and the interfaces or networks that MPI over TCP, mpirun and mend use, such as "
          "ib0 or 10.0.0.0/24 (default: all that lead to other nodes)")
      ->type_name("{auto,tcp,ofi,uct}|INTERFACE,...");
  run_command->add_option("--result", launch.result, "File that the job writes at its end, for mend report")
      ->configurable(false);
  run_command->add_option("--mpi", arguments->mpirun_options,
                          "Further options for mpirun, in one word: \"--bind-to none\"");
  run_command
      ->add_option(
          "--start-limit", arguments->start_limit_seconds,
          "Seconds until a job whose processes have not all met is ended, from when the first comes to mend::run "
          "(default: 60, or 2 for each process that a core has, if that is more)")
      ->check(CLI::Range(1, 86400));
  run_command
      ->add_option("--start-tries", arguments->start_tries,
                   "How often a job is launched that loses a process before all have met")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  run_command
      ->add_option("--end-limit", arguments->end_limit_seconds,
                   "Seconds until processes are killed that stop or hang in MPI after the job has finished")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  run_command
      ->add_option("--relaunch", arguments->relaunches,
                   "How often the job is launched anew when too many processes have died to continue in place, without "
                   "the nodes that are "
                   "lost; it goes on from disk (--mend-disk)")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  run_command
      ->add_flag("--restart", launch.restarts,
                 "Go on from disk (--mend-disk), with any number of ranks, or end at once if no version is there. "
                 "Without it, such a job starts from the beginning")
      ->configurable(false);
  run_command->add_option(
      "--time-limit", arguments->time_limit,
      "How long the job may run (90s, 30min, 36h; default: as Slurm says of the allocation): before "
      "that it is asked to leave at a commit, with exit code 4. It is not ended by mend");
  run_command->add_option("--time-margin", arguments->time_margin,
                          "How long before the limit it is asked (default: 60s, or a tenth of a limit below 10min)");
  run_command
      ->add_option("--on-term", launch.on_term,
                   "What SIGTERM means: checkpoint asks the job to leave in the same way (default with --mend-disk); "
                   "kill ends it (default without). A second SIGTERM ends it always")
      ->check(CLI::IsMember({"checkpoint", "kill"}));
  run_command->add_flag("--verbose", arguments->verbose, "Say which components of MPI carry the job's messages");
  run_command->add_flag("--check-determinism", launch.checks_determinism,
                        "Check that --mend-rollback local suits the program: one rank for each spare ends on purpose, "
                        "from the second commit on, and the spare must send the same messages again. Exits with 2 if "
                        "one does not");
  run_command->add_flag("--dry-run", arguments->dry_run, "Print the mpirun command instead of running it")
      ->configurable(false);
  run_command->prefix_command();
  end_with_program(*run_command);
  run_command->callback([run_command, arguments, &after_dashes, &chosen] {
    auto& program = arguments->launch.program;
    program = run_command->remaining();
    // Dashes after the program's name belong to the program.
    if (!program.empty() && !after_dashes.empty()) program.push_back("--");
    program.insert(program.end(), after_dashes.begin(), after_dashes.end());
    forget_outer_job();
    take_spares_from_variable(*run_command);
    const bool names_network = run_command->count("--network") > 0;
    take_options_from_files(*run_command, program);
    arguments->network_is_of_file = !names_network && run_command->count("--network") > 0;
    arguments->program_has_network = arguments->network_is_of_file && is_set_for_program("network", program);
    const bool has_result = run_command->count("--result") > 0;
    if (has_result && arguments->launch.result.empty()) throw UsageError("--result has no name: name a file");
    for (const char* option : {"--network", "--time-limit", "--time-margin"}) {
      const CLI::Option* given = run_command->get_option(option);
      if (given->count() > 0 && given->results().back().empty())
        throw UsageError(fmt::format("{} has no value: give one, or leave it out", option));
    }
    chosen = [arguments] { return run(*arguments); };
  });
}

}  // namespace mend::jobs
