// Local rollback with clusters of several ranks: which ranks roll back together, and which messages the ranks of a
// cluster acknowledge to each other.

#include "agreement/ballot.hpp"
#include "base/name_runs.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/trace.hpp"
#include "framework/recovery/engine.hpp"
#include "framework/local_rollback/local_rollback.hpp"
#include "framework/local_rollback/plain_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace mend {
namespace {

/// The number of bytes of kept copies from which this rank looks for acknowledgements.
constexpr std::size_t least_looked_for = std::size_t{512} << 10U;
/// MPI searches its list of messages that nobody has received yet, so acknowledgements must not pile up there.
constexpr int most_calls_without_look = 1024;

}  // namespace

bool LocalRollback::commits_at_once() const { return engine_.cluster_rollback().wants_traffic(); }

/// Decides which ranks roll back. Throws ProcessFailure if this rank does: the others wait until it has entered the
/// body again.
void LocalRollback::decide_who_goes_back() {
  using Decision = ClusterRollback::Decision;
  ClusterRollback& clusters = engine_.cluster_rollback();
  const EpochState& epoch_state = engine_.epoch_state();
  const Rank self{session_.rank};
  const std::uint64_t lost = steps_since_version_;
  const Decision decision = epoch_state.epoch == Epoch{0} ? Decision::goes_on
                                                          : clusters.decide(epoch_state.roster, self, epoch_state.epoch,
                                                                            lost, epoch_state.application.get());
  if (options_.is_strict && decision != Decision::has_reentered && clusters.all_go_back()) {
    throw agreement::OrderError(
        "each cluster has lost a process, so no rank stays: with --mend-rollback local,strict the job ends");
  }
  if (decision == Decision::goes_back) {
    engine_.rollback_counts().computed_twice(origin_of(session_.rank), lost);
    goes_back_with_cluster_ = true;
    session_.comms = {MPI_COMM_NULL, MPI_COMM_NULL};
    leave();
  }
  if (decision == Decision::has_reentered) counts_steps_ = false;
  if (const auto by_mates = clusters.lost_by_mates(); by_mates && is_newcomer_ && counts_steps_) {
    engine_.rollback_counts().computed_twice(origin_of(session_.rank), *by_mates);
    counts_steps_ = false;
  }
  take_mates();
}

/// Before a commit, all ranks find the clusters from the bytes that they have sent each other since the last one.
void LocalRollback::choose_clusters() {
  chosen_.reset();
  const ClusterRollback& clusters = engine_.cluster_rollback();
  if (!clusters.wants_traffic() || !has_restored()) return;
  const std::vector<std::uint64_t> own = sender_log_.bytes_sent(ranks_);
  replay::TrafficMatrix traffic(own.size() * own.size());
  call_mpi(
      [&] {
        return PMPI_Allgather(own.data(), ranks_, MPI_UINT64_T, traffic.data(), ranks_, MPI_UINT64_T,
                              session_.comm(Traffic::collectives));
      },
      "MPI_Allgather");
  if (std::ranges::all_of(traffic, [](std::uint64_t bytes) { return bytes == 0; })) return;
  const int most = clusters.choice().count == 0 ? std::max(1, ranks_ / 2) : std::min(clusters.choice().count, ranks_);
  chosen_ = replay::clusters_by_traffic(traffic, ranks_, most);
  price_ = replay::price_of(*chosen_, traffic);
}

/// Called when all ranks have committed.
void LocalRollback::adopt_clusters() {
  if (!chosen_) return;
  const replay::Clusters clusters = *std::exchange(chosen_, std::nullopt);
  const EpochState& epoch_state = engine_.epoch_state();
  engine_.cluster_rollback().adopt(clusters, epoch_state.roster, epoch_state.epoch);
  take_mates();
  const auto permille = [](double share) { return static_cast<std::int64_t>(std::lround(1000 * share)); };
  trace::instant("clusters", {{"count", replay::count_of(clusters)},
                              {"logged_permille", permille(price_.logged)},
                              {"back_permille", permille(price_.back)}});
  if (session_.rank != 0) return;
  constexpr int most_named = 32;
  const int count = replay::count_of(clusters);
  log::notice(fmt::format(
      "{} by traffic{}: {:.1f} % of the bytes are logged, and {:.1f} % of the ranks go back on average when one dies",
      counted(static_cast<std::size_t>(count), "cluster"),
      count <= most_named ? fmt::format(" ({})", replay::to_string(clusters)) : "", 100 * price_.logged,
      100 * price_.back));
}

void LocalRollback::take_mates() {
  const std::vector<bool> mates = engine_.cluster_rollback().mates(engine_.epoch_state().roster, Rank{session_.rank});
  has_mates_ = std::ranges::count(mates, true) > 1;
  sender_log_.set_mates(mates);
}

/// The ranks of a cluster tell each other which messages they have received, so that no copy is kept longer than
/// needed.
void LocalRollback::exchange_acknowledgements() {
  const ErrorsReturned quiet;  // a failure is handled elsewhere
  const MPI_Comm comm = session_.comm(Traffic::collectives);
  const int tag = tag_of(OwnTag::acknowledgement);
  for (replay::SenderLog::Acknowledgement& due : sender_log_.take_acknowledgements()) {
    Sent& sent = acknowledgements_.emplace_back(Sent{MPI_REQUEST_NULL, std::move(due.words)});
    library::begin_send(sent.words.data(), static_cast<int>(sent.words.size()), MPI_UINT64_T, due.to, tag, comm,
                        &sent.request);
  }
  std::erase_if(acknowledgements_, [](Sent& sent) {
    int has_ended = 0;
    int index = 0;
    return library::test_some(1, &sent.request, &has_ended, &index) != MPI_SUCCESS || has_ended != 0;
  });
  if (sender_log_.retained_bytes() < least_looked_for && ++calls_without_look_ < most_calls_without_look) return;
  calls_without_look_ = 0;
  bool has_come = false;
  for (;;) {
    int flag = 0;
    MPI_Status status;
    if (PMPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &flag, &status) != MPI_SUCCESS || flag == 0) break;
    int count = 0;
    PMPI_Get_count(&status, MPI_UINT64_T, &count);
    std::vector<std::uint64_t> words(static_cast<std::size_t>(count));
    if (PMPI_Recv(words.data(), count, MPI_UINT64_T, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      break;
    sender_log_.acknowledged(status.MPI_SOURCE, words);
    has_come = true;
  }
  if (has_come) sender_log_.reuse_retained(messages_.sends_under_way());
}

/// Called when the communicators of the epoch were revoked.
void LocalRollback::end_acknowledgements() {
  const ErrorsReturned quiet;
  for (Sent& sent : acknowledgements_) PMPI_Wait(&sent.request, MPI_STATUS_IGNORE);
  acknowledgements_.clear();
}

}  // namespace mend
