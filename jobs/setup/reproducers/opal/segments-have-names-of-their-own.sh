#!/usr/bin/env bash
# segments-have-names-of-their-own
#
# The name of a process's shared-memory segment (opal/mca/btl/sm/btl_sm_component.c) has 16 bits of a hash of the job's
# name (opal_pmix_convert_nspace). Two jobs of one user on one machine whose hashes are equal write into each other's
# segments. Here two jobs with such names, job-42 and job-112, run at the same time. Open MPI 5.0.x, 6.0.x and
# main (read, November 2026).
#
# runs: 3
# limit: 30

program=$TMPDIR/ring
"$1/bin/mpicc" -x c -o "$program" - -Wl,-rpath,"$1/lib" <<'PROGRAM' || {
#include <mpi.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, size;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(20);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double end = MPI_Wtime() + 2;
  for (int over = 0; !over;) {
    int out = rank, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (in != (rank + size - 1) % size) MPI_Abort(MPI_COMM_WORLD, 9);
    over = rank == 0 && MPI_Wtime() >= end;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
PROGRAM
  echo "untestable: it cannot be compiled"
  exit
}
"$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE -np 1 true >/dev/null 2>&1 || {
  echo "untestable: mpirun does not start a job"
  exit
}

job() {
  PMIX_SERVER_NSPACE=$2 timeout --foreground -k 2 15 "$1/bin/mpirun" --map-by :OVERSUBSCRIBE -np 2 "$program" >"$TMPDIR/$2" 2>&1
}
job "$1" job-42 & first=$!
job "$1" job-112 & second=$!
codes=()
for one in $first $second; do
  code=0
  wait "$one" || code=$?
  codes+=("$code")
done
if ((codes[0] == 0 && codes[1] == 0)); then
  echo sound
else
  echo "defect: of two jobs at the same time, one ended with code ${codes[0]}, the other with ${codes[1]}"
fi
