// Ends agreements among all processes of MPI_COMM_WORLD.

#pragma once

#include "agreement/service.hpp"

#include <mpi.h>
#include <mpi-ext.h>

namespace support {

/// Answers until all living processes have called this, so that none leaves while another may still ask.
inline void flush(mend::agreement::Service& service) {
  int flag = 1;
  int done = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request);
  while (!done) {
    service.progress();
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

}  // namespace support
