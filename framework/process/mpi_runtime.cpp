#include "framework/process/mpi_runtime.hpp"

#include "base/death/crash_report.hpp"
#include "base/death/forked_child.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/job_status.hpp"
#include "transport/library_function.hpp"
#include "framework/process/process_context.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <pmix.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace mend {
namespace {

constexpr const char* layer_variable = "OMPI_MCA_pml";
constexpr const char* layer_for_failures = "ob1";

/// Returns the list of components in `variable`; nothing if it is empty, which for the library means any component.
const char* component_list(const char* variable) {
  const char* const list = std::getenv(variable);
  return list == nullptr || *list == '\0' ? nullptr : list;
}

/// Sets the list of components in `variable` to `own`; a list of the user takes precedence.
void set_components(const char* variable, const char* own) {
  const char* const users = component_list(variable);
  if (users != nullptr && launch::processes()) return;  // mend run has chosen it
  ::setenv(variable, users == nullptr ? own : launch::components(users, own).c_str(), 1);
}

/// Sets parameters whose defaults in a plain mpirun do not work with fault tolerance (docs/open-mpi.md). The user's own
/// settings take precedence.
void set_library_defaults() {
  ::setenv("OMPI_MCA_mpi_event_tick_rate", "100", 0);
  // On a machine with a fast network, the library may choose components by itself that do not survive failures.
  if (component_list(layer_variable) == nullptr) ::setenv(layer_variable, layer_for_failures, 1);
  set_components("OMPI_MCA_btl", launch::transports_by_default);
  set_components("OMPI_MCA_coll", launch::collectives_by_default);
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
  ::setenv("OMPI_MCA_coll_tuned_allgatherv_algorithm", "2", 0);
  ::setenv("OMPI_MCA_btl_sm_free_list_max", "-1", 0);
  ::setenv("OMPI_MCA_btl_tcp_disable_family", "6", 0);
  ::setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
  ::setenv("OMPI_MCA_mpi_add_procs_cutoff", "1024", 0);
}

/// Returns the library's control variable mpi_ft_enable: true if the library survives deaths.
bool library_tolerates_failures() {
  // Open MPI takes the level requested here as the level of all of MPI.
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (MPI_T_init_thread(provided, &provided) != MPI_SUCCESS) return false;
  int index = 0;
  int enabled = 0;
  int count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index("mpi_ft_enable", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    MPI_T_cvar_read(handle, &enabled);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return enabled != 0;
}

/// Has the library's function `name` initialise MPI. mend's crash handlers are removed for this time: the library
/// installs its own, which show where a process crashes, only for signals that have no other handler.
template <class Init, class... Arguments>
int init_by_library(const char* name, Arguments... arguments) {
  if (const int refused = refuse_to_initialise(); refused != MPI_SUCCESS) return refused;
  stop_reporting_crashes();
  const int code = of_the_library<Init>(name)(arguments...);
  report_crashes(CrashStage::early);
  return code;
}

}  // namespace

void before_mpi_init() {
  if (std::exchange(process_context().has_prepared_mpi, true)) return;
  // A message to a process that has just died must be an error, and not end this process.
  std::signal(SIGPIPE, SIG_IGN);
  job_status::started();
  reach("init.before");
  set_library_defaults();
}

void after_mpi_init() {
  if (std::exchange(process_context().has_started_mpi, true)) return;
  job_status::running();
  watch_forks();
  reach("init.after");
}

void leave_mpi_alone() {
  // MPI_Finalize would shrink MPI_COMM_WORLD and run a barrier. A death that some processes learn of late would block
  // the others there. So this process only tells the runtime that it ends normally; the system frees the rest.
  PMIx_Finalize(nullptr, 0);
}

MpiRuntime::MpiRuntime() {
  if (is_mpi_finalised()) {
    throw UsageError(
        "mend::run was called after MPI_Finalize, which is the end of MPI in a process: call it before, or leave "
        "MPI_Init and MPI_Finalize to it");
  }
  before_mpi_init();
  int initialised = 0;
  MPI_Initialized(&initialised);
  int provided = MPI_THREAD_SINGLE;
  if (initialised) {
    MPI_Query_thread(&provided);
  } else {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    ours_ = true;
  }
  after_mpi_init();

  // Errors that belong to no communicator go to the handler of MPI_COMM_SELF.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  if (provided < MPI_THREAD_FUNNELED) {
    throw UsageError("mend needs MPI_THREAD_FUNNELED or more: initialise MPI with it, or let mend::run do so");
  }
  // When MPI calls meet a failure, wait, or make communicators, mend's code inside them is not protected against other
  // threads that are in MPI at the same time.
  if (provided == MPI_THREAD_MULTIPLE) {
    throw UsageError(
        "mend does not support MPI_THREAD_MULTIPLE, in which several threads are in MPI at once: initialise MPI with "
        "MPI_THREAD_SERIALIZED or less, or let mend::run do so");
  }
}

bool MpiRuntime::tolerates_failures() const {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size == 1 || library_tolerates_failures();
}

void MpiRuntime::require_layer_for_failures() const {
  const std::string_view layer = std::getenv(layer_variable) == nullptr ? "" : std::getenv(layer_variable);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (layer.empty() || layer == layer_for_failures || size == 1 || !library_tolerates_failures()) return;
  throw UsageError(fmt::format("pml {} is set for Open MPI, and only ob1 survives failures: leave it out", layer));
}

MpiRuntime::~MpiRuntime() {
  if (ours_) {
    reach("finalize.before");
    if (alone_) {
      leave_mpi_alone();
    } else {
      MPI_Finalize();
    }
  }
  job_status::closed();
}

}  // namespace mend

// NOLINTBEGIN(readability-identifier-naming): MPI's names

// The PMPI functions are replaced: C calls and the library's wrappers for Fortran both reach them.
int PMPI_Init(int* argc, char*** argv) { return mend::init_by_library<decltype(&PMPI_Init)>("PMPI_Init", argc, argv); }
extern "C" __attribute__((weak, alias("PMPI_Init"))) decltype(MPI_Init) MPI_Init;

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return mend::init_by_library<decltype(&PMPI_Init_thread)>("PMPI_Init_thread", argc, argv, required, provided);
}
extern "C" __attribute__((weak, alias("PMPI_Init_thread"))) decltype(MPI_Init_thread) MPI_Init_thread;

// NOLINTEND(readability-identifier-naming)
