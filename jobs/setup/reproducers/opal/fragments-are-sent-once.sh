#!/usr/bin/env bash
# fragments-are-sent-once
#
# When uct_ep_am_zcopy answers UCS_OK, because all is sent at once, mca_btl_uct_send_frag (btl_uct_am.c) sends the
# fragment again, until the answer is UCS_INPROGRESS: some hundred times over UCX's transport tcp. What arrives again
# counts in the next receive, which then ends with MPI_SUCCESS and without its data. Two processes exchange messages of
# 32 KiB. Needs an Open MPI with UCX (1.13, 1.18). Open MPI 5.0.x, 6.0.x and main (read, November 2026).
#
# needs: btl uct of UCX
# runs: 3
# limit: 20
# hangs: an exchange of two messages does not end over btl/uct

program=$TMPDIR/exchange
"$1/bin/mpicc" -x c -o "$program" - -Wl,-rpath,"$1/lib" <<'PROGRAM'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
enum { length = 32768, rounds = 200 };
int main(int argc, char** argv) {
  static unsigned char ours[length], theirs[length];
  int rank, lost = 0, of_both = 0;
  alarm(60);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 1; round <= rounds; ++round) {
    memset(ours, round, length);
    memset(theirs, 0, length);
    MPI_Sendrecv(ours, length, MPI_BYTE, 1 - rank, 0, theirs, length, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    lost += memcmp(ours, theirs, length) != 0;
  }
  MPI_Allreduce(&lost, &of_both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    if (of_both > 0) printf("defect: %d of %d messages have arrived without their data\n", of_both, 2 * rounds);
    if (of_both == 0) printf("sound\n");
    fflush(stdout);
  }
  sleep(1);  // it is read before the end, which may crash
  _exit(0);
}
PROGRAM
"$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE --prtemca state_base_recoverable 1 --mca btl self,uct \
  --mca btl_uct_memory_domains tcp --mca btl_uct_transports tcp -np 2 "$program" 2>/dev/null
