// The program that the tests of `mend run` launch: its first argument says what it does.

#include "base/death/crash_report.hpp"
#include "base/telemetry/job_status.hpp"

#include <mpi.h>
// Needs the header above.
#include <fcntl.h>
#include <mpi-ext.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

void say(const char* word) {
  std::printf("%s\n", word);
  std::fflush(stdout);
}

/// The living processes meet on a repaired communicator. Returns false if this process is alone.
bool recover() {
  int value = 0;
  while (MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS) {
  }
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPI_Comm repaired = MPI_COMM_NULL;
  if (MPIX_Comm_shrink(MPI_COMM_WORLD, &repaired) != MPI_SUCCESS) return false;
  const bool together = MPI_Barrier(repaired) == MPI_SUCCESS;
  MPI_Comm_free(&repaired);
  return together;
}

/// Returns true for the first call with this file, in any process.
bool is_first_time(const char* file) {
  const int made = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (made >= 0) close(made);
  return made >= 0;
}

[[noreturn]] void hang() {
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view task = argc > 1 ? argv[1] : "";
  const char* launched_as = std::getenv("PMIX_RANK");
  const bool first = launched_as == nullptr || std::string_view(launched_as) == "0";

  mend::job_status::loaded();
  if (task == "wrong-arguments") {
    // mpirun ends all processes as soon as one has failed, so the silent ones leave the speaking one time to write.
    if (!first) sleep(2);
    if (first) std::fprintf(stderr, "subject: there is no such thing\n");
    mend::job_status::left(2);
    return 2;
  }
  if (task == "exit-5-before-run" || task == "exit-0-before-run") {
    const int code = task == "exit-5-before-run" ? 5 : 0;
    if (!first) mend::job_status::left(code, false);
    if (!first) return code;
  }
  if (task == "exit-0-on-all-before-run") {
    mend::job_status::left(0, false);
    return 0;
  }
  if (task == "work-in-a-child") {
    const pid_t child = fork();
    int status = 0;
    if (child > 0) return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  mend::report_crashes(mend::CrashStage::early);
  if (task == "crash-before-init" && !first) raise(SIGSEGV);
  if (task == "all-crash-before-init") std::abort();
  if (task == "crash-after-own-init") {
    mend::stop_reporting_crashes();
    MPI_Init(&argc, &argv);
    mend::report_crashes(mend::CrashStage::early);
    if (!first) raise(SIGSEGV);
    mend::job_status::started();
    hang();
  }
  mend::job_status::started();
  if (task == "init-fails") return 14;
  if (task == "die-before-init" && !first) raise(SIGKILL);
  if (task == "hang-before-init" && !first) hang();
  const bool strikes = argc > 2 && std::getenv("PMIX_RANK") == std::string_view("1");
  if (task == "die-once-before-init" && strikes && is_first_time(argv[2])) raise(SIGKILL);
  if (task == "stop-once-before-init" && strikes && is_first_time(argv[2])) raise(SIGSTOP);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  mend::job_status::running();
  if (task == "stop-once-after-init" && strikes && is_first_time(argv[2])) raise(SIGSTOP);
  if (task == "hang-before-introduction" && !first) hang();
  if (task == "hang-before-introduction" || task == "stop-once-after-init") MPI_Barrier(MPI_COMM_WORLD);
  mend::job_status::introduced();
  mend::stop_reporting_crashes();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  if (task == "print-environment" && rank == 0) {
    for (const char* name : {"MEND_SPARES", "MEND_TERMINAL"}) std::printf("%s=%s\n", name, std::getenv(name));
    int processes = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    std::printf("processes=%d\n", processes);
  }
  if (task == "work-in-a-child") sleep(3);
  if (task == "all-die") raise(SIGKILL);
  if (task == "rank-0-dies" || task == "rank-1-dies") {
    if (rank == (task == "rank-0-dies" ? 0 : 1)) raise(SIGKILL);
    if (!recover()) return 1;
  }
  if (task == "wait-without-handler") {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) say("ready");
    hang();
  }
  if (task == "wait") {
    static const char heard[] = "heard SIGUSR1\n";
    std::signal(SIGUSR1, [](int) { [[maybe_unused]] const auto n = write(STDOUT_FILENO, heard, sizeof heard - 1); });
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) say("ready");
    for (;;) pause();
  }
  const auto code = task == "fail" ? mend::ExitCode::failed : mend::ExitCode::ok;
  if (task == "stop-in-exit" && !first) std::atexit([] { raise(SIGSTOP); });  // runs after the report below
  if (task != "no-report") {
    mend::job_status::finished(code, mend::ProcessId{static_cast<std::uint32_t>(rank)}, mend::Rank{rank});
    ::on_exit([](int status, void*) { mend::job_status::left(status); }, nullptr);
  }
  if (task == "stop-once-after-init") {
    say("goes on");
    _exit(0);  // MPI_Finalize may wait for dead processes
  }
  if (task == "stop-after-end" && !first) raise(SIGSTOP);
  if (task == "hang-after-end" && !first) hang();
  MPI_Finalize();
  mend::job_status::closed();
  if (task == "work-after-end") sleep(3);
  if (task == "work-after-end" && first) say("worked");
  mend::report_crashes();
  if (task == "crash-after-end" && !first) raise(SIGSEGV);
  if (task == "abort-after-end" && !first) std::abort();
  if (task == "killed-after-end" && !first) raise(SIGKILL);
  if (task == "leaves-quickly-after-end" && !first) {
    mend::job_status::left_quickly(0);
    _exit(0);
  }
  return task == "late-error" ? 7 : static_cast<int>(code);
}
