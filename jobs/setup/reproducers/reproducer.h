// Common code of the reproducers: start, verdict, and two ways for a process to be dead. A reproducer consists of this
// file and its own file; `mpicc NAME.c -lpmix` compiles it, and the comment at its top says how it is launched.
//
// A reproducer prints one line, "defect: WHAT", "sound", or "untestable: WHY", and the first line counts. Processes do
// not wait for each other after that: the process that has printed it ends at once, and the others end with mpirun.

#pragma once

#include <mpi.h>
#include <mpi-ext.h>
#include <pmix.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int rank = -1, size = 0;

static inline double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void pause_ms(int ms) {
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
  while (nanosleep(&time, &time) != 0) {
  }
}

// Prints one line, in one piece, and ends this process.
static inline void say_and_end(const char* kind, const char* format, va_list arguments) {
  char text[400], line[480];
  vsnprintf(text, sizeof text, format, arguments);
  const int length = snprintf(line, sizeof line, "%s%s\n", kind, text);
  if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(1);
  pause_ms(200);  // so that mpirun reads it before it learns of the end
  _exit(0);
}
static inline void defect(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say_and_end("defect: ", format, arguments);
}
static inline void untestable(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say_and_end("untestable: ", format, arguments);
}
static inline void sound(void) {
  static va_list none;
  say_and_end("sound", "", none);
}

// From now on, a crash of this process shows the defect.
static const char* words_of_a_crash;
static inline void say_crash(int signal) {
  (void)signal;
  defect("%s", words_of_a_crash);
}
static inline void crash_is_a_defect(const char* words) {
  words_of_a_crash = words;
  signal(SIGSEGV, say_crash);
}

static inline void die(void) {
  kill(getpid(), SIGKILL);
  pause();
}

// Ensures that no process outlives its launcher, or runs for more than `limit` seconds.
static inline void end_with_launcher(unsigned limit) {
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(limit);
}

// Initialises MPI, with errors returned.
static inline void begin(int* argc, char*** argv) {
  end_with_launcher(60);
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

// Initialises MPI for calls by several threads; errors are fatal.
static inline void begin_with_threads(int* argc, char*** argv) {
  end_with_launcher(60);
  int threads;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &threads);
  if (threads != MPI_THREAD_MULTIPLE) untestable("the library does not allow calls by several threads");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static inline int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

// Lets the library work for a while.
static inline void progress_ms(int ms) {
  for (const double end = seconds() + 1e-3 * ms; seconds() < end;) {
    int flag;
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, 32000, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
}

// Returns true if there is time for another round. All processes call it at the beginning of each round. Process 0
// reads the clock in one round of 50, and ends the rounds after 30 s: on a busy machine they would take longer than the
// limit.
static inline bool is_time_for(int round) {
  static double end;
  int time = 1;
  if (round == 0) end = seconds() + 30;
  if (round % 50 == 49) {
    time = seconds() < end;
    MPI_Bcast(&time, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return time != 0;
}

// Waits until this process's library knows that `dead` processes of MPI_COMM_WORLD are dead.
static inline void wait_for_deaths(int dead) {
  for (;;) {
    MPI_Group group;
    int count;
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &group);
    MPI_Group_size(group, &count);
    MPI_Group_free(&group);
    if (count >= dead) return;
    progress_ms(1);
  }
}

static inline pmix_proc_t myself(void) {
  pmix_proc_t proc;
  PMIX_PROC_CONSTRUCT(&proc);
  const char* space = getenv("PMIX_NAMESPACE");
  const char* number = getenv("PMIX_RANK");
  if (space == NULL || number == NULL) untestable("the launcher is not PMIx's");
  PMIX_LOAD_PROCID(&proc, space, (pmix_rank_t)atoi(number));
  return proc;
}

// Reports to this process's library, and to no other, that `other` is dead, as the runtime does for a killed process.
// The connections to `other` are not touched: so the report can come before a connection ends.
static inline void hold_dead(int other) {
  static pmix_proc_t dead;
  static pmix_info_t info[2];
  static const bool yes = true;
  dead = myself();
  dead.rank = (pmix_rank_t)other;
  PMIX_INFO_LOAD(&info[0], PMIX_EVENT_AFFECTED_PROC, &dead, PMIX_PROC);
  PMIX_INFO_LOAD(&info[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
  if (PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &dead, PMIX_RANGE_PROC_LOCAL, info, 2, NULL, NULL) < 0)
    untestable("PMIx_Notify_event has failed");
}
