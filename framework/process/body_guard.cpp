#include "framework/process/body_guard.hpp"

#include "base/catchable.hpp"
#include "base/error.hpp"
#include "base/launch.hpp"
#include "base/log.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <mpi-ext.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

namespace mend {
namespace {

enum class Body { outside, inside, refused, over };

BodyRules rules;
Body body = Body::outside;
std::thread::id thread_of_body;

bool is_inside() { return body == Body::inside && std::this_thread::get_id() == thread_of_body; }

/// The job has ended when this returns, and so must the call. It may come from a destructor: nothing is thrown.
int refuse(const std::string& sentence) {
  body = Body::refused;
  rules.end_job(sentence);
  return MPI_ERR_OTHER;
}

bool must_be_kept(MPI_Comm comm) { return is_inside() && comm != MPI_COMM_NULL && comm == rules.session_comm(); }

int refuse_to_free(const char* call) {
  return refuse(fmt::format("{} was called for session.comm(), which mend frees: leave it alone", call));
}

/// The others are told, and leave MPI together with this process.
void refuse_to_exit(int status, void*) {
  static const pid_t self = ::getpid();
  const bool is_ours = ::getpid() == self && std::this_thread::get_id() == thread_of_body;
  if (!is_ours || body == Body::outside || body == Body::over) return;
  if (body == Body::inside)
    refuse(fmt::format("exit({}) was called in the body: return from it, or throw to end the job", status));
  rules.leave();
}

void on_world_error(MPI_Comm*, int*, ...) {
  constexpr const char* sentence =
      "an MPI call was made in MPI_COMM_WORLD, which spares and the dead are in, too: use session.comm()";
  if (body == Body::over) {
    if (launch::speaks_for_all()) {
      log::error(
          "an MPI call was made in MPI_COMM_WORLD after mend::run, which has revoked it because spares and the dead "
          "are "
          "in it, too: make a duplicate before mend::run, and use that");
    }
    std::exit(static_cast<int>(ExitCode::usage));
  }
  if (!is_inside()) return;
  if (errors_are_thrown() && is_catchable(EnvironmentError(sentence))) throw UsageError(sentence);
  refuse(sentence);
}

}  // namespace

void set_body_rules(BodyRules of_now) { rules = std::move(of_now); }

InBody::InBody() {
  static const bool meets_exit [[maybe_unused]] = ::on_exit(&refuse_to_exit, nullptr) == 0;
  thread_of_body = std::this_thread::get_id();
  body = Body::inside;
}

InBody::~InBody() { body = Body::outside; }

void end_bodies() { body = Body::over; }

void forbid_world() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&on_world_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  MPIX_Comm_revoke(MPI_COMM_WORLD);
}

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

/// Programs for Fenix have another (fenix/mpi.cpp).
__attribute__((weak)) int MPI_Finalize() {
  if (!mend::is_inside()) return PMPI_Finalize();
  return mend::refuse("MPI_Finalize was called in the body: mend::run does that, when the body has returned");
}

int MPI_Comm_free(MPI_Comm* comm) {
  if (mend::must_be_kept(*comm)) return mend::refuse_to_free("MPI_Comm_free");
  return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (mend::must_be_kept(*comm)) return mend::refuse_to_free("MPI_Comm_disconnect");
  return PMPI_Comm_disconnect(comm);
}

// NOLINTEND(readability-identifier-naming)
