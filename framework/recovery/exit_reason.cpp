#include "framework/recovery/exit_reason.hpp"

#include "base/fault_point.hpp"
#include "base/log.hpp"
#include "transport/mpi.hpp"

#include <limits>
#include <utility>

namespace mend {
namespace {

/// Of those who know it, the first says why. Returns whether this process has spoken.
bool first_says(MPI_Comm living, const std::function<std::string()>& why) {
  constexpr int nobody = std::numeric_limits<int>::max();
  int me = 0;
  MPI_Comm_rank(living, &me);
  int speaker = why ? me : nobody;
  if (MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, living) != MPI_SUCCESS) {
    revoke(living);  // so that nobody is left waiting
    return false;
  }
  const bool speaks_for_the_dead = speaker == nobody && me == 0;
  if (speaker != me && !speaks_for_the_dead) return false;
  reach("end.say");
  log::error(why ? why() : "the job ends because of an error in a process that has died before it could say which");
  return true;
}

/// A communicator of those of `comm` who live; none if the library cannot make one, though nobody dies.
Communicator living_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  for (int deaths = 0; deaths <= size; ++deaths) {
    MPI_Comm made = MPI_COMM_NULL;
    int is_made = MPIX_Comm_shrink(comm, &made) == MPI_SUCCESS ? 1 : 0;
    Communicator living(made);
    MPIX_Comm_agree(comm, &is_made);  // a death may have kept it from some
    if (is_made == 0) continue;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return living;
  }
  return {};
}

}  // namespace

void say_why(MPI_Comm base, const std::function<std::string()>& why) {
  const ErrorsReturned quiet;
  Communicator shrunk;
  for (MPI_Comm living = base; living != MPI_COMM_NULL; living = shrunk.get()) {
    int unsaid = first_says(living, why) ? 0 : 1;
    MPIX_Comm_agree(living, &unsaid);  // 0: by one who lives
    if (unsaid == 0) return;
    shrunk = living_of(living);
  }
  if (why) log::error(why());  // rather by all than by nobody
}

}  // namespace mend
