// mend simulate rollback: which ranks go back when a process dies.
//
// Table I of the replay paper, simulated: for five NAS kernels, the share of messages that are logged and the share of
// processes that roll back when one fails. The paper's figure stands before the simulated one.
//
// A kernel is the number of messages from each rank to each other rank in one iteration. Clusters are consecutive
// ranks, and their epochs differ by 2 (section V-E.3). The protocol's own recovery_line computes what rolls back. The
// patterns come from the kernels' sources: CG reduces in rows by butterflies, three times for each transpose; MG
// exchanges faces of a 3-D torus on all levels of its grids; FT transposes by all-to-alls, in which a rank has a block
// for itself; LU is a pipeline on a 2-D grid; BT exchanges in rows, columns and diagonals of a square, 11 x 11 for 128.
// The paper does not describe the shape of its clusters. For MG on 256 processes, its 16 clusters cannot have been
// consecutive ranks.

#include "base/error.hpp"
#include "bench/command_line.hpp"
#include "bench/simulated/commits_figure.hpp"
#include "bench/simulated/rollback_failures.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "framework/commits/commit_schedule.hpp"
#include "jobs/plan/quantities.hpp"
#include "replay/uncoordinated/recovery_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

using replay::CommitEpoch;
using replay::Date;

/// Messages in one iteration: [from][to].
using Traffic = std::vector<std::vector<int>>;

Traffic silence(int ranks) {
  return Traffic(static_cast<std::size_t>(ranks), std::vector<int>(static_cast<std::size_t>(ranks)));
}

void send(Traffic& traffic, int from, int to, int times = 1) {
  if (from != to) traffic[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] += times;
}

int log2_of(int power) {
  int log = 0;
  while (1 << (log + 1) <= power) ++log;
  return log;
}

Traffic cg(int ranks) {
  const int rows = 1 << (log2_of(ranks) / 2);
  const int columns = ranks / rows;
  const int reductions = 3;  // of the product and of two scalars
  Traffic traffic = silence(ranks);
  for (int me = 0; me < ranks; ++me) {
    for (int partner = 1; partner < columns; partner *= 2) send(traffic, me, me ^ partner, reductions);
    const int transposed =
        columns == rows ? me % rows * rows + me / rows : 2 * (me / 2 % rows * rows + me / 2 / rows) + me % 2;
    send(traffic, me, transposed);
  }
  return traffic;
}

Traffic mg(int ranks) {
  const int log = log2_of(ranks);
  const std::array<int, 3> size{1 << (log / 3), 1 << ((log + 1) / 3), 1 << ((log + 2) / 3)};
  const int levels = 10;
  Traffic traffic = silence(ranks);
  for (int level = 1; level <= levels; ++level) {
    for (int me = 0; me < ranks; ++me) {
      const std::array<int, 3> at{me % size[0], me / size[0] % size[1], me / size[0] / size[1]};
      bool active = true;
      for (std::size_t d = 0; d < 3; ++d) active = active && at[d] % std::max(1, size[d] >> level) == 0;
      if (!active) continue;
      for (std::size_t d = 0; d < 3; ++d) {
        const int stride = std::max(1, size[d] >> level);
        for (const int step : {stride, size[d] - stride}) {
          std::array<int, 3> to = at;
          to[d] = (at[d] + step) % size[d];
          send(traffic, me, to[0] + size[0] * (to[1] + size[1] * to[2]));
        }
      }
    }
  }
  return traffic;
}

Traffic ft(int ranks) {
  Traffic traffic = silence(ranks);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) ++traffic[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  return traffic;
}

Traffic lu(int ranks) {
  const int rows = 1 << (log2_of(ranks) / 2);
  const int columns = ranks / rows;
  Traffic traffic = silence(ranks);
  for (int me = 0; me < ranks; ++me) {
    if (me % columns > 0) send(traffic, me, me - 1);
    if (me % columns < columns - 1) send(traffic, me, me + 1);
    if (me / columns > 0) send(traffic, me, me - columns);
    if (me / columns < rows - 1) send(traffic, me, me + columns);
  }
  return traffic;
}

