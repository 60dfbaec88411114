// kept-acknowledgements-are-whole
//
// The receiver of a long message acknowledges its first part, and the sender then sends the rest. If no fragment is
// free for the acknowledgement, MCA_PML_OB1_ADD_ACK_TO_PENDING (pml_ob1_recvreq.h) keeps it for later, without its
// size: what happens to be there is sent as many bytes, so the process crashes, or the message does not arrive. Here
// rank 0 has more messages for rank 2 on their way than shared memory has fragments when it receives from rank 1. No
// process dies. Open MPI 5.0.0 to 5.0.8; 5.0.9 and later have corrected it.
//
// processes: 3
// runs: 2
// limit: 40
// hangs: a long message that a process receives while it has no fragment left does not arrive
// ends: a process has crashed
// options: --mca btl self,sm --mca smsc ^cma,knem,xpmem --mca btl_sm_fbox_max 0

#include "reproducer.h"

enum { many = 5000, short_bytes = 100, long_bytes = 1 << 20 };

int main(int argc, char** argv) {
  static char data[short_bytes];
  static MPI_Request requests[many];
  char* message = calloc(long_bytes, 1);
  begin(&argc, &argv);
  if (rank == 0) {
    MPI_Request received;
    MPI_Irecv(message, long_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &received);
    for (int i = 0; i < many; ++i) MPI_Isend(data, short_bytes, MPI_CHAR, 2, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    sound();
  }
  if (rank == 1) {
    pause_ms(500);  // rank 0 has sent what it can by then
    MPI_Send(message, long_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
  if (rank == 2) {
    pause_ms(2000);  // not in MPI: it takes nothing
    for (int i = 0; i < many; ++i) MPI_Recv(data, short_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  pause_ms(20000);
}
