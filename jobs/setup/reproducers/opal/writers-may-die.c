// writers-may-die
//
// A process has one queue in shared memory for messages of the other processes of its machine. A writer first makes its
// fragment the end of the queue, and then links the former end to it (sm_fifo_write in btl_sm_fifo.h). If the writer is
// killed in between, the queue is cut: its owner receives no message that is written after that. Here process 0 traces
// process 1, which returns a fragment to it, and kills it after the first step. Open MPI 5.0.x, 6.0.x and main (read,
// November 2026).
//
// processes: 3
// runs: 2
// limit: 40

#include "reproducer.h"

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum { fragment = 3000 };  // bytes: too many for the boxes that two processes share, too few to be announced first

// The beginning of the queue of this process, and its end. Both are free when it is empty.
static volatile const int64_t* head;
static const int64_t free_end = -2;

static bool is_empty(void) { return head[0] == free_end && head[1] == free_end; }
static bool has_end_only(void) { return head[0] == free_end && head[1] != free_end; }

// Finds the queue near the beginning of this process's segment, by two free ends and the number of boxes.
static void find_queue(void) {
  char line[4096], own[32];
  snprintf(own, sizeof own, ".%d", (int)getpid());
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && head == NULL && fgets(line, sizeof line, maps) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    const char* const path = strstr(line, "sm_segment");
    const char* const number = path == NULL ? NULL : strrchr(path, '.');
    if (number == NULL || (strcmp(number, own) != 0 && strcmp(number, ".0") != 0)) continue;
    const int64_t* const words = (const int64_t*)(uintptr_t)strtoull(line, NULL, 16);
    for (int i = 0; i < 64 && head == NULL; ++i) {
      const int boxes = (int)(words[i + 2] & 0xffff);
      if (words[i] == free_end && words[i + 1] == free_end && boxes > 0 && boxes <= 32) head = words + i;
    }
  }
  if (maps != NULL) fclose(maps);
  if (head == NULL) untestable("the queue of this process is not where it was expected");
}

// Single-steps process 1 until the fragment is the end of the queue, and kills it there.
static void kill_while_it_writes(int pid) {
  static const char data[fragment];
  MPI_Request request;
  int status = 0;
  if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0 || waitpid(pid, &status, __WALL) != pid)
    untestable("process 1 may not be traced");
  if (!is_empty()) untestable("the queue is not empty at the beginning");
  MPI_Isend(data, fragment, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
  for (const double end = seconds() + 20; !has_end_only();) {
    if (!is_empty() || seconds() > end) untestable("process 1 was not seen between the two steps");
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
      untestable("process 1 does not go on in steps");
  }
  kill(pid, SIGKILL);
  while (waitpid(pid, &status, __WALL) == pid && !WIFSIGNALED(status)) continue;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char data[fragment];
  int number = (int)getpid(), done = 0;
  if (rank == 1) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(data, fragment, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    progress_ms(10000);
    return 0;
  }
  if (rank == 2) {
    MPI_Recv(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    progress_ms(10000);
    return 0;
  }
  MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  progress_ms(100);
  find_queue();
  kill_while_it_writes(number);
  MPI_Request request;
  MPI_Send(&number, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
  MPI_Irecv(&number, 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &request);
  for (const double end = seconds() + 3; !done && seconds() < end;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (!done) defect("a process receives nothing any more after another one was killed while it wrote to it");
  sound();
}