Traffic bt(int ranks) {
  const int side = static_cast<int>(std::sqrt(ranks));
  Traffic traffic = silence(side * side);
  const auto at = [&](int row, int column) { return (row + side) % side * side + (column + side) % side; };
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      for (const int step : {1, -1}) {
        send(traffic, at(row, column), at(row, column + step));
        send(traffic, at(row, column), at(row + step, column));
        send(traffic, at(row, column), at(row + step, column - step));
      }
    }
  }
  return traffic;
}

struct Shares {
  double logged;       ///< of messages, in percent
  double rolled_back;  ///< of ranks when one fails, in percent, averaged over the failing rank
};

Shares shares(const Traffic& traffic, int count) {
  const std::size_t ranks = traffic.size();
  std::vector<int> clusters;
  std::vector<replay::Report> reports(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    clusters.push_back(static_cast<int>(rank * static_cast<std::size_t>(count) / ranks));
    reports[rank].epoch = CommitEpoch{static_cast<std::uint32_t>(1 + 2 * clusters[rank])};
  }
  double all = 0;
  double logged = 0;
  for (std::size_t from = 0; from < ranks; ++from) {
    replay::Row row{
        reports[from].epoch, std::vector<Date>(ranks), std::vector<Date>(ranks), {}, std::vector<Date>(ranks)};
    row.received.resize(ranks);
    reports[from].has.resize(ranks);
    for (std::size_t to = 0; to < ranks; ++to) {
      if (traffic[from][to] == 0) continue;
      all += traffic[from][to];
      if (reports[from].epoch < reports[to].epoch) {
        logged += traffic[from][to];
      } else {
        row.received[to] = reports[to].epoch;
      }
    }
    reports[from].rows.push_back(std::move(row));
  }
  double back = 0;
  for (std::size_t failed = 0; failed < ranks; ++failed) {
    // The ranks of a cluster have the same line, which is computed once for each cluster.
    if (failed > 0 && clusters[failed] == clusters[failed - 1]) continue;
    double mates = 0;
    for (const int cluster : clusters) mates += cluster == clusters[failed];
    reports[failed].back = true;
    for (const auto& target : replay::recovery_line(reports, clusters)) back += target ? mates : 0;
    reports[failed].back = false;
  }
  const auto size = static_cast<double>(ranks);
  return {100 * logged / all, 100 * back / (size * size)};
}

struct Kernel {
  const char* name;
  std::function<Traffic(int)> traffic;
  std::vector<Shares> paper;  ///< for the columns below
};

struct Column {
  int ranks;
  int clusters;
};
const std::vector<Column> columns{{64, 4}, {64, 8}, {128, 4}, {128, 8}, {128, 16}, {256, 4}, {256, 8}, {256, 16}};

const std::vector<Kernel> kernels{
    {"MG",
     mg,
     {{16.59, 62.5}, {25, 46.9}, {9.5, 62.5}, {17.1, 56.3}, {25.4, 42.1}, {9.1, 62.5}, {16.9, 55.7}, {24.9, 41.7}}},
    {"LU",
     lu,
     {{10.72, 62.5}, {25, 56.2}, {10.35, 62.5}, {24.14, 56.3}, {25.9, 42.1}, {5, 62.5}, {11.7, 56.1}, {25.03, 53.1}}},
    {"FT",
     ft,
     {{37.2, 62.4}, {43.6, 59}, {37.3, 62.5}, {43.6, 56}, {46.8, 53}, {37.4, 62.3}, {43.6, 55.8}, {46.8, 52.5}}},
    {"CG", cg, {{3.8, 62.5}, {4.4, 56.3}, {2.9, 62.5}, {3.4, 56.3}, {15, 43.8}, {2.9, 62.5}, {3.4, 56.3}, {3.6, 53.1}}},
    {"BT",
     bt,
     {{16.7, 62.5}, {33.3, 56.3}, {13, 62.6}, {25.2, 56.4}, {36.7, 53.3}, {8.3, 62.5}, {16.7, 56.25}, {33.3, 53.12}}}};

