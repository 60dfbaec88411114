// deferred-agreements-stay-whole
//
// A message of an agreement that arrives while the process handles another one is kept for later (era_bounce_event_t,
// coll_ftagree_earlyreturning.c). Three pointers lie behind the message's header there, where its body has been copied
// to, and overwrite 24 bytes of it: the value that is agreed on, and the ranks that have failed. Here two threads of
// each process agree at the same time. With btl/uct, which makes progress while it sends, one thread is enough, and a
// process crashes when it looks up a rank that does not exist. Open MPI 5.0.x, 6.0.x and main (read, November 2026).
//
// processes: 3
// runs: 3
// limit: 60
// ends: a process has crashed
// options: --mca btl self,sm

#include "reproducer.h"

#include <pthread.h>

enum { bit = 0x40000000, seconds_at_most = 10 };

static MPI_Comm communicators[2];

static void* agree(void* which) {
  MPI_Comm communicator = communicators[(intptr_t)which];
  const double begun = seconds();
  for (int i = 0;; ++i) {
    // Rank 0 ends it, by a bit that it leaves out.
    int agreed = rank == 0 && seconds() - begun > seconds_at_most ? i : bit | i;
    const int code = MPIX_Comm_agree(communicator, &agreed);
    if (code != MPI_SUCCESS) defect("an agreement without a failure ends with class %d", class_of(code));
    if (agreed == i) return NULL;
    if (agreed != (bit | i)) defect("all processes say %x, and agree on %x", bit | i, agreed);
  }
}

int main(int argc, char** argv) {
  pthread_t other;
  int provided;
  end_with_launcher(90);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) untestable("this Open MPI has no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
    MPI_Comm_set_errhandler(communicators[i], MPI_ERRORS_RETURN);
  }
  pthread_create(&other, NULL, agree, (void*)1);
  agree((void*)0);
  pthread_join(other, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) sound();
  pause_ms(10000);
}
