// waits-leave-no-traces
//
// MPI_Waitany and MPI_Waitsome (req_wait.c) note in each request where on their stack they wait. They leave the note in
// a receive from any source that a death disturbs, and that goes on: what completes it later writes into a stack frame
// that is gone, and a later wait of a process with several threads takes it for complete. MPI_Waitsome counts requests
// that fail at once in one of its two loops only, so that the requests behind them get each other's marks, or those
// that the caller's array of indices had: a receive whose message has not come is reported and freed. Here rank 2 is
// declared dead, and rank 1 sends its messages when the calls have returned. Open MPI 5.0.x, 6.0.x and main (read,
// December 2026).
//
// processes: 3
// runs: 3
// limit: 20
// hangs: a receive does not end
// ends: the survivor has crashed
// options: --mca btl self,sm

#include "reproducer.h"

static const char* const calls[] = {"MPI_Waitsome", "MPI_Waitany"};

int main(int argc, char** argv) {
  begin_with_threads(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause_ms(1000);
    for (int tag = 1; tag <= 3; ++tag) MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  }
  if (rank > 0) progress_ms(20000);
  int lost[2], got = 0, of_any[2] = {0, 0};
  MPI_Request dead[2], living, any[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&lost[i], 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &dead[i]);
    MPI_Irecv(&of_any[i], 1, MPI_INT, MPI_ANY_SOURCE, 2 + i, MPI_COMM_WORLD, &any[i]);
  }
  MPI_Irecv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &living);
  hold_dead(2);
  int count, index, flag;
  while (class_of(MPI_Test(&any[1], &flag, MPI_STATUS_IGNORE)) != MPIX_ERR_PROC_FAILED_PENDING) {
  }

  MPI_Request with_living[] = {dead[0], living}, with_any[] = {dead[1], any[0]};
  int indices[2] = {0, 0};
  MPI_Waitsome(2, with_living, &count, indices, MPI_STATUSES_IGNORE);
  if (with_living[1] == MPI_REQUEST_NULL) defect("MPI_Waitsome frees a receive whose message was not sent");
  indices[0] = indices[1] = 0;
  MPI_Waitsome(2, with_any, &count, indices, MPI_STATUSES_IGNORE);
  MPI_Waitany(1, &any[1], &index, MPI_STATUS_IGNORE);

  // After that, the receives go on.
  MPIX_Comm_failure_ack(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Test(&any[i], &flag, MPI_STATUS_IGNORE);  // forgets the error
  MPI_Send(NULL, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i)
    if (MPI_Wait(&any[i], MPI_STATUS_IGNORE) != MPI_SUCCESS || of_any[i] != 2 + i)
      defect("MPI_Wait ends a receive without its message, after %s", calls[i]);
  if (MPI_Wait(&living, MPI_STATUS_IGNORE) != MPI_SUCCESS || got != 1) defect("a message has not arrived");
  sound();
}
