#!/usr/bin/env bash
# copied-fragments-are-not-registered
#
# btl/uct registers the memory of all fragments of more than some 100 bytes (mca_btl_uct_add_procs, btl_uct_module.c).
# UCX's shared memory has no registration, so there are no such fragments. Messages of programs go another way; those of
# an agreement that tells of five failed processes do not, and the process crashes. Here five of eight processes die, and
# the others agree. Needs an Open MPI with UCX (1.13). Open MPI 5.0.x, 6.0.x and main (read, November 2026).
#
# runs: 3
# limit: 20
# hangs: an agreement that tells of five failed processes does not end

if [[ $("$1/bin/ompi_info" --parsable 2>/dev/null) != *mca:btl:uct:* ]]; then
  echo "untestable: this Open MPI was built without UCX"
  exit
fi
program=$TMPDIR/agree
"$1/bin/mpicc" -x c -o "$program" - -Wl,-rpath,"$1/lib" <<'PROGRAM'
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>
static void crashed(int signal) {
  (void)signal;
  if (write(1, "defect: a process that agrees on five failed ones crashes\n", 58) < 0) _exit(1);
  usleep(200000);
  _exit(0);
}
int main(int argc, char** argv) {
  int rank, value = 1, known = 0, found;
  MPI_Group failed;
  alarm(60);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 2) kill(getpid(), SIGKILL);
  signal(SIGSEGV, crashed);
  while (known < 5) {
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &known);
    MPI_Group_free(&failed);
  }
  MPIX_Comm_agree(MPI_COMM_WORLD, &value);
  if (rank == 0 && write(1, "sound\n", 6) < 0) _exit(1);
  usleep(rank == 0 ? 200000 : 10000000);
  _exit(0);
}
PROGRAM
"$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE --prtemca state_base_recoverable 1 --mca btl self,uct \
  --mca btl_uct_memory_domains posix --mca btl_uct_transports posix -np 8 "$program" 2>/dev/null
