/* Programs for Fenix that check much in one run: each check that fails is said, and counted. */

#ifndef TESTS_FENIX_CHECKS_H
#define TESTS_FENIX_CHECKS_H

#include <stdio.h>

static int rank = 0;
static int failed = 0;

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      ++failed;                                                                      \
      fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #condition); \
    }                                                                                \
  } while (0)

#endif
