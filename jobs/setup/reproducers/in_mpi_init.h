// For reproducers of defects in MPI_Init: they put their own ompi_comm_init_mpi3 before the library's, which makes
// MPI_COMM_WORLD. The fence at the end of MPI_Init is left out: it may wait for the dead processes of a reproducer,
// which is another defect (nobody-waits-for-dead-clients).

#pragma once

#define _GNU_SOURCE
#include "reproducer.h"
#include <dlfcn.h>

static bool is_past_first_fence = false;

// The work of the reproducer before MPI_COMM_WORLD is made.
static void before_communicators(int self);

// Takes the place of the library's function of that name.
int ompi_comm_init_mpi3(void) {
  is_past_first_fence = true;
  before_communicators((int)myself().rank);
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "ompi_comm_init_mpi3");
  return next();
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t infos,
                            pmix_op_cbfunc_t done, void* data) {
  if (is_past_first_fence) {
    if (done != NULL) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
  }
  pmix_status_t (*next)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void*) =
      (pmix_status_t(*)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void*))dlsym(
          RTLD_NEXT, "PMIx_Fence_nb");
  return next(procs, count, info, infos, done, data);
}
