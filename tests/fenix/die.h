/* Where programs for Fenix die in the tests. The argument --die=POINT:STEP:RANK:SPARES,... names who dies where: by
 * SIGKILL, at that point and step, if it has that rank of the resilient communicator, and as many spares wait. Or when, so
 * that nobody knows where: --die-after=PROCESS:MICROSECONDS,... names processes of the launch. */

#ifndef TESTS_FRAMEWORK_FENIX_DIE_H
#define TESTS_FRAMEWORK_FENIX_DIE_H

#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *deaths = "";

static inline void read_deaths(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--die=", 6) == 0) deaths = argv[i] + 6;
  }
}

static inline void die_at(const char *point, long step, int rank) {
  char mine[64];
  snprintf(mine, sizeof mine, "%s:%ld:%d:%d", point, step, rank, Fenix_get_nspare());
  const size_t length = strlen(mine);
  for (const char *at = strstr(deaths, mine); at != NULL; at = strstr(at + 1, mine)) {
    const int begins = at == deaths || at[-1] == ',';
    if (begins && (at[length] == '\0' || at[length] == ',')) kill(getpid(), SIGKILL);
  }
}

static pid_t killer = 0;

static inline long long microseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static inline void let_die_in(long long after) {
  const pid_t victim = getpid();
  const long long due = microseconds_now() + after;
  killer = fork();
  if (killer != 0) return;
  while (microseconds_now() < due && getppid() == victim) usleep(200);
  if (getppid() == victim) kill(victim, SIGKILL);
  _exit(0);
}

/* After MPI_Init. */
static inline void die_after(int argc, char **argv) {
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--die-after=", 12) != 0) continue;
    for (char *at = argv[i] + 12; *at != '\0'; at += *at == ',') {
      char *end = at;
      const long victim = strtol(at, &end, 10);
      const long after = strtol(end + 1, &at, 10);
      if (victim == process) let_die_in(after);
    }
  }
}

/* At the end of the work: a process that dies when the job is over already would not say its result. */
static inline void live_on(void) {
  if (killer > 0) kill(killer, SIGKILL);
}

#endif
