#!/usr/bin/env bash
# topologies-do-not-warn
#
# With fault tolerance, every Cartesian communicator prints a dozen lines that its module is not tested after failures
# (ompi/mca/topo/base/topo_base_comm_select.c): the list of tested modules is the empty string. A topology that is derived
# from a repaired communicator is as good as before any failure. Open MPI 5.0.x, 6.0.x and main (read, August 2026).
#
# runs: 1
# limit: 20

program=$TMPDIR/cart
"$1/bin/mpicc" -x c -o "$program" - -Wl,-rpath,"$1/lib" <<'PROGRAM'
#include <mpi.h>
int main(int argc, char** argv) {
  const int length = 1, periodic = 0;
  MPI_Comm line;
  MPI_Init(&argc, &argv);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &length, &periodic, 0, &line);
  MPI_Comm_free(&line);
  MPI_Finalize();
  return 0;
}
PROGRAM
said=$("$1/bin/mpirun" --with-ft ulfm -np 1 "$program" 2>&1 >/dev/null) || echo "untestable: the job has failed"
if [[ $said == *untested* || $said == *'not tested'* || $said == *'not been tested'* ]]; then
  echo "defect: MPI_Cart_create prints $(wc -l <<<"$said") lines"
else
  echo sound
fi
