// numbers-in-use-are-kept
//
// The processes that make a communicator agree on a number that one of them proposes, and then on whether it is free in
// all of them. When a death or a revocation interrupts the second step, ompi_comm_nextcid_check_flag (comm_cid.c) frees
// the number, even if it belongs to another communicator: messages on that communicator are no longer received, and the
// next communicator gets its number. Here processes 0 and 1 have a communicator with number 4, and process 2 proposes 4
// for the duplicate of one that it revokes meanwhile. Open MPI 5.0.x, 6.0.x and main (read, November 2026).
//
// processes: 3
// runs: 3
// limit: 50

#include "revoked_meanwhile.h"

// Returns true if a message passes between processes 0 and 1 of `comm` within two seconds.
static bool passes_messages(MPI_Comm comm) {
  int sent = rank, received = -1, done = 0;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_INT, 1 - rank, 0, comm, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, 1 - rank, 0, comm, &requests[1]);
  for (const double end = seconds() + 2; !done && seconds() < end;)
    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

int main(int argc, char** argv) {
  begin_with_threads(&argc, &argv);
  MPI_Comm own, pair;
  MPI_Comm_dup(MPI_COMM_SELF, &own);  // number 3
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
  if (rank < 2) MPI_Comm_free(&own);  // process 2 keeps it, and proposes the next

  int interrupted = 0;
  for (int round = 0; round < 3000 && is_time_for(round); ++round) {
    MPI_Comm made;
    int delay = round % 300;
    pthread_t thread;
    make_parent(&thread, &delay);
    const int code = MPI_Comm_dup(parent, &made);
    if (rank == 2) pthread_join(thread, NULL);
    if (code != MPI_SUCCESS) ++interrupted;
    if (rank < 2 && !passes_messages(pair))
      defect("a communicator does not receive any more after the making of another was interrupted (round %d)", round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (code == MPI_SUCCESS) MPI_Comm_free(&made);
    MPI_Comm_free(&parent);
  }
  if (interrupted == 0) untestable("no communicator's making was interrupted");
  if (rank == 0) sound();
  progress_ms(5000);
}
