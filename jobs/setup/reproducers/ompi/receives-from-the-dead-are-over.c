// receives-from-the-dead-are-over
//
// If the sender of a matched receive has died, mca_pml_ob1_recv_request_cancel (pml_ob1_recvreq.c) completes the
// receive with an error, and its memory is used for another receive, while fragments of the dead process are still on
// their way to it, or while it waits in a list to request more data. After some deaths of processes that are reached
// over TCP, a survivor crashes, or a receive gets data that no process sent to it. Here ranks 1 and 2 stop in the
// middle of a long message each. Rank 1 is declared dead, and its receive is over; its fragments arrive when rank 0
// receives from rank 2. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 3
// limit: 25
// hangs: a receive from a living process does not end
// ends: the survivor has crashed
// options: --mca btl self,tcp --mca btl_tcp_flags send --mca btl_tcp_if_include lo

#include "reproducer.h"

enum { bytes = 8 << 20 };  // the first 64 KiB are sent at once, the rest when the receiver asks for it

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char* data = malloc(bytes);
  memset(data, rank, bytes);
  long pid[3] = {0, getpid(), getpid()};
  if (rank > 0) {
    MPI_Request request;
    MPI_Send(&pid[rank], 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    MPI_Isend(data, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
    progress_ms(500);
    raise(SIGSTOP);
    progress_ms(30000);
  }
  for (int i = 1; i < 3; ++i) MPI_Recv(&pid[i], 1, MPI_LONG, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pause_ms(1500);
  MPI_Request request;
  MPI_Irecv(data, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
  progress_ms(100);  // asks for the rest
  hold_dead(1);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    untestable("the message has arrived before its sender stopped");

  char* got = calloc(bytes, 1);
  MPI_Irecv(got, bytes, MPI_CHAR, 2, 2, MPI_COMM_WORLD, &request);
  kill((pid_t)pid[1], SIGCONT);  // the fragments of the dead process arrive
  progress_ms(1000);
  kill((pid_t)pid[2], SIGCONT);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int at = 0; at < bytes; ++at)
    if (got[at] != 2) defect("a receive from rank 2 has data of rank %d, which is dead", got[at]);
  sound();
}
