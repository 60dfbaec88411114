// uct-over-tcp-keeps-data
//
// Not corrected, and refused by mend run. Two processes that exchange messages of more than 16 KiB over btl/uct, with
// UCX's transport tcp, get some of them with MPI_SUCCESS and without the data after the first 8,104 bytes: that is what
// mca_btl_uct_put (btl_uct_rdma.c) writes into the receiver's memory. The cause is not known. Messages in one direction
// are whole. Needs an Open MPI with UCX. Open MPI 5.0.7, with UCX 1.13 and 1.18.
//
// processes: 2
// options: --mca btl self,uct --mca btl_uct_memory_domains tcp --mca btl_uct_transports tcp
// runs: 3
// limit: 20
// hangs: an exchange does not end

#include "reproducer.h"

enum { length = 32768, rounds = 200 };

int main(int argc, char** argv) {
  static unsigned char ours[length], theirs[length];
  begin(&argc, &argv);
  int lost = 0;
  for (int round = 1; round <= rounds; ++round) {
    memset(ours, round, length);
    memset(theirs, 0, length);
    if (MPI_Sendrecv(ours, length, MPI_BYTE, 1 - rank, 0, theirs, length, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
      untestable("MPI_Sendrecv has failed");
    lost += memcmp(ours, theirs, length) != 0;
  }
  // Both say the same: who is first ends the job.
  int of_both = 0;
  MPI_Allreduce(&lost, &of_both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (of_both > 0) defect("%d of %d messages have arrived without their data", of_both, 2 * rounds);
  sound();
}
