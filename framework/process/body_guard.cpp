#include "framework/process/body_guard.hpp"

#include "base/death/catchable.hpp"
#include "base/death/fail_stop.hpp"
#include "base/death/forked_child.hpp"
#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/place.hpp"
#include "framework/process/hooks/world_substitution.hpp"
#include "transport/library_function.hpp"
#include "framework/process/process_context.hpp"
#include "framework/local_rollback/logged_calls.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <mpi-ext.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace mend {
namespace {

bool is_thread_of_body() { return std::this_thread::get_id() == process_context().thread_of_body; }

/// Returns true while a body runs. Threads of the program may call MPI in its stead, one at a time; those of mend do
/// not call MPI.
bool is_inside() { return process_context().body == BodyState::inside; }

/// Returns true while the program's own code runs, and not a call of mend.
bool is_in_own_code() {
  const Place place = current_place().place;
  return is_inside() && (place == Place::none || place == Place::interrupted);
}

/// Returns a handle that is equal to that of another communicator with the same handler.
MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler seen = handler;
  if (seen != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&seen);  // the communicator still has the handler
  return handler;
}

/// Returns true if a death would end every rank that is in a call on `comm` with this handler. A program may return
/// errors of the communicator, or pass them to a handler of its own.
bool makes_deaths_fatal(MPI_Comm comm, MPI_Errhandler handler) {
  bool is_fatal = handler == MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT
  is_fatal = is_fatal || handler == MPI_ERRORS_ABORT;
#endif
  if (!is_fatal || !is_inside() || comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF)
    return false;
  const MPI_Comm of_session = process_context().body_rules.session_comm();
  return comm == of_session || handler_of(comm) == handler_of(of_session);
}

/// Exit handler: tells the other processes, and leaves MPI together with them.
void refuse_to_exit(int status, void*) {
  const ProcessContext& context = process_context();
  const bool is_ours = !context.is_forked() && is_thread_of_body();
  if (!is_ours || context.body == BodyState::outside || context.body == BodyState::over) return;
  const bool was_jumped_over =
      std::less<>()(context.frame_of_body, static_cast<const void*>(__builtin_frame_address(0)));
  if (context.body == BodyState::inside && was_jumped_over) {  // the frames that lead the job are gone from the stack
    stop_job(fmt::format(
        "exit({}) was called after the body had been left by longjmp: return from it, or throw to end the job",
        status));
  }
  if (context.body == BodyState::inside)
    refuse_in_body(fmt::format("exit({}) was called in the body: return from it, or throw to end the job", status));
  context.body_rules.leave();
}

bool is_forbidden(MPI_Comm comm) { return process_context().forbids_world && comm == MPI_COMM_WORLD; }

/// Refuses a call in MPI_COMM_WORLD: throws, ends the job, or ends the process. Returns an error code if the job has
/// ended, and outside of bodies.
int refuse_world() {
  constexpr const char* sentence =
      "an MPI call used MPI_COMM_WORLD, which also contains spares and dead processes: use session.comm(), or let "
      "MPI_COMM_WORLD mean it (--mend-world session)";
  if (process_context().body == BodyState::over) {
    if (launch::speaks_for_all()) {
      log::error(
          "an MPI call used MPI_COMM_WORLD after mend::run, which has revoked it because it also contains spares and "
          "dead processes: make a duplicate before mend::run, and use that");
    }
    std::exit(static_cast<int>(ExitCode::usage));
  }
  return is_inside() ? refuse_wrong_use(sentence) : MPIX_ERR_REVOKED;
}

/// Warns once about a call that asks for a rank in MPI_COMM_WORLD or for its size. Such calls are legal, but a program
/// that divides its work by the result computes wrongly.
void warn_of_world(MPI_Comm comm, const char* call) {
  if (!is_forbidden(comm) || !is_in_own_code() || !launch::speaks_for_all()) return;
  if (std::exchange(process_context().warned_of_world, true)) return;
  log::warn(fmt::format(
      "{} was asked about MPI_COMM_WORLD, which also contains spares and dead processes: ask it about session.comm()",
      call));
}

/// Returns true for the errors of calls in a revoked MPI_COMM_WORLD: the error of a revoked communicator, or an
/// unspecific one.
bool is_error_of_revoked(int code) { return outcome_of(code) == MpiOutcome::failure || is_unspecific(code); }

