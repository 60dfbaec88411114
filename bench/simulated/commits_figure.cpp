#include "bench/simulated/commits_figure.hpp"

#include "base/error.hpp"
#include "bench/simulated/commit_waves.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace mend::bench {
namespace {

struct Coupling {
  std::string name;
  Exchange exchange;
  std::uint32_t every;  ///< steps
};

std::vector<Coupling> couplings(std::uint32_t exchange_every) {
  std::vector<Coupling> all{{"none", Exchange::none, 1}};
  for (const auto& [name, exchange] : std::array<std::pair<const char*, Exchange>, 3>{
           {{"ring", Exchange::ring}, {"grid", Exchange::grid}, {"all", Exchange::all}}}) {
    all.push_back({name, exchange, 1});
    if (exchange_every > 1) all.push_back({fmt::format("{} / {}", name, exchange_every), exchange, exchange_every});
  }
  return all;
}

void check_commits(const CommitsFigure& given) {
  for (const std::uint32_t clusters : given.clusters) {
    if (clusters <= given.ranks) continue;
    throw UsageError(fmt::format("{} ranks cannot form {} clusters: give fewer in --cluster-counts, or more --ranks",
                                 given.ranks, clusters));
  }
  constexpr double most_rank_steps = 2e7;
  if (static_cast<double>(given.ranks) * given.steps > most_rank_steps) {
    throw UsageError(fmt::format("{} ranks with {} steps between commits take too long: give fewer --ranks or --steps",
                                 given.ranks, given.steps));
  }
}

/// The three numbers of a row for one network.
std::string losses(CommittingJob job) {
  std::string text;
  for (const CommitOrder order : {CommitOrder::together, CommitOrder::in_order, CommitOrder::interleaved}) {
    job.order = order;
    text += fmt::format("{:{}.1f}", lost_to_commits(job), order == CommitOrder::together ? 12 : 13);
  }
  return text;
}

}  // namespace

std::vector<Option> add_options_of_commits(CommandLine& app, Option figure, CommitsFigure& given) {
  const auto option = [&](const char* name, auto& value, const char* text) {
    return app.option(name, value, text).needs(figure).in_group("With --figure commits").with_default();
  };
  return {
      option("--ranks", given.ranks, "Of the job").between(2, 1 << 20),
      option("--cluster-counts", given.clusters, "Clusters that commit each for itself, a table row each")
          .separated_by_commas()
          .between(1, 1 << 20),
      option("--steps", given.steps, "From a commit of a rank to its next one").between(1, 1'000'000),
      option("--exchange-every", given.exchange_every, "Steps between messages, in the rows of a loosely coupled job")
          .between(1, 1'000'000),
      option("--network-share", given.network_share,
             "The slow network: the share of the ranks that can send at full speed at once; 0.25: a network "
             "oversubscribed 4:1")
          .between(0.001, 1.0)};
}

void refuse_options_of_commits(const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (option.is_given()) throw UsageError(option.name() + " is an option of --figure commits alone");
  }
}

void print_commits(const CommitsFigure& given) {
  check_commits(given);
  std::puts(fmt::format("Simulated: {0} ranks in clusters of consecutive ranks. Each cluster commits every {1} steps.\n"
                        "together      all clusters in the same step\n"
                        "in order      each cluster {1} / clusters steps after the one before\n"
                        "interleaved   the same, but neighbours long before or after each other\n\n"
                        "Time that commits add to {1} steps; 1: a commit of a rank alone (docs/replay.md says what is "
                        "assumed).\nMessages: the ranks whose messages a rank needs in each step{2}.\n"
                        "A cluster that fails computes {3:g} steps again on average, in each order.\n",
                        given.ranks, given.steps,
                        given.exchange_every > 1 ? fmt::format("; / {0}: once in {0} steps", given.exchange_every) : "",
                        given.steps / 2.0)
                .c_str());
  std::puts(fmt::format("                       all ranks send at full speed           {:g} % of the ranks do",
                        100 * given.network_share)
                .c_str());
  std::puts("messages   clusters    together     in order  interleaved    together     in order  interleaved");
  for (const Coupling& coupling : couplings(given.exchange_every)) {
    for (const std::uint32_t clusters : given.clusters) {
      CommittingJob job{given.ranks, clusters, given.steps};
      job.exchange = coupling.exchange;
      job.exchange_every = coupling.every;
      const std::string full = losses(job);
      job.network_share = given.network_share;
      std::puts(fmt::format("{:9}  {:8}{}{}", coupling.name, clusters, full, losses(job)).c_str());
    }
  }
}

}  // namespace mend::bench
