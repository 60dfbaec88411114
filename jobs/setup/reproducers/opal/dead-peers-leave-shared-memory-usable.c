// dead-peers-leave-shared-memory-usable
//
// Who meets a dead process in MPI_Init, whose shared memory the runtime has removed, gives up shared memory altogether
// (sm_add_procs in btl_sm_module.c): it talks over TCP to all, and does not look into its own segment, into which the
// others, who have been quicker, go on writing. Every message from them is waited for for ever. Here rank 1 dies when
// rank 2 has met it and rank 0 has not, and takes its segment with it. Open MPI 5.0.x, 6.0.x and main (read, August
// 2026).
//
// processes: 3
// runs: 2
// limit: 15
// never shown: on 5.0.7 without the correction either
// hangs: a message between two living processes, one of which has met a dead one in MPI_Init, does not arrive

#include "in_mpi_init.h"

// As the runtime does when a process has died.
static void remove_own_segment(void) {
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char* path = strchr(line, '/');
    if (path == NULL || strstr(path, "sm_segment") == NULL) continue;
    path[strcspn(path, "\n")] = '\0';
    unlink(path);
  }
}

static void before_communicators(int self) {
  if (self == 1) {
    pause_ms(700);
    remove_own_segment();
    die();
  }
  if (self == 0) pause_ms(2000);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int data = 1;
  if (rank == 2) {
    pause_ms(3000);  // rank 0 has come through MPI_Init
    MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    progress_ms(15000);
  }
  if (MPI_Recv(&data, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    defect("a message between living processes has failed");
  sound();
}
