#include "fenix/process/job.hpp"

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "base/death/fail_stop.hpp"
#include "base/telemetry/job_status.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/place.hpp"
#include "fenix/data/group.hpp"
#include "fenix/mlog/message_logs.hpp"
#include "fenix/process/settings.hpp"
#include "framework/run.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <utility>

namespace mend::fenix {
namespace {

void end_logs() {
  if (state().logs) state().logs->leave_to_program();
  state().logs.reset();
}

/// Ends this process together with all others, who have agreed on `code`.
[[noreturn]] void leave(ExitCode code) {
  State& now = state();
  now.active = false;
  end_logs();
  now.groups.clear();
  now.job->close(code);
  leave_mpi();
  std::exit(static_cast<int>(code));
}

/// Ends the job on all ranks because of an error on this one.
void end_job(ExitCode code, const std::string& sentence) {
  const ErrorsHandled as_in_cpp(OnError::throws);
  State& now = state();
  now.active = false;
  try {
    now.engine().abandon(code, sentence);
    end_logs();
    now.groups.clear();
    now.job->close(*now.engine().ended());
    job_status::closed();
  } catch (const std::exception& error) {
    fail_stop(error.what());
  }
}

[[noreturn]] void end_job_and_exit(ExitCode code, const std::string& sentence) {
  end_job(code, sentence);
  leave_mpi();
  std::exit(static_cast<int>(code));
}

/// Lets this spare continue by itself after the end of the job, until it leaves MPI.
void release() {
  State& now = state();
  now.last_role = FENIX_ROLE_SPARE_RANK;
  now.finalized = true;
  now.job->close(ExitCode::ok);
  job_status::closed();
}

/// The resilient communicator outlives the job. The program frees it, or MPI_Finalize does.
void leave_communicator_to_program() {
  State& now = state();
  Engine::Kept kept = now.engine().keep_communicators();
  kept.application.release();
  now.farewell = std::move(kept.store);
}

/// Revokes MPI_COMM_WORLD, so that nobody waits there for dead processes, or for spares, which exit. From now on, calls
/// on it return an error, for example a barrier that is the program's last call before MPI_Finalize.
void close_world(bool has_spares) {
  const bool spares_exit = has_spares && settings().spare_finalize == FENIX_SPARE_FINALIZE_EXIT;
  if (!spares_exit && !state().job->leaves_mpi_alone()) return;
  const ErrorsReturned quiet;
  MPIX_Comm_revoke(MPI_COMM_WORLD);
}

/// Restores the error handler that the program has set on a predefined communicator. The job sets MPI_ERRORS_RETURN
/// there.
class HandlerKept {
 public:
  explicit HandlerKept(MPI_Comm comm) : comm_(comm) { MPI_Comm_get_errhandler(comm, &handler_); }
  ~HandlerKept() {
    const bool set_by_program = handler_ != MPI_ERRORS_ARE_FATAL && handler_ != MPI_ERRORS_RETURN;
    if (!set_by_program || is_mpi_finalised()) return;
    MPI_Comm_set_errhandler(comm_, handler_);
    MPI_Errhandler_free(&handler_);
  }
  HandlerKept(const HandlerKept&) = delete;
  HandlerKept& operator=(const HandlerKept&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Exits before there is a job. All processes do so.
[[noreturn]] void exit_at_start(int code) {
  if (is_mpi_initialised()) PMPI_Finalize();
  std::exit(code);
}

/// Handles a program that exits before Fenix_Finalize. With code 0 this process kills itself, and the others recover
/// from that failure. With any other code it ends the whole job.
void on_exit_of_process(int status, void* /*unused*/) {
  static const pid_t self = ::getpid();
  if (::getpid() != self) return;
  State& now = state();
  if (std::exchange(now.active, false)) {
    if (status == 0) ::kill(::getpid(), SIGKILL);
    const int rank = now.engine().rank().value;
    end_job(ExitCode::failed, fmt::format("rank {} has exited with {} before Fenix_Finalize", rank, status));
  }
  leave_mpi();
}

/// Lists the ranks that have failed in these recoveries. If there are several, a failure has interrupted each but the
/// last, and the program learns of all of them at once.
void list_failed(std::span<const RecoveryReport> recoveries) {
  State& now = state();
  std::set<int> failed;    // as numbered before the first recovery
  std::set<int> given_up;  // likewise
  now.recovered.clear();
  for (const RecoveryReport& recovery : recoveries) {
    const auto as_at_first = [before = given_up](Rank rank) {
      int number = rank.value;
      for (const int missing : before) number += missing <= number ? 1 : 0;
      return number;
    };
    for (const Replacement& replaced : recovery.replacements) {
      failed.insert(as_at_first(replaced.rank));
      const auto rank_now = now.engine().epoch_state().roster.rank_of(replaced.newcomer);
      if (rank_now) now.recovered.push_back(rank_now->value);  // otherwise the newcomer has died, too
    }
    for (const LostRank& loss : recovery.given_up) {
      failed.insert(as_at_first(loss.rank));
      given_up.insert(as_at_first(loss.rank));
    }
  }
  now.failed.assign(failed.begin(), failed.end());
}

/// Returns false if a failure interrupted it. Collective over the ranks.
bool begin_epoch() {
  State& now = state();
  now.is_unrepaired = false;
  const auto recoveries = now.engine().recoveries();
  list_failed(recoveries.subspan(now.recoveries_seen));
  const bool given_up = !recoveries.empty() && !recoveries.back().given_up.empty();
  for (auto& [id, group] : now.groups) {
    if (given_up) group->lose_ranks();
    now.engine().take_into_epoch(group->store());
  }
  report();
  try {
    now.logs->begin_epoch();
  } catch (const ProcessFailure&) {
    return false;
  }
  now.recoveries_seen = recoveries.size();
  return true;
}

void end_epoch() {
  for (auto& [id, group] : state().groups) group->end_epoch();
}

/// Repairs until an epoch has begun. Logged receives that are under way continue in it if `keeps_receives`; otherwise
/// they end.
void repair(bool keeps_receives) {
  State& now = state();
  do {
    end_epoch();
    try {
      now.engine().repair();
    } catch (const agreement::Abandoned&) {
      leave(*now.engine().ended());
    } catch (const std::exception& error) {
      fail_stop(error.what());
    }
    now.logs->end_epoch(keeps_receives);
  } while (!begin_epoch());
}

/// Returns true when all ranks have come to Fenix_Finalize, false if a failure comes first. Ends the job if ranks have
/// come to different collective functions. Collective over the ranks.
bool all_have_come_to_the_end() {
  const AtPlace at_place(Place::finish);
  try {
    state().engine().ballot().vote(agreement::Proposal::finish, true);
  } catch (const ProcessFailure&) {
    return false;
  } catch (const agreement::Abandoned&) {  // Engine::finish() ends the job together with the others
  } catch (const agreement::OrderError& mistake) {
    end_job_and_exit(ExitCode::usage, mistake.what());
  }
  return true;
}

/// Handles an error that is not a process failure, as FENIX_UNHANDLED_MODE says.
void receive_mistake(ExitCode code, const std::string& sentence) {
  if (settings().unhandled == FENIX_UNHANDLED_SILENT) return;
  if (settings().unhandled == FENIX_UNHANDLED_ABORT) end_job_and_exit(code, sentence);
  log::error(sentence);
}

/// Handles an error of MPI that is not a process failure, for example a rank that does not exist.
void receive_other_error(int code) {
  receive_mistake(ExitCode::failed,
                  fmt::format("rank {}: an MPI call failed: {}", state().engine().rank().value, mpi_text(code)));
}

}  // namespace

State::State() = default;
State::~State() = default;

State& state() {
  static State* const instance = new State;  // never destroyed: the process may exit from anywhere
  return *instance;
}

MPI_Comm resilient() { return state().engine().epoch_state().application.get(); }

Fenix_Rank_role role() {
  State& now = state();
  if (now.finalized) return now.last_role;
  if (!now.job) return FENIX_ROLE_INITIAL_RANK;
  if (now.engine().newcomer() && !now.is_unrepaired) return FENIX_ROLE_RECOVERED_RANK;
  return role_of(now.engine().rank().value);
}

Fenix_Rank_role role_of(int rank) {
  State& now = state();
  if (now.is_unrepaired) return FENIX_ROLE_SURVIVOR_RANK;
  if (now.engine().epoch_state().epoch == Epoch{0}) return FENIX_ROLE_INITIAL_RANK;
  const bool is_taken_over = std::ranges::find(now.recovered, rank) != now.recovered.end();
  return is_taken_over ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK;
}

int missing_ranks() { return state().wanted_ranks - state().engine().epoch_state().roster.size(); }

void start(const StartArguments& arguments, const Outputs& outputs) {
  State& now = state();
  if (now.active) end_job_and_exit(ExitCode::usage, "Fenix_Init is called once in a process");
  if (now.finalized) {
    log::error("Fenix_Init is called once in a process");
    std::exit(static_cast<int>(ExitCode::usage));
  }
  now.outputs = outputs;
  try {
    if (outputs.resume_point != nullptr && outputs.comm == nullptr)
      throw UsageError("Fenix_Init needs a place for the resilient communicator: it does not change the given one");
    const Options options = options_of(arguments);
    const HandlerKept world(MPI_COMM_WORLD);
    const HandlerKept self(MPI_COMM_SELF);
    now.processes_have_slots = options.spare_nodes == 0;
    now.job = std::make_unique<Job>(options);
  } catch (const UsageError& mistake) {
    exit_at_start(refuse(mistake.what()));
  }
  if (now.job->refused()) {
    const int code = static_cast<int>(*now.job->refused());
    now.job.reset();
    exit_at_start(code);
  }
  ::on_exit(&on_exit_of_process, nullptr);
  try {
    if (!now.engine().wait_for_rank()) {
      const ExitCode code = *now.engine().ended();
      if (code != ExitCode::ok || settings().spare_finalize == FENIX_SPARE_FINALIZE_EXIT) leave(code);
      return release();
    }
  } catch (const std::exception& error) {
    fail_stop(error.what());
  }
  now.active = true;
  now.wanted_ranks = std::max(wanted_ranks(arguments.spares), now.engine().first_size());
  now.logs = std::make_unique<MessageLogs>();
  const bool takes_over = now.engine().epoch_state().epoch != Epoch{0};
  const std::size_t recoveries = now.engine().recoveries().size();
  now.recoveries_seen = recoveries == 0 ? 0 : recoveries - 1;  // the last one has given it its rank
  if (!begin_epoch()) repair(false);
  // Another failure may have come since this process took over. The program has not begun here, so this rank is not a
  // survivor.
  const int self = now.engine().rank().value;
  if (takes_over && std::ranges::find(now.recovered, self) == now.recovered.end()) now.recovered.push_back(self);
  hand_errors_to(&receive_error);
}

void report() {
  State& now = state();
  const Outputs& out = now.outputs;
  if (out.role != nullptr) *out.role = role();
  if (now.finalized) {  // a spare that was never needed
    if (out.comm != nullptr) *out.comm = MPI_COMM_NULL;
    if (out.error != nullptr) *out.error = FENIX_SUCCESS;
    return;
  }
  if (out.comm != nullptr) *out.comm = now.engine().epoch_state().application.get();
  if (out.error != nullptr) *out.error = Fenix_get_error();
}

void recover(int mpi_error, bool in_place) {
  const ErrorsHandled as_in_cpp(OnError::throws);
  State& now = state();
  const MessageLogs::Paused unlogged(*now.logs);
  now.last_error = mpi_error;
  call_all_back_before();
  if (settings().recovery == FENIX_RECOVERY_NOOP) {
    now.is_unrepaired = true;
    return report();
  }
  repair(in_place || settings().resume == FENIX_RESUME_RETURN);
}

bool go_on_in_place(bool is_recovered) {
  State& now = state();
  const ErrorsHandled as_in_cpp(OnError::throws);
  now.logs->pause();
  try {
    do {
      if (!std::exchange(is_recovered, false)) recover(MPIX_ERR_PROC_FAILED, true);
      if (!now.logs->fits()) {
        now.logs->resume();
        return false;
      }
    } while (!call_all_back_in_place());
    throw_what_was_kept();
  } catch (...) {
    now.callbacks.thrown_before = nullptr;
    now.logs->resume();
    throw;
  }
  now.logs->resume();
  if (now.logs->all_synced()) return true;
  end_job_and_exit(
      ExitCode::usage,
      fmt::format("rank {}: a message log is not synced after a recovery in place: call Fenix_Mlog_sync in "
                  "a callback, or set FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC",
                  now.engine().rank().value));
}

bool finish() {
  const ErrorsHandled as_in_cpp(OnError::throws);
  State& now = state();
  now.logs->pause();
  for (auto& [id, group] : now.groups) group->finish_copies();
  // A failure that comes before all ranks are here is recovered from as in every other function, with callbacks before
  // the recovery. All ranks take part in this ballot, whatever their settings are.
  if (!all_have_come_to_the_end() && recovers() && settings().recovery != FENIX_RECOVERY_NOOP) {
    recover(MPIX_ERR_PROC_FAILED, now.logs->recovers_in_place());
    now.logs->resume();
    return false;
  }
  end_epoch();
  try {
    if (now.engine().finish()) {
      if (*now.engine().ended() != ExitCode::ok) leave(*now.engine().ended());
      now.last_role = role();
      now.active = false;
      now.finalized = true;
      end_logs();
      now.groups.clear();
      const bool has_spares = !now.engine().epoch_state().roster.spares.empty();
      leave_communicator_to_program();
      now.job->close(ExitCode::ok);
      close_world(has_spares);
      job_status::closed();  // from here until MPI_Finalize, the program is responsible
      return true;
    }
  } catch (const std::exception& error) {
    fail_stop(error.what());
  }
  now.last_error = MPIX_ERR_PROC_FAILED;
  const bool keeps_receives = now.logs->recovers_in_place() || settings().resume == FENIX_RESUME_RETURN;
  now.logs->end_epoch(keeps_receives);
  if (!begin_epoch()) repair(keeps_receives);
  now.logs->resume();
  return false;
}

bool recovers() { return settings().recovery != FENIX_RECOVERY_IGNORE; }

void throw_failure() {
  throw ::fenix::CommException(state().engine().epoch_state().application.get(), Fenix_get_error(), state().last_error);
}

void resume() {
  if (state().in_place.calls_back) {  // leaves the callback, which is called again
    if (settings().resume == FENIX_RESUME_THROW) throw_failure();
    return;
  }
  if (recovers()) {
    try {
      call_all_back();
      while (!sync_logs()) {
        recover(MPIX_ERR_PROC_FAILED);
        call_all_back();
      }
    } catch (...) {  // one of two exceptions; the other must not appear at the next failure
      state().callbacks.thrown_before = nullptr;
      throw;
    }
    throw_what_was_kept();
  }
  switch (settings().resume) {
    case FENIX_RESUME_THROW: throw_failure();
    case FENIX_RESUME_JUMP:
      if (!recovers()) return;
      if (state().outputs.resume_point == nullptr) throw_failure();  // fenix::init sets no place to jump to
      state().logs->end_pauses();
      ::longjmp(*state().outputs.resume_point, 1);
    default: return;
  }
}

void receive_error(MPI_Comm comm, int code, bool failure) {
  if (!state().active) return;
  if (failure) {
    if (!recovers()) {
      state().last_error = code;
      if (settings().resume == FENIX_RESUME_THROW) throw_failure();
      return;
    }
    if (settings().recovery != FENIX_RECOVERY_NOOP) revoke(comm);
    if (state().in_place.calls_back) {
      state().in_place.interrupted = true;
      return resume();
    }
    recover(code);
    return resume();
  }
  receive_other_error(code);
}

int refuse_in_program(const std::string& sentence) {
  receive_mistake(ExitCode::usage, fmt::format("rank {}: {}", state().engine().rank().value, sentence));
  return MPI_ERR_OTHER;
}

bool is_active(const char* function) {
  if (state().active) return true;
  log::warn(fmt::format("{} is called before Fenix_Init or after Fenix_Finalize", function));
  return false;
}

}  // namespace mend::fenix
