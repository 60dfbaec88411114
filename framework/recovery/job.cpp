#include "framework/recovery/job.hpp"

#include "base/death/crash_report.hpp"
#include "base/death/fail_stop.hpp"
#include "base/death/forked_child.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/place.hpp"
#include "base/telemetry/trace.hpp"
#include "base/telemetry/written_output.hpp"
#include "framework/process/own_death.hpp"
#include "framework/process/misspelt_variables.hpp"
#include "transport/library_function.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <mpi-ext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace mend {
namespace {

/// Has one process write `text`, which any process may have to report: the first one or, if that is dead, the launcher.
void say_for_all(const char* text) {
  if (launch::speaks_for_all()) {
    log::error(text);
    job_status::said(text);
  } else {
    job_status::unsaid(text);
  }
}

ExitCode code_of(const std::exception& error) {
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return ExitCode::usage;
  if (dynamic_cast<const Unrecoverable*>(&error) != nullptr) return ExitCode::unrecoverable;
  return ExitCode::failed;
}

/// Returns the problem as a sentence; empty if there is none.
std::string make_trace_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return "";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = {errno, std::generic_category()};
  if (!error) return "";
  return fmt::format("no timelines can be written into '{}': {} (--mend-trace)", folder.string(), error.message());
}

/// Returns the trace file of this process. Each launch of a job (mend run --relaunch) has files of its own.
std::filesystem::path trace_of(const std::filesystem::path& folder, ProcessId self, int launch) {
  return folder / (launch == 1 ? fmt::format("process-{}.json", self.value)
                               : fmt::format("process-{}-launch-{}.json", self.value, launch));
}

/// Removes the traces of an earlier job that would be taken for later launches of this one.
void remove_later_launches(const std::filesystem::path& folder, ProcessId self) {
  std::error_code ignored;  // as of files that belong to another user
  for (int launch = 2; std::filesystem::remove(trace_of(folder, self, launch), ignored);) ++launch;
}

/// Returns true if all processes have refused, for any reason.
bool refuses(Start all) { return (static_cast<int>(all) & static_cast<int>(Start::fail)) != 0; }

/// Returns the exit code of a job that some processes do not begin.
ExitCode code_of(Start all) { return all == Start::in_disagreement ? ExitCode::usage : ExitCode::failed; }

/// Ends a process that cannot reach the launcher's daemon. It is a world of its own, and the others wait for it in
/// MPI_Init.
void require_whole_world() {
  int size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto launched = launch::processes();
  if (!launched || static_cast<std::uint32_t>(size) >= *launched) return;
  fail_stop(
      fmt::format("MPI knows only {} of the {} processes that were launched: this one has not reached the launcher's "
                  "daemon; its network, or variables that the launcher has set (PMIX_...), are missing",
                  size, *launched));
}

}  // namespace

Start start_together(Start mine) {
  int flag = static_cast<int>(mine);
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);  // the flag is correct even if a process has died
  return static_cast<Start>(flag);
}

std::string describe_failed_start(const std::exception& error) {
  return fmt::format("process {} cannot begin the job: {}", launch::self().value_or(ProcessId{}).value, error.what());
}

bool refuse_together(ExitCode code) {
  const bool all_alike = refuses(start_together(code == ExitCode::failed ? Start::fail : Start::refuse));
  job_status::finished(code);  // not earlier: the launcher takes it as the end of the whole job, and some processes may
                               // not have come yet
  return all_alike;
}

bool others_begin_without_this() { return !refuses(start_together(Start::refuse)); }

Job::Job(const Options& options) {
  if (options.help) {
    help();
    return;
  }
  if (launch::host_address()) {
    or_fail_stop([&] { join(options); });
    return;
  }
  try {
    log::set_level(options.log_level);
    check_option_variables();
    if (launch::speaks_for_all()) std::ranges::for_each(doubts_about_environment(), log::warn);
    mpi_.emplace();
    require_whole_world();
    mpi_->require_layer_for_failures();
    if (!mpi_->tolerates_failures() && launch::speaks_for_all()) {
      log::warn(
          "unprotected: the MPI library runs with its fault tolerance switched off, and the first death ends the job: "
          "launch with `mend run`, or with mpirun --with-ft ulfm");
    }
    detector_.emplace(options);
  } catch (const std::exception& error) {
    refuse(error);
    return;
  }
  obstacle_to_trace_ = make_trace_folder(options.trace);
  const Start all = start_together(obstacle_to_trace_.empty() ? Start::go_on : Start::go_on_untraced);
  if (all == Start::go_on_untraced) {
    leave_together(UsageError(obstacle_to_trace_));
    return;
  }
  if (all != Start::go_on) {
    refused_ = code_of(all);  // another process reports the reason
    return;
  }
  begin(options);
}

/// Prints the help of --mend-help instead of beginning a job. No process waits for another.
void Job::help() {
  refused_ = ExitCode::ok;
  if (launch::speaks_for_all()) {
    std::fputs(describe_options().c_str(), stdout);
    refused_ = static_cast<ExitCode>(written_or_failed(static_cast<int>(ExitCode::ok)));
  }
  job_status::finished(*refused_);
}

