// dead-peers-leave-shared-memory-usable
//
// If a process meets a dead process in MPI_Init whose shared memory the runtime has removed, it gives up shared memory
// altogether (sm_add_procs in btl_sm_module.c): it sends to all processes over TCP, and does not read its own segment.
// The others, which were quicker, continue to write there, and a receive of their messages waits for ever. Here rank 1
// removes its segment and dies when rank 2 has met it and rank 0 has not. Open MPI 5.0.x, 6.0.x and main (read, August
// 2026).
//
// processes: 3
// runs: 2
// limit: 15
// never shown: on 5.0.7 without the correction either
// hangs: a message between two living processes, one of which has met a dead one in MPI_Init, does not arrive

#include "in_mpi_init.h"

// Removes this process's segment, as the runtime does after its death.
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