/// Returns the largest difference from the paper, in percentage points.
double print_table() {
  double largest = 0;
  std::puts("Table I: % of messages logged and % of processes rolled back, paper / simulated\n");
  std::puts("kernel  processes  clusters    logged           rolled back");
  for (const Kernel& kernel : kernels) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Shares paper = kernel.paper[i];
      const Shares here = shares(kernel.traffic(columns[i].ranks), columns[i].clusters);
      const double apart =
          std::max(std::abs(paper.logged - here.logged), std::abs(paper.rolled_back - here.rolled_back));
      largest = std::max(largest, apart);
      std::puts(fmt::format("{:6}  {:9}  {:8}  {:6.2f} / {:5.2f}   {:6.2f} / {:5.2f}{}", kernel.name, columns[i].ranks,
                            columns[i].clusters, paper.logged, here.logged, paper.rolled_back, here.rolled_back,
                            apart > 1 ? fmt::format("   {:.1f} apart", apart) : "")
                    .c_str());
    }
  }
  std::puts(fmt::format("\nlargest difference: {:.1f} points", largest).c_str());
  return largest;
}

/// One kernel at a size chosen by the user.
struct Own {
  std::string pattern = "CG";
  int processes = 0;
  int clusters = 16;
};

void print_own(const Own& own) {
  const auto kernel =
      std::ranges::find_if(kernels, [&](const Kernel& one) { return std::string(one.name) == own.pattern; });
  if (own.pattern != "BT" && 1 << log2_of(own.processes) != own.processes) {
    throw UsageError(fmt::format("{} runs on a power of two: give --processes {} or {}", own.pattern,
                                 1 << log2_of(own.processes), 2 << log2_of(own.processes)));
  }
  const Traffic traffic = kernel->traffic(own.processes);
  const auto ranks = static_cast<int>(traffic.size());
  if (own.clusters > ranks)
    throw UsageError(fmt::format("{} processes cannot form {} clusters: give fewer --clusters", ranks, own.clusters));
  const Shares here = shares(traffic, own.clusters);
  std::puts(fmt::format("{} on {} processes in {} clusters:", own.pattern, ranks, own.clusters).c_str());
  std::puts(fmt::format("  {:5.2f} % of the messages are logged", here.logged).c_str());
  std::puts(fmt::format("  {:5.2f} % of the processes go back when one dies, on average", here.rolled_back).c_str());
}

/// The options of `--failures`: the cost of failures under global and under local rollback, with units as users write
/// them.
struct Failures {
  bool wanted = false;
  std::uint32_t nodes = 0;
  std::uint32_t ranks_per_node = 1;
  std::vector<std::string> node_mtbf{"1y", "2y", "5y", "10y", "20y"};
  std::string length = "24h";
  std::string state;
  std::string memory_speed = "4GB";
  std::string network = "10GB";
  std::string commit_cost;
  std::string interval;
  std::string detection = "1s";
  std::string recovery;
  double logging = 0;
  double replay_speed = 1;
  double watts_busy = 10;
  double watts_waiting = 5;
  std::uint32_t runs = 100;
  std::uint64_t seed = 1;
};

