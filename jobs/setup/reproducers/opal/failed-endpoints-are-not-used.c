// failed-endpoints-are-not-used
//
// mca_btl_uct_endpoint_connect_iface (btl_uct_endpoint.c) marks an endpoint as ready whether it could be made or not.
// It cannot when the process at the other end is dead, and the message for it is then sent over an endpoint that is
// NULL: the sender crashes. Here a process dies after MPI_Init, and another one sends it the first message before it
// knows of the death. Needs an Open MPI with UCX (1.13). Open MPI 5.0.x, 6.0.x and main (read, November 2026).
//
// needs: btl uct of UCX
// processes: 2
// runs: 3
// limit: 20
// options: --mca btl self,uct --mca btl_uct_memory_domains tcp --mca btl_uct_transports tcp

#include "reproducer.h"

int main(int argc, char** argv) {
  char name[400];
  int number = 7, dead = 0, pid = 0;
  begin(&argc, &argv);
  snprintf(name, sizeof name, "%s/pid", getenv("TMPDIR"));
  if (rank == 1) {
    FILE* out = fopen(name, "w");
    fprintf(out, "%d\n", getpid());
    fclose(out);
    die();
  }
  while (!dead) {  // without MPI, so that nothing is sent and no news is heard
    char status[64], state = 0;
    FILE* in = fopen(name, "r");
    if (in == NULL) continue;
    if (fscanf(in, "%d", &pid) != 1) pid = 0;
    fclose(in);
    if (pid == 0) continue;
    snprintf(status, sizeof status, "/proc/%d/stat", pid);
    in = fopen(status, "r");
    dead = in == NULL || (fscanf(in, "%*d %*s %c", &state) == 1 && state == 'Z');
    if (in != NULL) fclose(in);
  }
  crash_is_a_defect("a process that sends a message to a dead one crashes");
  MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  sound();
}
