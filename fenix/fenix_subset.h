/* The shell of a subset for C. It is separate from fenix.h because fenix/data/subset.hpp, which fenix.h includes in
 * C++, needs it. C99 and C++. */

#ifndef MEND_FENIX_SUBSET_H
#define MEND_FENIX_SUBSET_H

/** Some elements of a member. */
typedef struct {
  void *impl;
} Fenix_Data_subset;

#endif