/// Ends the job because of an error here before it has begun. The other processes may wait for this one in MPI_Init.
/// The runtime ends all processes when one has left, so the error is reported first.
void Job::refuse(const std::exception& error) {
  refused_ = code_of(error);
  const std::string sentence = refused_ == ExitCode::failed ? describe_failed_start(error) : error.what();
  say_for_all(sentence.c_str());
  if (is_mpi_finalised()) {  // so the processes cannot meet any more
    job_status::finished(*refused_);
    job_status::closed();
    return;
  }
  if (!is_mpi_initialised() && !launch::job().empty()) mpi_.emplace();
  const bool all_alike = !is_mpi_initialised() || refuse_together(*refused_);
  if (!all_alike && !launch::speaks_for_all()) {
    log::error(sentence);
    job_status::said(sentence);
  }
}

/// Ends the job because of an error that all processes have alike.
void Job::leave_together(const std::exception& error) {
  detector_->end();  // no thread of the detector is in the runtime while the process leaves the runtime
  say_for_all(error.what());
  refused_ = code_of(error);
  job_status::finished(*refused_);
}

/// Begins the job when all processes have agreed to go on. From here on, the job is ended only by errors that all
/// processes have alike, and by wrong options.
void Job::begin(const Options& options) {
  try {
    detector_->begin();
    job_status::introduced();
    stop_reporting_crashes();  // the others notice from here on
    engine_.emplace(options, *detector_);
    announce_own_death(engine_->self());
    start_trace(options);
  } catch (const CommonError& error) {
    leave_together(error);
  } catch (const UsageError& mistake) {
    leave_together(mistake);
  } catch (const std::exception& error) {
    fail_stop(error.what());
  }
}

/// For a process that the job has started later. No process waits for it before it is in the job's communicators.
void Job::join(const Options& options) {
  log::set_level(options.log_level);
  mpi_.emplace();
  std::optional<Newcomer> newcomer;
  try {
    detector_.emplace(options);
    newcomer.emplace(*detector_);
    if (!newcomer->wait()) newcomer.reset();
  } catch (const EnvironmentError& nobody_there) {
    log::debug(nobody_there.what());
    newcomer.reset();
  }
  if (!newcomer) {
    refused_ = ExitCode::ok;  // the job is over, or continues without this process
    return;
  }
  job_status::introduced();
  stop_reporting_crashes();
  const AtPlace at_place(Place::recovery);  // of the others, which this process takes part in
  engine_.emplace(options, *detector_, *newcomer);
  announce_own_death(engine_->self());
  obstacle_to_trace_ = make_trace_folder(options.trace);
  start_trace(options);
}

void Job::start_trace(const Options& options) {
  if (options.trace.empty()) return;
  if (!obstacle_to_trace_.empty()) {
    log::warn(obstacle_to_trace_);  // other processes may be able to write theirs
    return;
  }
  const ProcessId self = engine_->self();
  if (launch::number() == 1) remove_later_launches(options.trace, self);
  trace::start(trace_of(options.trace, self, launch::number()), self, options.trace_detail == TraceDetail::messages);
  engine_->trace_epoch();
}

ExitCode Job::play(const Body& body) {
  if (refused_) return *refused_;
  try {
    return close(engine_->run(body));
  } catch (const std::exception& error) {
    fail_stop(error.what());
  }
}

ExitCode Job::close(ExitCode code) {
  stop_announcing_own_death();
  has_lost_ = engine_->has_lost();
  if (has_lost_) mpi_->leave_alone();
  const auto rank = engine_->epoch_state().roster.rank_of(engine_->self());
  job_status::finished(code, engine_->self(), rank);
  try {
    report(code);
    trace::instant("finished");
    trace::stop();
  } catch (const std::exception& error) {  // the end of the job is agreed already
    log::warn(fmt::format("process {} cannot report on the job: {}", engine_->self().value, error.what()));
  }
  reach("finish.after");
  engine_.reset();
  return code;
}

void Job::report(ExitCode code) {
  const EpochState& epoch_state = engine_->epoch_state();
  // The rank that has written the notices also writes these, so that they come after them.
  const auto holds_rank = [&](ProcessId process) { return epoch_state.roster.rank_of(process).has_value(); };
  const auto first = std::ranges::find_if(epoch_state.members, holds_rank);
  if (code == ExitCode::ok && first != epoch_state.members.end() && *first == engine_->self()) {
    const auto recoveries = engine_->recoveries_of_all_ranks();
    for (const RecoveryReport& report : recoveries) log::info(report.to_string());
    if (!recoveries.empty()) log::warn(summarise(recoveries));
    if (const std::string back = engine_->rollback_counts().to_string(); !back.empty()) log::warn(back);
  } else if (code != ExitCode::ok && epoch_state.base.rank() == 0) {
    for (const RecoveryReport& report : engine_->recoveries()) log::info(report.to_string());
  }
  if (engine_->plays(Rank{0})) {
    if (const std::string economy = engine_->commit_economy().to_string(); !economy.empty()) log::info(economy);
  }
}

}  // namespace mend

/// For the program, MPI_Abort is the end of the job. For the library, it is the death of a process, from which the
/// others would recover. So the launcher ends all processes when it reads of the call.
extern "C" int PMPI_Abort(MPI_Comm comm, int code) {  // NOLINT(readability-identifier-naming): MPI's name
  static const auto library = mend::of_the_library<decltype(&PMPI_Abort)>("PMPI_Abort");
  mend::end_forked_child("called MPI");
  const bool is_for_others = comm != MPI_COMM_SELF;
  const bool will_be_ended = is_for_others && mend::job_status::aborted(code);
  while (will_be_ended) ::pause();
  return library(comm, code);
}
MEND_SAME_AS_PMPI(MPI_Abort);
