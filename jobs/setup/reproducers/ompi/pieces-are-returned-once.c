// pieces-are-returned-once
//
// A long message that the receiver reads by itself has a record (rdma_frag) by which the receiver reports that it has
// read it. mca_pml_ob1_send_request_cancel (pml_ob1_sendreq.c) returns the record when the receiver has died, and the
// last message of the dead process, which may still be on its way, returns it again: two later messages share a record,
// and a send waits for ever although all data has arrived. Here rank 0 declares rank 1 dead, and the last message of
// rank 1 arrives after that; two messages to rank 2 follow. (The other half of the correction, a message that is
// returned by its callback and by its sender when a connection is refused at once, is not shown here.) Open MPI 5.0.x,
// 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 2
// limit: 20
// hangs: a message that has arrived is waited for for ever
// ends: the survivor has crashed
// options: --mca btl self,sm

#include "reproducer.h"

enum { bytes = 4 << 20 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char *one = calloc(bytes, 1), *other = calloc(bytes, 1);
  MPI_Request requests[2];
  if (rank == 1) {
    pause_ms(1000);  // rank 0 has given up by then
    MPI_Recv(one, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    progress_ms(20000);
  }
  if (rank == 2) {
    pause_ms(2500);
    MPI_Irecv(one, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    progress_ms(20000);
  }
  MPI_Isend(one, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[0]);
  progress_ms(200);
  hold_dead(1);
  if (MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS)
    untestable("the message was sent before its receiver died");
  progress_ms(1500);  // the last message of the dead process arrives
  MPI_Isend(one, bytes, MPI_CHAR, 2, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(other, bytes, MPI_CHAR, 2, 2, MPI_COMM_WORLD, &requests[1]);
  if (MPI_Wait(&requests[0], MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE) != MPI_SUCCESS)
    defect("a message to a living process has failed");
  sound();
}
