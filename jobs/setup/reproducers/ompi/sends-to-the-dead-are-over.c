// sends-to-the-dead-are-over
//
// A blocking send that a death has completed with an error gives its request back (mca_pml_ob1_send, pml_ob1_isend.c),
// while its fragment is still queued in the transport, or the request in the list of those that wait to begin. The next
// send uses it. When the transport gives up the fragment, that one ends instead. Here rank 0 sends more to rank 1 than
// the connection takes, rank 1 dies, and a child that it has started keeps the connection open for two seconds.
// Meanwhile rank 0 sends to rank 2, which does not receive. Open MPI 5.0.x, 6.0.x and main (read, November 2026).
//
// processes: 3
// runs: 3
// limit: 20
// ends: a process has crashed
// options: --mca btl self,tcp

#include "reproducer.h"

enum { many = 400, short_bytes = 60000, long_bytes = 1 << 20 };

int main(int argc, char** argv) {
  static char data[short_bytes];
  static MPI_Request requests[many];
  begin(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    char* message = calloc(long_bytes, 1);
    for (int i = 0; i < many; ++i) MPI_Isend(data, short_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[i]);
    if (MPI_Send(data, short_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD) == MPI_SUCCESS) {
      untestable("the connection took %d messages of %d bytes", many, short_bytes);
    }
    const int code = MPI_Ssend(message, long_bytes, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    const double over = seconds();
    double before;
    if (code != MPI_SUCCESS) {
      defect("a send to a living process fails with class %d, after a send to a dead one", class_of(code));
    }
    MPI_Recv(&before, 1, MPI_DOUBLE, 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (over < before) defect("a send ends before it is received, after a send to a dead process");
    sound();
  }
  if (rank == 1) {
    pause_ms(500);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, 0);
      pause_ms(2000);
      _exit(0);
    }
    die();
  }
  pause_ms(5000);  // rank 2 receives after the connection to rank 1 has been closed
  char* message = calloc(long_bytes, 1);
  const double before = seconds();  // the clock is the machine's
  MPI_Recv(message, long_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&before, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  pause_ms(10000);
}
