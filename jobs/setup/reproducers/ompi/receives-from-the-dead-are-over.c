// receives-from-the-dead-are-over
//
// If the sender of a matched receive has died, mca_pml_ob1_recv_request_cancel (pml_ob1_recvreq.c) completes the
// receive with an error, and its memory is used for another receive, while fragments of the dead process are still on
// their way to it, or while it waits in a list to request more data. After some deaths of processes that are reached
// over TCP, a survivor crashes, or a receive gets data that no process sent to it. Here rank 1 stops in the middle of a
// long message, is declared dead, and its fragments arrive after that, when other receives have been posted.
// Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 3
// limit: 25
// never shown: on 5.0.7 without the correction either
// hangs: a receive from a living process does not end
// ends: the survivor has crashed
// options: --mca btl self,tcp --mca btl_tcp_flags send

#include "reproducer.h"

enum { bytes = 64 << 20, small = 1 << 20, receives = 8 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char* data = malloc(bytes);
  memset(data, rank, bytes);
  long pid = getpid();
  if (rank == 1) {
    MPI_Send(&pid, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Isend(data, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
    progress_ms(30000);
  }
  if (rank == 2) {
    int go;
    MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < receives; ++i) MPI_Send(data, small, MPI_CHAR, 0, 100 + i, MPI_COMM_WORLD);
    progress_ms(30000);
  }
  MPI_Recv(&pid, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_Message message;
  MPI_Mprobe(1, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  kill((pid_t)pid, SIGSTOP);
  MPI_Imrecv(data, bytes, MPI_CHAR, &message, &request);  // asks for the rest
  progress_ms(5);
  hold_dead(1);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    untestable("the message has arrived before its sender stopped");
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);

  char* got[receives];
  MPI_Request others[receives];
  for (int i = 0; i < receives; ++i) {
    got[i] = calloc(small, 1);
    MPI_Irecv(got[i], small, MPI_CHAR, 2, 100 + i, MPI_COMM_WORLD, &others[i]);
  }
  kill((pid_t)pid, SIGCONT);  // the fragments of the dead process arrive
  progress_ms(1000);
  for (int i = 0; i < receives; ++i) {
    int flag = 0;
    MPI_Test(&others[i], &flag, MPI_STATUS_IGNORE);
    if (flag) defect("a receive is complete to which nothing was sent");
  }
  int go = 1;
  MPI_Send(&go, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
  MPI_Waitall(receives, others, MPI_STATUSES_IGNORE);
  for (int i = 0; i < receives; ++i) {
    for (int at = 0; at < small; ++at)
      if (got[i][at] != 2) defect("a receive has data of the dead");
  }
  sound();
}