FailingJob failing_job(const Failures& given, const std::string& node_mtbf) {
  FailingJob job;
  job.nodes = given.nodes;
  job.ranks_per_node = given.ranks_per_node;
  job.node_mtbf = jobs::parse_time(node_mtbf);
  job.work = jobs::parse_time(given.length);
  if (!given.commit_cost.empty()) {
    job.commit_cost = jobs::parse_time(given.commit_cost);
  } else if (!given.state.empty()) {
    const double state = jobs::parse_size(given.state);
    job.commit_cost = Seconds(state / jobs::parse_size(given.memory_speed) +
                              state * given.ranks_per_node / jobs::parse_size(given.network));
  } else {
    throw UsageError("the cost of a commit is not known: give --state-per-rank, or --commit-cost");
  }
  job.recovery =
      given.recovery.empty() ? jobs::parse_time(given.detection) + job.commit_cost : jobs::parse_time(given.recovery);
  const Seconds mtbf = job.node_mtbf / job.nodes;
  job.interval = given.interval.empty() ? daly_interval(job.commit_cost, mtbf) : jobs::parse_time(given.interval);
  constexpr double most_commits = 1e6;
  if (job.work > most_commits * job.interval) {
    throw UsageError(
        fmt::format("{} of work with a commit after each {} are more than a million commits: give a "
                    "shorter --length or a longer --interval",
                    jobs::text_of(job.work), jobs::text_of(job.interval)));
  }
  job.logging = given.logging / 100;
  job.replay_speed = given.replay_speed;
  if (job.interval + job.commit_cost + job.recovery > 3 * mtbf) {
    throw UsageError(fmt::format(
        "a node of the job fails every {}, and an interval with its commit and a recovery take {}: such a job makes no "
        "progress; use fewer nodes, commit more often or commit less data",
        jobs::text_of(mtbf), jobs::text_of(job.interval + job.commit_cost + job.recovery)));
  }
  return job;
}

/// Means over the runs, relative to the same job without failures and without logs.
struct Lost {
  double failures = 0;
  Seconds time{};
  double again_hours = 0;    ///< of ranks
  double waiting_hours = 0;  ///< of ranks
  double kilowatt_hours = 0;
};

Lost lost(const Failures& given, const FailingJob& job, Rollback rollback) {
  FailingJob quiet = job;
  quiet.logging = 0;
  quiet.node_mtbf = Seconds(1e300);
  const JobCost undisturbed = FailingJobRun(quiet, Rollback::global, given.seed).run();
  const auto joules = [&](const JobCost& cost) {
    return given.watts_busy * cost.computing.count() + given.watts_waiting * cost.waiting.count();
  };
  Lost mean;
  for (std::uint32_t run = 0; run < given.runs; ++run) {
    const JobCost cost = FailingJobRun(job, rollback, given.seed + run).run();
    mean.failures += static_cast<double>(cost.failures) / given.runs;
    mean.time += (cost.time - undisturbed.time) / given.runs;
    mean.again_hours += cost.computed_again.count() / 3600 / given.runs;
    mean.waiting_hours += cost.waiting.count() / 3600 / given.runs;
    mean.kilowatt_hours += (joules(cost) - joules(undisturbed)) / 3.6e6 / given.runs;
  }
  return mean;
}

void print_failures(const Failures& given) {
  const FailingJob first = failing_job(given, given.node_mtbf.front());
  std::puts(fmt::format("{} ranks on {} nodes work for {}; a commit takes {}, a recovery {}; {:g} W for a rank that "
                        "computes, {:g} W for one that waits.",
                        static_cast<std::uint64_t>(given.nodes) * given.ranks_per_node, given.nodes,
                        jobs::text_of(first.work), jobs::text_of(first.commit_cost), jobs::text_of(first.recovery),
                        given.watts_busy, given.watts_waiting)
                .c_str());
  std::puts(
      fmt::format("Lost to failures, mean of {} simulated jobs (docs/replay.md says what is assumed):\n", given.runs)
          .c_str());
  std::puts("node MTBF  interval  rollback  failures  time lost  rank-hours again  rank-hours waiting   kWh lost");
  for (const std::string& mtbf : given.node_mtbf) {
    const FailingJob job = failing_job(given, mtbf);
    for (const Rollback rollback : {Rollback::global, Rollback::local}) {
      const Lost mean = lost(given, job, rollback);
      std::puts(fmt::format("{:>9}  {:>8}  {:8}  {:8.1f}  {:>9}  {:16.1f}  {:18.1f}  {:9.1f}", mtbf,
                            jobs::text_of(job.interval), rollback == Rollback::global ? "global" : "local",
                            mean.failures, mean.time.count() < 0.001 ? "0s" : jobs::text_of(mean.time),
                            mean.again_hours, mean.waiting_hours, mean.kilowatt_hours)
                    .c_str());
    }
  }
}

