#include "framework/local_rollback/clusters/cluster_rollback.hpp"

#include "transport/mpi.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mend {
namespace {

/// The data that a rank sends to all others.
struct Told {
  std::uint64_t lives;  ///< 0: no life; otherwise the life plus 1
  std::uint64_t entry;
  std::uint64_t lost;
  std::uint64_t edition;  ///< of the clusters that this rank knows
};
constexpr int told_words = sizeof(Told) / sizeof(std::uint64_t);

}  // namespace

void ClusterRollback::begin_job(const Roster& roster) {
  by_origin_ = clusters_at_start(choice_, roster.nodes());
  edition_ = 1;
}

void ClusterRollback::adopt(const replay::Clusters& clusters, const Roster& roster, Epoch epoch) {
  replay::Clusters by_origin = replay::single_ranks(static_cast<int>(by_origin_->size()));
  for (int& one : by_origin) one = -1 - one;  // negative numbers remain for ranks that were given up
  for (std::size_t rank = 0; rank < clusters.size(); ++rank)
    by_origin[static_cast<std::size_t>(roster.seats[rank].origin.value)] = clusters[rank];
  by_origin_ = std::move(by_origin);
  edition_ = 2;
  life_ = epoch.value;  // all ranks have committed together
}

void ClusterRollback::enter_body(const Roster& roster, Epoch epoch) {
  ++entries_;
  life_.reset();
  if (epoch != Epoch{0}) return;
  for (const Seat& seat : roster.seats) told_.push_back({seat.holder.process, 1});
}

void ClusterRollback::begin_life(Epoch epoch) {
  if (!life_) life_ = epoch.value;
}

ClusterRollback::Decision ClusterRollback::decide(const Roster& roster, Rank self, Epoch epoch, std::uint64_t lost,
                                                  MPI_Comm comm) {
  if (decided_epoch_ == epoch) return Decision::has_reentered;
  const auto ranks = static_cast<std::size_t>(roster.size());
  std::vector<Told> all(ranks);
  const Told own{life_ ? *life_ + 1 : 0, entries_, lost, edition_};
  call_mpi([&] { return PMPI_Allgather(&own, told_words, MPI_UINT64_T, all.data(), told_words, MPI_UINT64_T, comm); },
           "MPI_Allgather");
  const auto teller = std::ranges::max_element(all, {}, &Told::edition);  // the lowest rank with the newest clusters
  const int root = static_cast<int>(teller - all.begin());
  if (teller->edition > 0) {
    std::uint64_t size = by_origin_ ? by_origin_->size() : 0;
    call_mpi([&] { return PMPI_Bcast(&size, 1, MPI_UINT64_T, root, comm); }, "MPI_Bcast");
    replay::Clusters clusters = by_origin_.value_or(replay::Clusters{});
    clusters.resize(size);
    call_mpi([&] { return PMPI_Bcast(clusters.data(), static_cast<int>(size), MPI_INT, root, comm); }, "MPI_Bcast");
    by_origin_ = std::move(clusters);
    edition_ = teller->edition;
  }
  std::vector<replay::Life> lives;
  for (const Told& one : all) lives.push_back(one.lives == 0 ? replay::Life{} : replay::Life{one.lives - 1});
  const replay::Clusters of_ranks = clusters(roster);
  const std::vector<bool> rolls_back = replay::survivors_that_roll_back(lives, of_ranks);
  all_go_back_ = std::ranges::find(rolls_back, true) != rolls_back.end();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (lives[rank] && !rolls_back[rank]) all_go_back_ = false;
  now_.clear();
  lost_by_mates_.reset();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    now_.push_back({roster.seats[rank].holder.process, all[rank].entry + (rolls_back[rank] ? 1U : 0U)});
    const bool is_mate = of_ranks[rank] == of_ranks[static_cast<std::size_t>(self.value)];
    if (is_mate && rolls_back[rank]) lost_by_mates_ = std::min(lost_by_mates_.value_or(UINT64_MAX), all[rank].lost);
  }
  if (told_.size() != now_.size()) told_ = now_;  // the others have reported what was before
  decided_epoch_ = epoch;
  return rolls_back[static_cast<std::size_t>(self.value)] ? Decision::goes_back : Decision::goes_on;
}

replay::Clusters ClusterRollback::clusters(const Roster& roster) const {
  if (!by_origin_) return replay::single_ranks(roster.size());
  replay::Clusters clusters;
  for (const Seat& seat : roster.seats) clusters.push_back(by_origin_->at(static_cast<std::size_t>(seat.origin.value)));
  return clusters;
}

std::vector<bool> ClusterRollback::mates(const Roster& roster, Rank self) const {
  const replay::Clusters of_ranks = clusters(roster);
  std::vector<bool> mates;
  for (const int one : of_ranks) mates.push_back(one == of_ranks[static_cast<std::size_t>(self.value)]);
  return mates;
}

bool ClusterRollback::is_back(Rank rank) const {
  const auto index = static_cast<std::size_t>(rank.value);
  return index < now_.size() && now_[index] != told_[index];
}

}  // namespace mend
