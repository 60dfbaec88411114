#include "bench/simulated/commit_waves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mend::bench {
namespace {

std::uint32_t reversed_bits(std::uint32_t number) {
  std::uint32_t reversed = 0;
  for (int bit = 0; bit < 32; ++bit, number >>= 1U) reversed = reversed << 1U | (number & 1U);
  return reversed;
}

/// The step of the interval in which each cluster commits.
std::vector<std::uint32_t> steps_of_clusters(const CommittingJob& job) {
  std::vector<std::uint32_t> steps(job.clusters);
  if (job.order == CommitOrder::together) return steps;
  std::vector<std::uint32_t> clusters(job.clusters);
  std::iota(clusters.begin(), clusters.end(), 0U);
  if (job.order == CommitOrder::interleaved) std::ranges::sort(clusters, {}, reversed_bits);
  for (std::uint64_t turn = 0; turn < job.clusters; ++turn) {
    steps[clusters[turn]] = static_cast<std::uint32_t>(turn * job.steps / job.clusters);
  }
  return steps;
}

/// As MPI_Dims_create chooses it: the largest divisor up to the square root.
std::uint32_t width_of_grid(std::uint32_t ranks) {
  auto width = static_cast<std::uint32_t>(std::sqrt(ranks));
  while (ranks % width != 0) --width;
  return width;
}

std::vector<std::array<std::uint32_t, 4>> partners_of(const CommittingJob& job) {
  std::vector<std::array<std::uint32_t, 4>> partners;
  const std::uint32_t ranks = job.ranks;
  const std::uint32_t width = width_of_grid(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (job.exchange == Exchange::ring) {
      partners.push_back({(rank + 1) % ranks, (rank + ranks - 1) % ranks, rank, rank});
    } else if (job.exchange == Exchange::grid) {
      const std::uint32_t column = rank % width;
      partners.push_back({column > 0 ? rank - 1 : rank, column + 1 < width ? rank + 1 : rank,
                          rank >= width ? rank - width : rank, rank + width < ranks ? rank + width : rank});
    }
  }
  return partners;
}

}  // namespace

CommitWaves::CommitWaves(const CommittingJob& job)
    : job_(job), commit_times_(job.steps), partners_(partners_of(job)), delays_(job.ranks) {
  const std::vector<std::uint32_t> steps = steps_of_clusters(job);
  std::vector<std::uint32_t> committing(job.steps);
  for (std::uint64_t rank = 0; rank < job.ranks; ++rank) {
    commits_in_.push_back(steps[rank * job.clusters / job.ranks]);
    ++committing[commits_in_.back()];
  }
  for (std::uint32_t step = 0; step < job.steps; ++step) {
    const double full_speed = job.network_share * job.ranks;
    if (committing[step] > 0) commit_times_[step] = std::max(1.0, committing[step] / full_speed);
  }
}

void CommitWaves::run_interval() {
  for (std::uint32_t step = 0; step < job_.steps; ++step, ++step_) {
    if (step_ % job_.exchange_every == 0) wait_for_partners();
    if (commit_times_[step] == 0) continue;
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      if (commits_in_[rank] == step) delays_[rank] += commit_times_[step];
    }
  }
}

double CommitWaves::delay() const { return *std::ranges::max_element(delays_); }

void CommitWaves::wait_for_partners() {
  if (job_.exchange == Exchange::all) std::ranges::fill(delays_, delay());
  if (partners_.empty()) return;
  earlier_delays_ = delays_;
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    for (const std::uint32_t partner : partners_[rank])
      delays_[rank] = std::max(delays_[rank], earlier_delays_[partner]);
  }
}

double lost_to_commits(const CommittingJob& job, int intervals) {
  CommitWaves waves(job);
  for (int interval = 0; interval < intervals; ++interval) waves.run_interval();
  const double uncounted = waves.delay();
  for (int interval = 0; interval < intervals; ++interval) waves.run_interval();
  return (waves.delay() - uncounted) / intervals;
}

}  // namespace mend::bench
