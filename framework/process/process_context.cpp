#include "framework/process/process_context.hpp"

#include "base/death/crash_report.hpp"
#include "base/launch.hpp"
#include "base/telemetry/job_board.hpp"
#include "base/telemetry/job_status.hpp"
#include "framework/spawn/parent_death_signal.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace mend {
namespace {

void tell_exit(int status, void* /*unused*/) {
  if (process_context().is_forked()) return;
  int has_met_others = 0;
  MPI_Initialized(&has_met_others);
  job_status::left(status, has_met_others != 0);
}

/// Runs before main.
const bool has_begun [[maybe_unused]] = [] {
  process_context().parent_death_pipe = take_parent_death_signal();
  board::join();
  job_status::loaded();
  ::on_exit(tell_exit, nullptr);
  if (!launch::host_address()) report_crashes(CrashStage::early);
  return true;
}();

}  // namespace

bool ProcessContext::is_forked() const { return ::getpid() != pid; }

ProcessContext& process_context() {
  static ProcessContext* const context = [] {
    auto made = std::make_unique<ProcessContext>();
    made->pid = ::getpid();
    return made.release();
  }();
  return *context;
}

}  // namespace mend
