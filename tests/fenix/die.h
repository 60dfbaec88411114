/* Where programs for Fenix die in the tests. The argument --die=POINT:STEP:RANK:SPARES,... names who dies where: by
 * SIGKILL, at that point and step, if it has that rank of the resilient communicator, and as many spares wait. */

#ifndef TESTS_FRAMEWORK_FENIX_DIE_H
#define TESTS_FRAMEWORK_FENIX_DIE_H

#include <fenix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

#endif
