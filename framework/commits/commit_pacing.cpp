#include "framework/commits/commit_pacing.hpp"

#include "base/telemetry/place.hpp"
#include "transport/mpi.hpp"

#include <algorithm>
#include <array>

namespace mend {

bool CommitPacing::due(const RecoveryHistory& history, const StoreStatistics& store, MPI_Comm comm) {
  const Seconds since_last = step_watch_.lap();
  const auto commits = history.commits(store);
  if (schedule_.wants_measurement() && commits.count > 0)
    measure(since_last, commits, history.recoveries().size(), comm);
  return schedule_.step();
}

bool CommitPacing::due_by_request(bool is_due, bool was_asked, MPI_Comm comm) {
  const bool asks = request_pacing_.step();
  if (!is_due && !asks) return false;
  const Seconds since = request_watch_.lap();
  request_pacing_.begin_gap();
  if (is_due) return true;
  const AtPlace at_place(Place::commit_due);
  std::array<double, 2> most{since.count(), was_asked ? 1.0 : 0.0};
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_DOUBLE, MPI_MAX, comm); }, "MPI_Allreduce");
  request_pacing_.hear(Seconds{most[0]});
  if (most[1] == 0) return false;
  schedule_.set_since_commit(0);
  return true;
}

/// Agrees on the cost of a commit and of a step, so that all ranks commit at the same steps. `step_with_commit`: the
/// time between the last two calls of due(). Only the commits of this epoch count, because newcomers and survivors know
/// the same ones.
void CommitPacing::measure(Seconds step_with_commit, RecoveryHistory::Commits commits, std::size_t failures,
                           MPI_Comm comm) {
  const AtPlace at_place(Place::commit_due);
  const Seconds commit_cost = commits.time / static_cast<double>(commits.count);
  // The maximum over all ranks; for the times between failures the minimum, because they are negated.
  const Seconds mtbf = mtbf_of(given_mtbf_, since_start_.elapsed(), failures).time;
  std::array<double, 3> worst{commit_cost.count(), std::max(Seconds{0}, step_with_commit - commit_cost).count(),
                              -mtbf.count()};
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, worst.data(), 3, MPI_DOUBLE, MPI_MAX, comm); }, "MPI_Allreduce");
  schedule_.measured(Seconds{worst[0]}, Seconds{worst[1]}, Seconds{-worst[2]});
}

CommitEconomy CommitPacing::economy(const RecoveryHistory& history, const StoreStatistics& store) const {
  const std::size_t failures = history.recoveries().size();
  // The commits are those of this process, which may have joined later.
  return {since_rank_.elapsed(), store.commits, store.commit_time, failures,
          mtbf_of(given_mtbf_, since_start_.elapsed(), failures)};
}

}  // namespace mend
