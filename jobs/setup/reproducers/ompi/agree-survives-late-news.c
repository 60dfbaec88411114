// agree-survives-late-news
//
// If the report of a death arrives while MPIX_Comm_agree runs, its handling is deferred, with a pointer to the
// agreement's record (era_mark_process_failed in coll_ftagree_earlyreturning.c). When the report is handled, the
// agreement may have ended and the record may have been released: survivors crash, one run in forty when a rank dies
// during a commit on a busy machine. Here rank 1 closes its connections, as the kernel does for a dead process, when
// its contribution is on its way and a message to it is unread: the answer is refused at once, inside the agreement,
// before the runtime reports a death. The C library overwrites memory that is released (MALLOC_PERTURB_).
// Open MPI 5.0.x up to 5.0.9; fixed in 5.0.10 (a9a3d18b0b), 6.0.x and main (a4e22d7c70), where a late call still sets
// the return code of a completed agreement (read, August 2026).
//
// processes: 2
// runs: 3
// limit: 15
// hangs: MPIX_Comm_agree does not end
// ends: the survivor has crashed
// options: --mca btl self,tcp -x MALLOC_PERTURB_=85

#include "reproducer.h"
#include <sys/socket.h>

enum { most_descriptors = 1024 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  bool before[most_descriptors];
  struct sockaddr_storage address;
  for (int fd = 0; fd < most_descriptors; ++fd) {
    socklen_t length = sizeof address;
    before[fd] = getpeername(fd, (struct sockaddr*)&address, &length) == 0;
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int yes = 1;
  MPIX_Comm_agree(comm, &yes);
  MPI_Barrier(comm);
  if (rank == 1) {
    pause_ms(500);  // the message of rank 0 has arrived, and is unread
    MPI_Request request;
    MPIX_Comm_iagree(comm, &yes, &request);
    for (int fd = 3; fd < most_descriptors; ++fd) {
      socklen_t length = sizeof address;
      if (!before[fd] && getpeername(fd, (struct sockaddr*)&address, &length) == 0) close(fd);
    }
    pause_ms(30000);
  }
  char message[64] = "unread";
  MPI_Send(message, sizeof message, MPI_CHAR, 1, 5, comm);
  pause_ms(1000);
  MPIX_Comm_agree(comm, &yes);
  progress_ms(100);
  for (int i = 0; i < 5; ++i) {
    yes = 1;
    MPIX_Comm_agree(comm, &yes);
  }
  sound();
}
