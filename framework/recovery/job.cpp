#include "framework/recovery/job.hpp"

#include "base/fail_stop.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/job_status.hpp"
#include "base/launch.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "framework/variables.hpp"

#include <fmt/format.h>
#include <mpi-ext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace mend {
namespace {

/// The launcher is told that this process has come to life, and that it exits: whoever crashes before mend::run has
/// said no more than the first.
const bool announced [[maybe_unused]] = [] {
  static const pid_t self = ::getpid();
  job_status::loaded();
  const auto tell = [](int status, void*) {
    if (::getpid() != self) return;  // what it has forked
    int has_met_others = 0;
    MPI_Initialized(&has_met_others);
    job_status::left(status, has_met_others != 0);
  };
  ::on_exit(tell, nullptr);
  return true;
}();

ExitCode say_failure(ExitCode code, const char* text) {
  if (launch::speaks_for_all()) {
    log::error(text);
    job_status::said();
  } else {
    job_status::unsaid(text);
  }
  job_status::finished(code);
  return code;
}

void start_trace(const Options& options, ProcessId self) {
  if (options.trace.empty()) return;
  std::filesystem::create_directories(options.trace);
  trace::start(options.trace / fmt::format("process-{}.json", self.value), self);
}

}  // namespace

Start start_together(Start mine) {
  int flag = static_cast<int>(mine);
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag);  // the flag is right even if a process has died
  return static_cast<Start>(flag);
}

Job::Job(const Options& options) {
  try {
    log::set_level(options.log_level);
    if (launch::speaks_for_all()) std::ranges::for_each(doubts_about_environment(), log::warn);
    mpi_.emplace();
    if (launch::door()) {
      join(options);
      return;
    }
    if (!mpi_->tolerates_failures()) {
      refused_ = say_failure(ExitCode::failed,
                             "the MPI library runs with its fault tolerance switched off: launch with `mend run`, or "
                             "with mpirun --with-ft ulfm");
      start_together(Start::refuse);  // the runtime ends everybody as soon as one leaves: not before this is said
      return;
    }
    if (start_together(Start::go_on) != Start::go_on) {
      refused_ = ExitCode::usage;  // another says why
      return;
    }
    detector_.emplace(options).begin();
    engine_.emplace(options, *detector_);
    start_trace(options, engine_->self());
  } catch (...) {
    refused_ = fail(std::current_exception());
  }
}

/// In a process that the job has started later.
void Job::join(const Options& options) {
  detector_.emplace(options);
  try {
    Arrival arrival(*detector_);
    if (arrival.wait()) {
      engine_.emplace(options, *detector_, arrival);
      start_trace(options, engine_->self());
      return;
    }
  } catch (const EnvironmentError& nobody_there) {
    log::debug(nobody_there.what());
  }
  refused_ = ExitCode::ok;  // the job is over, or goes on without
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
  has_lost_ = engine_->has_lost();
  if (has_lost_) mpi_->leave_alone();
  if (engine_->world().base.rank() == 0) {
    const auto recoveries = engine_->recoveries();
    for (const RecoveryReport& report : recoveries) log::info(report.to_string());
    if (code == ExitCode::ok && !recoveries.empty()) log::warn(summarise(recoveries));
  }
  if (engine_->plays(Rank{0})) {
    if (const std::string economy = engine_->commit_economy().to_string(); !economy.empty()) log::info(economy);
  }
  trace::stop();
  job_status::finished(code);
  reach("finish.after");
  engine_.reset();
  return code;
}

ExitCode Job::fail(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const UsageError& mistake) {
    return say_failure(ExitCode::usage, mistake.what());
  } catch (const Unrecoverable& loss) {
    return say_failure(ExitCode::unrecoverable, loss.what());
  } catch (const std::exception& other) {
    return say_failure(ExitCode::failed, other.what());
  }
}

}  // namespace mend

/// To the program this is the end of the job; to the library, the death of a process, from which the others would
/// recover. So it is left to the launcher, which ends all as soon as it has read of it.
extern "C" int MPI_Abort(MPI_Comm comm, int code) {  // NOLINT(readability-identifier-naming): MPI's name
  const bool is_for_others = comm != MPI_COMM_SELF;
  const bool will_be_ended = is_for_others && mend::job_status::aborted(code);
  while (will_be_ended) ::pause();
  return PMPI_Abort(comm, code);
}
