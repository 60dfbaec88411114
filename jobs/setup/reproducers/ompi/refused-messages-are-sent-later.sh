#!/usr/bin/env bash
# refused-messages-are-sent-later
#
# A message of an agreement that the transport refuses for lack of resources is lost: send_msg in
# coll_ftagree_earlyreturning.c does not look at what btl_send returns. btl/ofi refuses messages while a connection is
# made. Three processes that have not communicated before call MPIX_Comm_agree. Needs an Open MPI with libfabric, and its
# provider "net" (libfabric 1.17). Open MPI 5.0.x, 6.0.x and main (read, November 2026).
#
# needs: btl ofi of libfabric
# runs: 3
# limit: 20
# hangs: MPIX_Comm_agree does not end over btl/ofi

cd "$TMPDIR"  # libfabric may leave files
program=$TMPDIR/agree
"$1/bin/mpicc" -x c -o "$program" - -Wl,-rpath,"$1/lib" <<'PROGRAM'
#include <mpi.h>
#include <mpi-ext.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int yes = 1;
  alarm(60);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) MPIX_Comm_agree(MPI_COMM_WORLD, &yes);
  sleep(1);  // the others are through, too
  _exit(0);
}
PROGRAM
if "$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE --prtemca state_base_recoverable 1 --mca btl self,ofi \
  --mca btl_ofi_mode 2 --mca btl_ofi_provider_include net -np 3 "$program" >/dev/null 2>&1; then
  echo sound
else
  echo "untestable: the job has failed; is libfabric's provider 'net' there?"
fi