/// Handles errors of calls in MPI_COMM_WORLD and MPI_COMM_SELF, and of calls without a valid communicator. Inside
/// mend's own calls, errors are returned. The library reports the errors of MPI_Comm_idup's requests here, and a death
/// by an unspecific code: whether it is one, the session's communicator shows. (Under local rollback, that one is a
/// handle of the first epoch, and MPI_Comm_idup is done at once.)
void on_error_elsewhere(MPI_Comm* comm, int* code, ...) {
  if (errors_are_returned()) return;
  if (is_forbidden(*comm) && is_error_of_revoked(*code)) {
    refuse_world();
    return;
  }
  if (!is_inside() || current_place().place != Place::none) return;
  const ProcessContext& context = process_context();
  const MPI_Comm session = context.body_rules.session_comm();
  const bool is_of_session = is_unspecific(*code) && context.logged_calls == nullptr && means_failure(session, *code);
  handle_error(is_of_session ? session : *comm, *code);
}

void set_handler_elsewhere() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&on_error_elsewhere, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
}

}  // namespace

MPI_Comm world_of_body() {
  const ProcessContext& context = process_context();
  return context.world_is_session && is_inside() ? context.body_rules.session_comm() : MPI_COMM_WORLD;
}

MPI_Comm require_no_copy_of_world(MPI_Comm comm) {
  const ProcessContext& context = process_context();
  if (!context.forbids_world || (context.worlds.empty() && context.parts_of_worlds.empty())) return comm;
  if (!is_in_own_code() || errors_are_returned()) return comm;
  const auto is_in = [comm](const std::vector<MPI_Comm>& noted) {
    return std::ranges::find(noted, comm) != noted.end();
  };
  const bool is_world = is_in(context.worlds);
  if (!is_world && (context.logged_calls == nullptr || !is_in(context.parts_of_worlds))) return comm;
  refuse_wrong_use(
      is_world ? "an MPI call used a duplicate of MPI_COMM_WORLD from before mend::run, which also contains spares and "
                 "dead processes: make it of session.comm(), in the body"
               : "an MPI call used a communicator from before mend::run, whose messages --mend-rollback local does not "
                 "log: make it of session.comm(), in the body");
  return MPI_COMM_NULL;
}

int refuse_in_body(const std::string& sentence) {
  end_forked_child("called MPI");
  process_context().body = BodyState::refused;
  process_context().body_rules.end_job(sentence);
  return MPI_ERR_OTHER;
}

int refuse_wrong_use(const std::string& sentence) {
  if (!is_inside()) return MPI_ERR_OTHER;
  // From another thread, it would end the process.
  if (is_thread_of_body() && errors_are_thrown() && is_catchable(UsageError(sentence))) throw UsageError(sentence);
  return refuse_in_body(sentence);
}

int refuse_groups(const char* call) {
  if (!is_in_own_code()) return MPI_SUCCESS;
  return refuse_wrong_use(
      fmt::format("{} makes a communicator that cannot be interrupted when a process dies, and its groups may contain "
                  "spares: make it of session.comm(), by MPI_Comm_create or MPI_Comm_split",
                  call));
}

int refuse_partitioned(const char* call) {
  if (!is_inside() || !process_context().forbids_world) return MPI_SUCCESS;
  return refuse_wrong_use(fmt::format(
      "{} needs MPI_COMM_WORLD inside of the MPI library, which also contains spares and dead processes: use "
      "messages that are not partitioned",
      call));
}

bool must_be_kept(MPI_Comm comm) {
  return is_inside() && !frees_own_communicator() && comm != MPI_COMM_NULL &&
         comm == process_context().body_rules.session_comm();
}

int refuse_to_free(const char* call) {
  return refuse_in_body(fmt::format("{} was called for session.comm(), which mend frees: leave it alone", call));
}

void set_body_rules(BodyRules of_now) {
  process_context().body_rules = std::move(of_now);
  set_handler_elsewhere();
}

InBody::InBody() {
  ProcessContext& context = process_context();
  if (!std::exchange(context.refuses_exit, true)) ::on_exit(&refuse_to_exit, nullptr);
  context.thread_of_body = std::this_thread::get_id();
  context.frame_of_body = __builtin_frame_address(0);
  context.body = BodyState::inside;
}

InBody::~InBody() { process_context().body = BodyState::outside; }

void take_session_for_world(bool is_so) { process_context().world_is_session = is_so; }

WorldItself::WorldItself() : before_(std::exchange(process_context().world_is_session, false)) {}

WorldItself::~WorldItself() { process_context().world_is_session = before_; }

void end_bodies() { process_context().body = BodyState::over; }

void forbid_world() {
  if (std::exchange(process_context().forbids_world, true)) return;
  const WorldItself revoked;
  set_handler_elsewhere();  // the program may have set another one
  MPIX_Comm_revoke(MPI_COMM_WORLD);
}

int refuse_to_initialise() {
  return is_inside() ? refuse_in_body("MPI_Init was called in the body: mend::run has called it") : MPI_SUCCESS;
}

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// The PMPI functions are replaced, as in communicator_hooks.cpp, because Fortran calls them too.

