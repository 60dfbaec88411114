#include "jobs/plan/model.hpp"

#include "framework/commits/commit_schedule.hpp"
#include "store/placement/placement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace mend::jobs {
namespace {

using NodeSet = std::vector<std::uint32_t>;

/// The number of a stripe's ranks, owners and holders, on each node.
using Members = std::map<std::uint32_t, int>;

Members members_of(const Stripe& stripe, int ranks_per_node) {
  Members members;
  for (const auto* ranks : {&stripe.owners, &stripe.holders})
    for (const Rank rank : *ranks) ++members[static_cast<std::uint32_t>(rank.value / ranks_per_node)];
  return members;
}

/// Returns the smallest number of nodes whose failure kills more than `parity` ranks.
std::size_t fewest_nodes(const Members& members, int parity) {
  std::vector<int> counts;
  for (const auto& [node, count] : members) counts.push_back(count);
  std::ranges::sort(counts, std::greater<>());
  std::size_t nodes = 0;
  for (int dead = 0; dead <= parity && nodes < counts.size(); ++nodes) dead += counts[nodes];
  return nodes;
}

double choose(std::size_t all, std::size_t some) {
  const auto factorial = [](std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  return std::exp(factorial(all) - factorial(some) - factorial(all - some));
}

/// Passes each subset of `nodes` with `size` members to `visit`. The members are in ascending order.
template <class Visit>
void for_each_subset(const NodeSet& nodes, std::size_t size, const Visit& visit, NodeSet chosen = {},
                     std::size_t from = 0) {
  if (chosen.size() == size) return visit(chosen);
  for (std::size_t i = from; i < nodes.size(); ++i) {
    chosen.push_back(nodes[i]);
    for_each_subset(nodes, size, visit, chosen, i + 1);
    chosen.pop_back();
  }
}

/// The smallest sets of nodes whose joint failure loses data: their size, and their number in the whole job.
struct LosingSets {
  int size = 0;  ///< 0: there are none
  double count = 0;
};

LosingSets losing_sets(const Scenario& scenario) {
  const Redundancy& redundancy = scenario.redundancy;
  // Placements repeat, so a smaller job with the same remainder has the same number of sets for each node.
  const int group = redundancy.data + redundancy.parity;
  const int enough = std::max(4 * group, 2048 / scenario.ranks_per_node);
  const int nodes = scenario.nodes <= enough + group ? scenario.nodes : enough + (scenario.nodes - enough) % group;
  std::vector<NodeId> places;
  for (int rank = 0; rank < nodes * scenario.ranks_per_node; ++rank)
    places.push_back(NodeId{static_cast<std::uint32_t>(rank / scenario.ranks_per_node)});
  const auto stripes = place(redundancy.fitting(static_cast<int>(places.size())), places);

  constexpr double most_tried = 20'000;  // above it, all sets of that size count as losing sets
  LosingSets found;
  std::set<Members> seen;
  std::set<NodeSet> losing;
  double more = 0;
  for (const Stripe& stripe : stripes) {
    const Members members = members_of(stripe, scenario.ranks_per_node);
    if (!seen.insert(members).second) continue;
    const int parity = static_cast<int>(stripe.holders.size());
    const std::size_t size = fewest_nodes(members, parity);
    if (found.size != 0 && static_cast<int>(size) > found.size) continue;
    if (static_cast<int>(size) != found.size) {
      found.size = static_cast<int>(size);
      losing.clear();
      more = 0;
    }
    if (choose(members.size(), size) > most_tried) {
      more += choose(members.size(), size);
      continue;
    }
    NodeSet used;
    for (const auto& [node, count] : members) used.push_back(node);
    for_each_subset(used, size, [&](const NodeSet& failed) {
      int dead = 0;
      for (const std::uint32_t node : failed) dead += members.at(node);
      if (dead > parity) losing.insert(failed);
    });
  }
  found.count = (static_cast<double>(losing.size()) + more) * scenario.nodes / nodes;
  return found;
}

double chance_with(const LosingSets& sets, int nodes, int failed) {
  if (sets.size == 0 || failed < sets.size) return 0;
  if (failed >= nodes) return 1;
  // A given set of s nodes is among k drawn from n with probability k/n (k-1)/(n-1) ..., s factors.
  double each = 1;
  for (int i = 0; i < sets.size; ++i) each *= static_cast<double>(failed - i) / (nodes - i);
  // If as many nodes fail as a set has, they cannot contain two sets. If more fail, sets are treated as independent.
  if (failed == sets.size) return std::min(sets.count * each, 1.0);
  return -std::expm1(sets.count * std::log1p(-std::min(each, 1 - 1e-15)));
}

/// Returns the probability that a failure leads to data loss: other failures follow, each before the window of the last
/// one ends.
double loss_per_failure(const Scenario& scenario) {
  const LosingSets sets = losing_sets(scenario);
  const double rate = (scenario.nodes - 1) / scenario.node_mtbf.count();
  const double another = -std::expm1(-rate * scenario.recovery.count());
  double chance = 0;
  double so_many = 1;
  double before = 0;
  for (int failed = 1; failed <= scenario.nodes && so_many > 1e-30; ++failed) {
    const double now = std::max(before, chance_with(sets, scenario.nodes, failed));
    chance += so_many * (now - before);
    before = now;
    so_many *= another;
  }
  return chance;
}

/// The survival function of a job that takes `elapsed` if nothing ends it: the probability that it has not ended early,
/// at `steps` intervals.
struct Survival {
  Survival(const Scenario& scenario, Seconds elapsed, double loss_rate) : step(elapsed / steps) {
    for (int i = 0; i <= steps; ++i) {
      const Seconds time = step * i;
      chance.push_back((1 - chance_of_running_out(scenario.nodes, scenario.spare_nodes, scenario.node_mtbf, time)) *
                       std::exp(-loss_rate * time.count()));
    }
  }

  /// Returns the mean time until a job is ended by a failure or is complete.
  Seconds mean() const {
    double sum = (chance.front() + chance.back()) / 2;
    for (int i = 1; i < steps; ++i) sum += chance[static_cast<std::size_t>(i)];
    return step * sum;
  }

  /// The expected number of early ends if each is followed by a new job at once: the renewal equation m = F + F' * m,
  /// solved point by point.
  double renewals() const {
    std::vector<double> expected{0};
    for (std::size_t i = 1; i <= steps; ++i) {
      // An end inside a step counts as one in its middle. Two ends in the same step are neglected.
      double value = 0;
      for (std::size_t j = 1; j <= i; ++j) {
        const double after = j == 1 ? expected[i - 1] : (expected[i - j] + expected[i - j + 1]) / 2;
        value += (chance[j - 1] - chance[j]) * (1 + after);
      }
      expected.push_back(value);
    }
    return expected.back();
  }

  static constexpr int steps = 800;
  Seconds step;
  std::vector<double> chance;
};

/// The time with commits and recoveries, as long as spares and data last: Daly's complete model with a recovery that
/// failures can interrupt. Each piece of work and its commit must complete without a failure.
Seconds elapsed_with(const Scenario& scenario, Seconds mtbf, Seconds interval) {
  const double commit =
      scenario.commit_cost.count() + (scenario.disk ? scenario.disk->cost.count() / scenario.disk->every : 0);
  const double pieces = std::max(1.0, scenario.work / interval);
  const double piece = scenario.work.count() / pieces + commit;
  return mtbf * (std::exp(scenario.recovery / mtbf) * std::expm1(piece / mtbf.count()) * pieces);
}

}  // namespace

double chance_of_running_out(int nodes, int spares, Seconds node_mtbf, Seconds time) {
  // Binomial distribution: each of nodes + spares nodes has failed by then with probability q. The smaller tail is
  // summed.
  const int all = nodes + spares;
  const double log_dead = std::log(-std::expm1(-(time / node_mtbf)));
  const double log_alive = -(time / node_mtbf);
  if (!std::isfinite(log_dead)) return time.count() > 0 ? 1 : 0;
  const auto exactly = [&](int k) {
    return std::exp(std::lgamma(all + 1.0) - std::lgamma(k + 1.0) - std::lgamma(all - k + 1.0) + k * log_dead +
                    (all - k) * log_alive);
  };
  const double odds = std::exp(log_dead - log_alive);
  double sum = 0;
  const auto add_is_enough = [&](double term) {
    sum += term;
    return term <= 1e-18 * sum;
  };
  if (all * std::exp(log_dead) > spares) {  // a larger number is likely: sum the complement
    double term = exactly(spares);
    for (int k = spares; !add_is_enough(term) && k > 0; --k) term *= k / ((all - k + 1) * odds);
    return std::clamp(1 - sum, 0.0, 1.0);
  }
  double term = exactly(spares + 1);
  for (int k = spares + 1; !add_is_enough(term) && k < all; ++k) term *= (all - k) * odds / (k + 1);
  return std::min(sum, 1.0);
}

double chance_of_loss(const Scenario& scenario, int failed) {
  return chance_with(losing_sets(scenario), scenario.nodes, failed);
}

double overhead_with(const Scenario& scenario, Seconds interval) {
  return elapsed_with(scenario, scenario.node_mtbf / scenario.nodes, interval) / scenario.work - 1;
}

Forecast forecast(const Scenario& scenario, std::optional<Seconds> interval) {
  Forecast result;
  result.mtbf = scenario.node_mtbf / scenario.nodes;
  result.interval = std::min(interval.value_or(daly_interval(scenario.commit_cost, result.mtbf)), scenario.work);
  result.elapsed = elapsed_with(scenario, result.mtbf, result.interval);
  result.overhead = result.elapsed / scenario.work - 1;
  result.failures = result.elapsed / result.mtbf;
  result.out_of_spares =
      chance_of_running_out(scenario.nodes, scenario.spare_nodes, scenario.node_mtbf, result.elapsed);
  // A failure within the window of another belongs to that window, so fewer windows begin than failures happen.
  const double loss_rate =
      loss_per_failure(scenario) * std::exp(-(scenario.recovery / result.mtbf)) / result.mtbf.count();
  result.data_loss = -std::expm1(-loss_rate * result.elapsed.count());

  const Survival survival(scenario, result.elapsed, loss_rate);
  if (scenario.disk) {
    // A version is complete on disk one commit after the commit that has its data.
    const Seconds period = result.interval + scenario.commit_cost;
    const Seconds rework = std::min(period * ((scenario.disk->every + 1) / 2.0), result.elapsed / 2);
    result.until_done =
        result.elapsed + scenario.requeue * survival.renewals() + rework * (loss_rate * result.elapsed.count());
  } else {
    const double succeeds = survival.chance.back();
    result.until_done = (survival.mean() + scenario.requeue * (1 - succeeds)) / succeeds;
  }
  return result;
}

int spares_for(Scenario scenario, double chance) {
  scenario.spare_nodes = 0;
  const Forecast alone = forecast(scenario);
  const auto enough = [&](int spares) {
    return chance_of_running_out(scenario.nodes, spares, scenario.node_mtbf, alone.elapsed) <= chance;
  };
  int above = 1;
  if (enough(0)) return 0;
  while (!enough(above) && above < 1 << 24) above *= 2;
  int below = above / 2;
  while (below + 1 < above) {
    const int middle = (below + above) / 2;
    (enough(middle) ? above : below) = middle;
  }
  return above;
}

double memory_for_others(const Redundancy& redundancy) {
  return static_cast<double>(redundancy.parity) / redundancy.data;
}

double sent_by_commit(const Redundancy& redundancy) { return redundancy.parity; }

}  // namespace mend::jobs
