// intercommunicators-can-be-made
//
// With fault tolerance, the component ftagree gives each communicator its agreements. It has no non-blocking agreement
// for intercommunicators, and mca_coll_ftagree_module_enable (coll_ftagree_module.c) replaces that of another component
// with NULL: so no component is found for an intercommunicator, and no intercommunicator can be made. Open MPI 6.0.x
// and main (August 2026); Open MPI 5.0.x does not have it.
//
// processes: 2
// runs: 1
// limit: 20
// ends: MPI_Intercomm_create ends the job

#include "reproducer.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm made;
  const int code = MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &made);
  if (code != MPI_SUCCESS) defect("MPI_Intercomm_create fails with error class %d, with nobody dead", class_of(code));
  MPI_Barrier(made);
  sound();
}