int PMPI_Finalize() {
  static const auto library = mend::of_the_library<decltype(&PMPI_Finalize)>("PMPI_Finalize");
  if (!mend::is_inside()) return library();
  return mend::refuse_in_body("MPI_Finalize was called in the body: mend::run calls it when the body has returned");
}
/// Programs for Fenix have another definition (fenix/process/mpi.cpp).
extern "C" decltype(MPI_Finalize) MPI_Finalize __attribute__((weak, alias("PMPI_Finalize")));

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  comm = mend::resolve_to_ask(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_set_errhandler)>("PMPI_Comm_set_errhandler");
  // Otherwise the errors of calls that are refused there would be returned, and might not be seen.
  if (mend::is_forbidden(comm) && mend::is_inside()) return MPI_SUCCESS;
  if (mend::makes_deaths_fatal(comm, handler)) {
    return mend::refuse_in_body(
        "MPI_ERRORS_ARE_FATAL was set for session.comm() or a communicator made of it, and would have one death end "
        "all ranks: leave the handler alone");
  }
  return library(comm, handler);
}
extern "C" decltype(MPI_Comm_set_errhandler) MPI_Comm_set_errhandler
    __attribute__((weak, alias("PMPI_Comm_set_errhandler")));

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  comm = mend::resolve_to_ask(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_size)>("PMPI_Comm_size");
  mend::warn_of_world(comm, "MPI_Comm_size");
  return library(comm, size);
}
extern "C" decltype(MPI_Comm_size) MPI_Comm_size __attribute__((weak, alias("PMPI_Comm_size")));

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  comm = mend::resolve_to_ask(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
  mend::warn_of_world(comm, "MPI_Comm_rank");
  return library(comm, rank);
}
extern "C" decltype(MPI_Comm_rank) MPI_Comm_rank __attribute__((weak, alias("PMPI_Comm_rank")));

// Errors of MPI_File_open go to the error handler of files, which returns them, not to that of the communicator. Open
// MPI 5.0 may crash when it makes a window on a revoked communicator.

int PMPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  comm = mend::resolve(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_File_open)>("PMPI_File_open");
  if (mend::is_forbidden(comm)) return mend::refuse_world();
  if (auto* logged = mend::logged_calls_of(comm)) return logged->refuse("MPI_File_open");
  return library(comm, name, mode, info, file);
}
extern "C" decltype(MPI_File_open) MPI_File_open __attribute__((weak, alias("PMPI_File_open")));

int PMPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made) {
  comm = mend::resolve(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Win_create)>("PMPI_Win_create");
  if (mend::is_forbidden(comm)) return mend::refuse_world();
  if (auto* logged = mend::logged_calls_of(comm)) return logged->refuse("MPI_Win_create");
  return library(base, size, unit, info, comm, made);
}
extern "C" decltype(MPI_Win_create) MPI_Win_create __attribute__((weak, alias("PMPI_Win_create")));

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* made) {
  comm = mend::resolve(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Win_create_dynamic)>("PMPI_Win_create_dynamic");
  if (mend::is_forbidden(comm)) return mend::refuse_world();
  if (auto* logged = mend::logged_calls_of(comm)) return logged->refuse("MPI_Win_create_dynamic");
  return library(info, comm, made);
}
extern "C" decltype(MPI_Win_create_dynamic) MPI_Win_create_dynamic
    __attribute__((weak, alias("PMPI_Win_create_dynamic")));

int PMPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made) {
  comm = mend::resolve(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Win_allocate)>("PMPI_Win_allocate");
  if (mend::is_forbidden(comm)) return mend::refuse_world();
  if (auto* logged = mend::logged_calls_of(comm)) return logged->refuse("MPI_Win_allocate");
  return library(size, unit, info, comm, base, made);
}
extern "C" decltype(MPI_Win_allocate) MPI_Win_allocate __attribute__((weak, alias("PMPI_Win_allocate")));

int PMPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made) {
  comm = mend::resolve(comm);
  static const auto library = mend::of_the_library<decltype(&PMPI_Win_allocate_shared)>("PMPI_Win_allocate_shared");
  if (mend::is_forbidden(comm)) return mend::refuse_world();
  if (auto* logged = mend::logged_calls_of(comm)) return logged->refuse("MPI_Win_allocate_shared");
  return library(size, unit, info, comm, base, made);
}
extern "C" decltype(MPI_Win_allocate_shared) MPI_Win_allocate_shared
    __attribute__((weak, alias("PMPI_Win_allocate_shared")));

// NOLINTEND(readability-identifier-naming)
