#include "framework/reporting/exit_reason.hpp"

#include "base/fault_point.hpp"
#include "base/telemetry/log.hpp"
#include "transport/collectives.hpp"

#include <mpi-ext.h>

#include <exception>
#include <optional>

namespace mend {
namespace {

/// The first process that knows the reason writes it. Returns true if this process has written it.
bool first_says(MPI_Comm living, const std::function<std::string()>& why) {
  int me = 0;
  MPI_Comm_rank(living, &me);
  std::optional<int> speaker;
  try {
    speaker = lowest_rank_with(living, static_cast<bool>(why));
  } catch (const std::exception&) {
    revoke(living);  // so that no process is left waiting
    return false;
  }
  if (speaker.value_or(0) != me) return false;  // if no process knows the reason, the first one speaks for the dead
  reach("end.say");
  log::error(why ? why() : "the job ends because of an error in a process that has died before it could say which");
  return true;
}

}  // namespace

void say_why(MPI_Comm base, const std::function<std::string()>& why) {
  const ErrorsReturned quiet;
  Communicator shrunk;
  for (MPI_Comm living = base; living != MPI_COMM_NULL; living = shrunk.get()) {
    int unsaid = first_says(living, why) ? 0 : 1;
    MPIX_Comm_agree(living, &unsaid);  // 0 if a living process has written it
    if (unsaid == 0) return;
    shrunk = shrink_until_agreed(living, [](MPI_Comm) { return true; });
  }
  if (why) log::error(why());  // repeated by all rather than written by none
}

}  // namespace mend
