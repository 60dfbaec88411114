// dead-peers-leave-shared-memory-usable
//
// If a process meets a dead process in MPI_Init whose shared memory the runtime has removed, it gives up shared memory
// altogether (sm_add_procs in btl_sm_module.c): it sends to all processes over TCP, and does not read its own segment.
// The others, which were quicker, continue to write there, and a receive of their messages waits for ever. Here rank 1
// dies when rank 0 has attached to its segment and rank 2 has not; the runtime removes the segment. Open MPI 5.0.x,
// 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 2
// limit: 15
// hangs: a message between two living processes, one of which has met a dead one in MPI_Init, does not arrive
// options: --mca btl self,sm,tcp --mca btl_tcp_if_include lo

#define _GNU_SOURCE
#include "reproducer.h"
#include <dlfcn.h>

static bool was_called = false;

// Takes the place of the library's function of that name, which MPI_Init calls after the processes have published their
// segments, and before they attach to those of the others.
int ompi_proc_complete_init(void) {
  was_called = true;
  const pmix_rank_t self = myself().rank;
  if (self == 1) {
    pause_ms(1000);
    die();
  }
  if (self == 2) pause_ms(2500);
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "ompi_proc_complete_init");
  return next();
}

// Leaves out the fences after the first one: they may wait for the dead process, which is another defect
// (nobody-waits-for-dead-clients).
pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t infos,
                            pmix_op_cbfunc_t done, void* data) {
  static int fences = 0;
  if (++fences > 1) {
    if (done != NULL) done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
  }
  pmix_status_t (*next)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void*) =
      (pmix_status_t(*)(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, pmix_op_cbfunc_t, void*))dlsym(
          RTLD_NEXT, "PMIx_Fence_nb");
  return next(procs, count, info, infos, done, data);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (!was_called) untestable("ompi_proc_complete_init was not called");
  int data = 1;
  if (rank == 0) {
    MPI_Send(&data, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    progress_ms(30000);
  }
  if (MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    defect("a message between living processes has failed");
  sound();
}
