#!/usr/bin/env bash
# failed-endpoints-are-not-used
#
# mca_btl_uct_endpoint_connect_iface (btl_uct_endpoint.c) marks an endpoint as ready whether it could be made or not. It
# cannot when the process at the other end is dead, and the message for it is then sent over an endpoint that is NULL: the
# sender crashes. Here a process dies after MPI_Init, and another one sends it the first message before it knows of the
# death. Needs an Open MPI with UCX (1.13). Open MPI 5.0.x, 6.0.x and main (read, November 2026).
#
# runs: 3
# limit: 20

if [[ $("$1/bin/ompi_info" --parsable 2>/dev/null) != *mca:btl:uct:* ]]; then
  echo "untestable: this Open MPI was built without UCX"
  exit
fi
program=$TMPDIR/send
"$1/bin/mpicc" -x c -o "$program" - -Wl,-rpath,"$1/lib" <<'PROGRAM'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static const char* file;
static void crashed(int signal) {
  (void)signal;
  if (write(1, "defect: a process that sends a message to a dead one crashes\n", 61) < 0) _exit(1);
  usleep(200000);
  _exit(0);
}
int main(int argc, char** argv) {
  int rank, number = 7;
  alarm(60);
  file = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    FILE* out = fopen(file, "w");
    fprintf(out, "%d\n", getpid());
    fclose(out);
    kill(getpid(), SIGKILL);
  }
  int dead = 0, pid = 0;
  while (!dead) {
    char name[64], state = 0;
    FILE* in = fopen(file, "r");
    if (in == NULL) continue;
    if (fscanf(in, "%d", &pid) != 1) pid = 0;
    fclose(in);
    if (pid == 0) continue;
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    in = fopen(name, "r");
    dead = in == NULL || (fscanf(in, "%*d %*s %c", &state) == 1 && state == 'Z');
    if (in != NULL) fclose(in);
  }
  signal(SIGSEGV, crashed);
  MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (write(1, "sound\n", 6) < 0) _exit(1);
  usleep(200000);
  _exit(0);
}
PROGRAM
"$1/bin/mpirun" --with-ft ulfm --map-by :OVERSUBSCRIBE --prtemca state_base_recoverable 1 --mca btl self,uct \
  --mca btl_uct_memory_domains tcp --mca btl_uct_transports tcp -np 2 "$program" "$TMPDIR/pid" 2>/dev/null
