// agree-survives-late-news
//
// News of a death that arrives while MPIX_Comm_agree is at work are put off, with a pointer to the agreement's record
// (era_mark_process_failed in coll_ftagree_earlyreturning.c). By the time they are dealt with the agreement may have ended
// and the record been released: survivors crash, one run in forty when a rank dies during a commit on a busy machine. Here
// rank 1 dies when its contribution is on its way, with a message unread, so that the answer to it is refused at once; and
// the C library overwrites memory that is released (MALLOC_PERTURB_). Fixed in 5.0.10 (a9a3d18b0b), 6.0.x and main
// (a4e22d7c70), where a late call still sets the return code of a completed agreement (read, August 2026).
//
// processes: 2
// runs: 5
// limit: 15
// hangs: MPIX_Comm_agree does not end
// ends: the survivor has crashed
// options: --mca btl self,tcp -x MALLOC_PERTURB_=85

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int yes = 1;
  MPIX_Comm_agree(comm, &yes);
  MPI_Barrier(comm);
  if (rank == 1) {
    pause_ms(300);  // what rank 0 sends is here, and unread
    alarm(0);
    // Dies outside of the library's sight, when its contribution has been handed to the kernel.
    MPI_Request request;
    MPIX_Comm_iagree(comm, &yes, &request);
    die();
  }
  char message[64] = "unread";
  MPI_Send(message, sizeof message, MPI_CHAR, 1, 5, comm);
  pause_ms(800);  // rank 1 is dead by now; nothing of that has been read
  MPIX_Comm_agree(comm, &yes);
  for (int i = 0; i < 20; ++i) {
    progress_ms(5);
    yes = 1;
    MPIX_Comm_agree(comm, &yes);
  }
  sound();
}