/// Adds the options of `--failures` and returns its flag.
Option add_failures(CommandLine& app, Failures& given) {
  const Option wanted =
      app.flag("--failures", given.wanted, "Instead: what failures cost a job under global and under local rollback");
  const auto option = [&](const char* name, auto& value, const char* text) {
    return app.option(name, value, text).needs(wanted).in_group("With --failures");
  };
  wanted.needs(option("--nodes", given.nodes, "Nodes of the job").between(1, 10'000'000));
  option("--ranks-per-node", given.ranks_per_node, "Ranks on each").between(1, 4096).with_default();
  option("--node-mtbf", given.node_mtbf, "Mean times between failures of a node, a table row each")
      .separated_by_commas()
      .with_default();
  option("--length", given.length, "Work of the job").with_default();
  option("--state-per-rank", given.state, "What a rank commits: gives the cost of a commit, as in mend plan");
  option("--memory-speed", given.memory_speed, "Bytes per second that a rank copies and hashes").with_default();
  option("--network", given.network, "Bytes per second that a node sends").with_default();
  option("--commit-cost", given.commit_cost, "Time of a commit, measured");
  option("--interval", given.interval, "Work between two commits; default: Daly's for each failure rate");
  option("--detection", given.detection, "Until a death is known").with_default();
  option("--recovery", given.recovery, "From a death until ranks compute; default: detection and a commit");
  option("--logging-cost", given.logging, "Local rollback: by how many percent logs slow the work down")
      .between(0.0, 1000.0)
      .with_default();
  option("--replay-speed", given.replay_speed, "Local rollback: how many times faster work is done again")
      .between(0.01, 1000.0)
      .with_default();
  option("--watts-busy", given.watts_busy, "Of a rank that computes or commits").between(0.0, 1e9).with_default();
  option("--watts-waiting", given.watts_waiting, "Of a rank that waits").between(0.0, 1e9).with_default();
  option("--runs", given.runs, "Jobs for each mean").between(1, 1'000'000).with_default();
  option("--seed", given.seed, "Of the first; each next one has the next number").with_default();
  return wanted;
}

/// The largest accepted difference from table I, in percentage points.
constexpr double most_apart = 4.0;
constexpr int most_processes = 2048;  // every pair of processes has an entry

int run(int argc, char** argv) {
  CommandLine app(
      "",
      "Who goes back when a process dies: table I of the paper on send-deterministic checkpoints beside what the paper "
      "says, or a size of your own.");
  std::string figure;
  Own own;
  std::vector<std::string> patterns;
  for (const Kernel& kernel : kernels) patterns.emplace_back(kernel.name);
  const Option preset =
      app.option("--figure", figure,
                 "replay-I: table I, which is also what comes without options; commits: what is lost if "
                 "clusters commit together, and if they commit at different times")
          .one_of({"replay-I", "commits"});
  const Option processes =
      app.option("--processes", own.processes, "Instead of table I: so many processes").between(4, most_processes);
  processes.excludes(preset);
  app.option("--clusters", own.clusters, "Of those: each commits for itself")
      .between(1, most_processes)
      .needs(processes)
      .with_default();
  app.option("--pattern", own.pattern, "Who sends to whom: the NAS kernel MG, LU, FT, CG or BT")
      .one_of(patterns)
      .needs(processes)
      .with_default();
  Failures failures;
  add_failures(app, failures).excludes(preset).excludes(processes);
  CommitsFigure commits;
  const std::vector<Option> of_commits = add_options_of_commits(app, preset, commits);
  if (const auto code = app.parse_as_command(argc, argv)) return *code;
  if (failures.wanted) {
    print_failures(failures);
    return 0;
  }
  if (figure == "commits") {
    print_commits(commits);
    return 0;
  }
  refuse_options_of_commits(of_commits);
  if (own.processes == 0) return print_table() <= most_apart ? 0 : 1;
  print_own(own);
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) { return mend::bench::exit_code_of(&mend::bench::run, argc, argv); }
