// An MPI library with a defect: it stands before Open MPI, and one of its calls does not return in a process that it
// has forgotten. The defects that docs/open-mpi.md lists do that when processes die.

#pragma once

/// From now on, the call does not return in this process: "shrink", "agree", "waitall", "allreduce" or "sendrecv".
/// Local.
extern "C" void forget_this_process_in(const char* call);
