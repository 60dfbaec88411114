// Common code of the reproducers in which process 2 revokes a communicator while all processes make another one from
// it.

#pragma once

#include "reproducer.h"

#include <pthread.h>
#include <sched.h>

static MPI_Comm parent;

// Revokes `parent` after the given number of microseconds.
static inline void* revoke_after(void* microseconds) {
  for (const double end = seconds() + 1e-6 * *(const int*)microseconds; seconds() < end;) sched_yield();
  MPIX_Comm_revoke(parent);
  return NULL;
}

// Makes `parent`, which process 2 begins to revoke in a thread that is to be joined.
static inline void make_parent(pthread_t* revoker, int* microseconds) {
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) pthread_create(revoker, NULL, &revoke_after, microseconds);
}
