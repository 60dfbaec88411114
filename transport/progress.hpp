#pragma once

#include <functional>

namespace mend {

/// Has `work` called again and again while the main thread waits in MPI, from inside the call; an empty one: nothing.
/// It may revoke communicators, as messages that arrive there do, and must not wait, nor throw. Main thread, after
/// MPI_Init. Without effect where the MPI library has no such door.
void while_mpi_waits(std::function<void()> work);

}  // namespace mend
