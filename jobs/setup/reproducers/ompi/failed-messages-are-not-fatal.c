// failed-messages-are-not-fatal
//
// If the receiver dies while a process waits for a send, the send is completed with an error. MPI_Send is over then,
// and has not freed its request. When the transport gives up its last piece later, send_request_pml_complete
// (pml_ob1_sendreq.h) treats that as the failure of a request that nobody waits for, and ends the process with "Send
// error after request freed". (The same in pml_ob1_recvreq.h.) Here rank 1 stops, more messages are sent to it than the
// sockets take, it is declared dead, and is killed when MPI_Send has reported that. Open MPI 5.0.x up to 5.0.9; changed
// and still there in 5.0.10, 6.0.x and main (896da71935): the check is now for freed requests, so that one that is
// given up after MPI_Request_free is fatal (read, August 2026).
//
// processes: 2
// runs: 2
// limit: 20
// ends: the survivor has ended itself over a message to the dead
// options: --mca btl self,tcp --mca btl_tcp_if_include lo

#include "reproducer.h"

enum { bytes = 32 << 10, messages = 1000 };  // more than the sockets take

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char* data = calloc(bytes, 1);
  long pid = getpid();
  if (rank == 1) {
    MPI_Send(&pid, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    progress_ms(100);
    raise(SIGSTOP);
    pause();
  }
  MPI_Recv(&pid, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pause_ms(1000);
  static MPI_Request requests[messages];
  for (int i = 0; i < messages; ++i) MPI_Isend(data, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[i]);
  hold_dead(1);
  if (MPI_Send(data, bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD) == MPI_SUCCESS)
    untestable("the messages were sent before their receiver died");
  kill((pid_t)pid, SIGKILL);
  progress_ms(1000);
  sound();
}
