// The release of Open MPI that all of mend's corrections fit. jobs/setup/openmpi.sh, which builds it by default, reads
// it here, and has the digests of its sources.

#pragma once

namespace mend::jobs {

inline constexpr const char* tested_open_mpi = "5.0.7";

}  // namespace mend::jobs
