// The messages of mend that commit_restore_test.cpp looks at, and damages on their way, in place of MPI_Isend.

#pragma once

#include "base/ids.hpp"

namespace messages {

/// A bit of the next message of this rank that has more than 100,000 bytes changes on its way. It is false again then.
inline bool are_damaged = false;

/// What this rank has sent by MPI_Isend.
inline mend::ByteCount sent_bytes = 0;

}  // namespace messages
