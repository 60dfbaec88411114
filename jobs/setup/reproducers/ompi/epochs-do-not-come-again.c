// epochs-do-not-come-again
//
// A communicator's number may be used again, and an epoch distinguishes it from earlier communicators with that number.
// Each process counts epochs by itself, and a new communicator gets the highest count of its members, which the others
// do not take over (ompi_comm_nextcid_check_flag in comm_cid.c): when the process with the highest count is gone, a
// pair of number and epoch is used again, and an agreement is answered with the result of an older one. With processes
// that are started later, whose counts are lower, agreements hang after some tens of recoveries. Here rank 1 has the
// highest count; ranks 0 and 1 agree on "no"; then ranks 0 and 2 make communicators, and agree on "yes" in each.
// Open MPI 5.0.x, 6.0.x and main (read, August 2026).
//
// processes: 3
// runs: 1
// limit: 30
// hangs: an agreement waits for a contribution that has been answered with an older result

#include "reproducer.h"

static MPI_Comm pair_of(int one, int other) {
  const int members[2] = {one, other};
  MPI_Group all, some;
  MPI_Comm pair;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, members, &some);
  MPI_Comm_create_group(MPI_COMM_WORLD, some, other, &pair);
  return pair;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL, copy;
  if (rank != 2) first = pair_of(0, 1);
  if (rank != 1) second = pair_of(0, 2);
  if (rank == 1) {
    for (int i = 0; i < 100; ++i) {
      MPI_Comm_dup(MPI_COMM_SELF, &copy);
      MPI_Comm_free(&copy);
    }
  }
  if (rank != 2) {
    int no = 0;
    MPI_Comm_dup(first, &copy);
    MPIX_Comm_agree(copy, &no);
    MPI_Comm_free(&copy);
  }
  if (rank == 1) {
    pause_ms(25000);
    _exit(0);
  }
  for (int i = 0; i < 140; ++i) {
    int yes = 1;
    MPI_Comm_dup(second, &copy);
    if (rank == 0) progress_ms(10);  // rank 2 comes first
    MPIX_Comm_agree(copy, &yes);
    if (yes != 1) defect("the %dth agreement has the result of an older one", i + 1);
    MPI_Comm_free(&copy);
  }
  if (rank == 0) sound();
  progress_ms(10000);
}
