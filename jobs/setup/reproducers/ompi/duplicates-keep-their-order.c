// duplicates-keep-their-order
//
// Non-blocking collectives on a communicator are matched by the order in which each process begins them. The steps of
// MPI_Comm_idup are non-blocking collectives, and begin when the process happens to be in the library
// (ompi_comm_request_progress, comm_request.c). If another communicator is made from the same parent meanwhile, the
// steps of the two may begin in a different order on each process: they are then matched wrongly, and the calls fail or
// wait for ever. This happens without any death. Open MPI 5.0.x, 6.0.x and main (read, November 2026).
//
// processes: 4
// runs: 3
// limit: 60
// hangs: MPI_Comm_idup, or another call that makes a communicator of the same parent, does not end

#include "reproducer.h"

// Some processes are in the library for a moment and others are not, by chance.
static void fall_out_of_step(unsigned* state) {
  *state = *state * 1103515245u + 12345u;
  if (*state / 65536 % 2 == 1) progress_ms(1);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  unsigned state = (unsigned)rank + 1;
  for (int round = 0; round < 1000 && is_time_for(round); ++round) {
    MPI_Comm first, second, third;
    MPI_Request requests[2];
    MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]);
    fall_out_of_step(&state);
    if (round % 2 == 1) {
      MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[1]);
      fall_out_of_step(&state);
    }
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &third);
    for (int i = 0; i < 1 + round % 2 && code == MPI_SUCCESS; ++i) code = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) defect("a communicator cannot be made: error class %d (round %d)", class_of(code), round);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    const MPI_Comm made[3] = {first, round % 2 == 1 ? second : third, third};
    for (int i = 0; i < 3; ++i) {
      code = MPI_Sendrecv(NULL, 0, MPI_INT, next, i, NULL, 0, MPI_INT, previous, i, made[i], MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS)
        defect("communicator %d cannot be used: error class %d (round %d)", i, class_of(code), round);
    }
    MPI_Comm_free(&first);
    if (round % 2 == 1) MPI_Comm_free(&second);
    MPI_Comm_free(&third);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) sound();
  progress_ms(5000);
}
