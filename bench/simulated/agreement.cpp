// The figures of the two agreement papers, simulated: each table shows the paper's values beside the simulated ones.

#include "agreement/service.hpp"
#include "agreement/simulated/simulation.hpp"
#include "bench/command_line.hpp"
#include "bench/simulated/machines.hpp"
#include "bench/simulated/allreduce.hpp"
#include "bench/simulated/simulation_main.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mend::bench {
namespace {

using agreement::GroupSimulation;
using agreement::Layout;
using agreement::Member;
using agreement::Protocol;
using agreement::Rebalancing;
using agreement::SimulatedTime;
using agreement::SimulationOptions;
using Json = nlohmann::json;
using Microseconds = std::chrono::duration<double, std::micro>;

double in_us(SimulatedTime time) { return Microseconds(time).count(); }

void say(const std::string& line) { std::puts(line.c_str()); }

SimulationOptions on_darter(std::uint32_t members, const char* layout) {
  SimulationOptions options;
  options.members = members;
  options.layout = Layout::parse(layout);
  options.network = darter();
  return options;
}

/// Returns the time of one agreement without failures, from the start everywhere to the last return.
double quiet_us(const SimulationOptions& options) {
  GroupSimulation group(options);
  group.run();
  if (const auto wrong = group.verdict()) throw std::runtime_error(*wrong);
  return in_us(group.duration(0));
}

/// Least squares for y = a log_base(x), and how well that line explains y.
struct LogarithmicFit {
  double factor;
  double explained;  // the share of the variance of the times that the line explains: r^2
};
LogarithmicFit fit(const std::vector<std::pair<double, double>>& points, double base) {
  double sum_y = 0;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const auto& [x, y] : points) {
    const double log = std::log(x) / std::log(base);
    sum_y += y;
    xx += log * log;
    xy += log * y;
    yy += y * y;
  }
  const auto count = static_cast<double>(points.size());
  const double factor = xy / xx;
  const double unexplained = yy - 2 * factor * xy + factor * factor * xx;
  return {factor, 1 - unexplained / (yy - sum_y * sum_y / count)};
}

// ---- ERA paper

constexpr double paper_factor = 6.7;
constexpr double paper_base = 2.125;  // the mean number of children in its bin/bin tree

Json figure_2a() {
  say("Figure 2a: a quiet agreement, microseconds. Paper: ERA (bin/bin) follows 6.7 log_2.125(n); log2phases grows");
  say("linearly, although its messages do not; ERA takes about twice an allreduce that knows the nodes.");
  say("\n processes |  paper's fit  ERA sim. | allreduce sim.  ratio | log2phases sim.  with 20 ns a member");
  Json rows = Json::array();
  std::vector<std::pair<double, double>> points;
  for (std::uint32_t n : {32U, 64U, 128U, 256U, 512U, 1024U, 2048U, 4096U, 8192U}) {
    const double era = quiet_us(on_darter(n, "bin/bin:16"));
    const double allreduce = in_us(SimulatedAllreduce(n, darter()).run());
    SimulationOptions two_phases = on_darter(n, "bin/bin:16");
    two_phases.protocol = Protocol::log2phases;
    const double log2phases = quiet_us(two_phases);
    two_phases.per_member = SimulatedTime{20};
    const double with_local_work = quiet_us(two_phases);
    const double curve = paper_factor * std::log(n) / std::log(paper_base);
    points.emplace_back(n, era);
    say(fmt::format("{:10} | {:12.1f} {:9.1f} | {:14.1f} {:6.2f} | {:15.1f} {:21.1f}", n, curve, era, allreduce,
                    era / allreduce, log2phases, with_local_work));
    rows.push_back({{"processes", n},
                    {"paper_fit_us", curve},
                    {"era_us", era},
                    {"allreduce_us", allreduce},
                    {"log2phases_us", log2phases},
                    {"log2phases_linear_work_us", with_local_work}});
  }
  const LogarithmicFit ours = fit(points, paper_base);
  say(
      fmt::format("\nFit of the simulated ERA: {:.1f} log_2.125(n); paper: 6.7. The network's overhead is fitted so "
                  "that the two meet",
                  ours.factor));
  say(fmt::format("at 6,000; this line, which goes through 0 as the paper's does, has r^2 = {:.4f}.", ours.explained));
  say("log2phases' messages grow with the logarithm here too; the paper's measurement is linear because of work done");
  say("per member at every call, which the last column adds (20 ns: chosen for the shape).\n");
  return {{"rows", rows}, {"fit_factor", ours.factor}, {"fit_r2", ours.explained}};
}

Json figure_2b() {
  say("Figure 2b: the trees, microseconds. Paper: bin/bin is fastest; bin/star is slower than flat binary, because a");
  say("leader handles its 15 neighbours one after another.");
  say("\n processes |  bin/bin  flat binary  bin/star |     star    chain/bin");
  Json rows = Json::array();
  for (std::uint32_t n : {64U, 256U, 1024U, 4096U, 6000U}) {
    Json row{{"processes", n}};
    std::vector<double> times;
    for (const char* layout : {"bin/bin:16", "binary", "bin/star:16", "star", "chain/bin:16"}) {
      times.push_back(quiet_us(on_darter(n, layout)));
      row[layout] = times.back();
    }
    say(fmt::format("{:10} | {:8.1f} {:12.1f} {:9.1f} | {:8.1f} {:12.1f}", n, times[0], times[1], times[2], times[3],
                    times[4]));
    rows.push_back(row);
  }
  say("");
  return rows;
}

/// Four agreements that start in step; the `victims` die during the second.
struct AroundFailure {
  double before, detecting, stabilizing, after;
  std::uint64_t messages;
};
AroundFailure around_failure(std::uint32_t members, const std::vector<std::uint32_t>& victims, Rebalancing rebalancing,
                             const char* layout = "bin/bin:16") {
  SimulationOptions options = on_darter(members, layout);
  options.agreements = 4;
  options.rebalancing = rebalancing;
  options.in_step = microseconds(200'000);
  GroupSimulation group(options);
  for (std::uint32_t victim : victims) group.kill({victim}, options.in_step + microseconds(5));
  group.run();
  if (const auto wrong = group.verdict()) throw std::runtime_error(*wrong);
  return {in_us(group.longest_wait(0)), in_us(group.longest_wait(1)), in_us(group.longest_wait(2)),
          in_us(group.longest_wait(3)), group.messages_sent()};
}

Json figure_2c() {
  say("Figure 2c: around one failure (process 16, a node's leader), microseconds. Paper: the detecting agreement "
      "waits");
  say("for the failure detector; with rebalancing the next one pays for a new tree, linearly; then all is as before,");
  say("and without rebalancing nearly so: after one failure it is not worth it.");
  say("\n processes | rebalancing        quiet  detecting  stabilizing  after");
  Json rows = Json::array();
  for (std::uint32_t n : {256U, 1024U, 6000U}) {
    for (const auto& [name, rebalancing] :
         {std::pair{"always", Rebalancing::always}, std::pair{"never", Rebalancing::never},
          std::pair{"when degenerated", Rebalancing::when_degenerated}}) {
      const AroundFailure took = around_failure(n, {16}, rebalancing);
      say(fmt::format("{:10} | {:16} {:7.1f} {:10.1f} {:12.1f} {:6.1f}", n, name, took.before, took.detecting,
                      took.stabilizing, took.after));
      rows.push_back({{"processes", n},
                      {"rebalancing", name},
                      {"quiet_us", took.before},
                      {"detecting_us", took.detecting},
                      {"stabilizing_us", took.stabilizing},
                      {"after_us", took.after}});
    }
  }
  say("\nThe detecting agreement is as slow as the detector (here 1 to 20 ms, by chance; the paper's took up to 112 "
      "ms).");
  say("That a new tree costs nothing here is an assumption: computing takes no time in these simulations.\n");

  say("After many failures, which is what rebalancing is for: 1,024 in a flat binary tree.");
  Json many = Json::array();
  for (const std::uint32_t count : {10U, 50U, 300U}) {
    std::vector<std::uint32_t> victims;
    for (std::uint32_t p = 0; p < count; ++p) victims.push_back(p);
    const AroundFailure with = around_failure(1024, victims, Rebalancing::when_degenerated, "binary");
    const AroundFailure without = around_failure(1024, victims, Rebalancing::never, "binary");
    say(fmt::format("  the first {:3} die: afterwards {:6.1f} us rebalanced, {:6.1f} us mended only (quiet: {:.1f} us)",
                    count, with.after, without.after, with.before));
    many.push_back({{"victims", count}, {"rebalanced_us", with.after}, {"mended_us", without.after}});
  }
  say("");
  return {{"one_failure", rows}, {"many_failures", many}};
}

Json table_2d() {
  struct Row {
    const char* who;
    std::vector<std::uint32_t> victims;
    double detecting, stabilizing, after;
  };
  std::vector<std::uint32_t> node;
  for (std::uint32_t p = 16; p < 32; ++p) node.push_back(p);
  const std::vector<Row> table{{"0 (root)", {0}, 12'659, 104.9, 69.7},
                               {"4 (below 0)", {4}, 93'816, 102, 75.7},
                               {"16 (node leader)", {16}, 80'023, 98.9, 77.1},
                               {"17 (below 16)", {17}, 112'414, 104.2, 76.7},
                               {"16-31 (a node)", node, 82'171, 117.1, 85.2}};
  say("Table 2d: who died, of 6,000 in a bin/bin tree without rebalancing, microseconds, paper | simulated. Absolute");
  say("times compare only as far as the fitted factor carries; the detecting agreement compares not at all.");
  say("\n failed           |  detecting          |  stabilizing       |  post-failure");
  Json rows = Json::array();
  for (const Row& row : table) {
    const AroundFailure took = around_failure(6000, row.victims, Rebalancing::never);
    say(fmt::format(" {:16} | {:8.0f} | {:8.0f} | {:7.1f} | {:8.1f} | {:6.1f} | {:6.1f}", row.who, row.detecting,
                    took.detecting, row.stabilizing, took.stabilizing, row.after, took.after));
    rows.push_back({{"failed", row.who},
                    {"paper_stabilizing_us", row.stabilizing},
                    {"paper_after_us", row.after},
                    {"detecting_us", took.detecting},
                    {"stabilizing_us", took.stabilizing},
                    {"after_us", took.after},
                    {"quiet_us", took.before}});
  }
  say("\nPaper: stabilizing costs 28 to 51 % more than after, for the connections that bypass the dead; the simulated");
  say("network has no connections to set up, and shows the message count alone.\n");
  return rows;
}

// ---- validate-all paper

Json validate_all() {
  say("validate-all, strict and loose, microseconds. Paper, 4,096 processes: 305 strict, 172 loose, ratio 1.78; both");
  say("grow with the logarithm.");
  say("\n processes |   strict    loose  ratio |  ERA");
  Json rows = Json::array();
  for (std::uint32_t n : {16U, 64U, 256U, 1024U, 4096U}) {
    SimulationOptions options;
    options.members = n;
    options.network = surveyor();
    options.protocol = Protocol::validate_all;
    const double strict = quiet_us(options);
    options.protocol = Protocol::validate_all_loose;
    const double loose = quiet_us(options);
    options.protocol = Protocol::era;
    options.layout = Layout::parse("bin/bin:4");
    const double era = quiet_us(options);
    say(fmt::format("{:10} | {:8.1f} {:8.1f} {:6.2f} | {:6.1f}", n, strict, loose, strict / loose, era));
    rows.push_back({{"processes", n}, {"strict_us", strict}, {"loose_us", loose}, {"era_us", era}});
  }
  say("\nThe strict time at 4,096 is fitted; the ratio is not: strict goes over the tree five times, loose three (5/3 "
      "= 1.67).\n");
  return rows;
}

// ---- beyond the papers

Json a_million() {
  constexpr std::uint32_t members = 1U << 20U;
  const auto begin = std::chrono::steady_clock::now();
  SimulationOptions options = on_darter(members, "bin/bin:16");
  options.agreements = 3;
  options.in_step = microseconds(100'000);
  GroupSimulation group(options);
  group.kill({1}, options.in_step + microseconds(5));
  group.kill({16 * 1000}, options.in_step + microseconds(5));
  group.run();
  if (const auto wrong = group.verdict()) throw std::runtime_error(*wrong);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double gib = static_cast<double>(usage.ru_maxrss) / (1024.0 * 1024.0);
  say(fmt::format("ERA with {} processes, bin/bin:16 (beyond the paper; its fit would say {:.1f} us):", members,
                  paper_factor * std::log(members) / std::log(paper_base)));
  say(fmt::format("  quiet {:.1f} us; with two deaths in it {:.0f} us; the next {:.1f} us",
                  in_us(group.longest_wait(0)), in_us(group.longest_wait(1)), in_us(group.longest_wait(2))));
  say(fmt::format("  {} messages; simulated in {:.1f} s and {:.2f} GiB\n", group.messages_sent(), took.count(), gib));
  return {{"processes", members},
          {"quiet_us", in_us(group.longest_wait(0))},
          {"next_us", in_us(group.longest_wait(2))},
          {"seconds", took.count()},
          {"gib", gib}};
}

// ---- the user's own machine

struct OwnMachine {
  std::uint32_t processes = 0;
  std::uint32_t processes_per_node = 1;
  double latency_us = 2;
  double overhead_us = 0.7;
};

/// The time of an agreement without failures on the user's machine, for each protocol.
Json own_scale(const OwnMachine& machine) {
  const auto nanoseconds_of = [](double us) { return nanoseconds(static_cast<std::int64_t>(us * 1e3)); };
  say(fmt::format("A quiet agreement of {} processes, {} on a node, {} us on the way and {} us at either end:",
                  machine.processes, machine.processes_per_node, machine.latency_us, machine.overhead_us));
  Json result{{"processes", machine.processes}};
  for (const auto& [name, protocol] : {std::pair{"era", Protocol::era}, std::pair{"log2phases", Protocol::log2phases},
                                       std::pair{"validate-all", Protocol::validate_all},
                                       std::pair{"validate-all-loose", Protocol::validate_all_loose}}) {
    SimulationOptions options;
    options.members = machine.processes;
    options.protocol = protocol;
    options.network.between_nodes = {nanoseconds_of(machine.latency_us), nanoseconds_of(machine.overhead_us), 0.1};
    options.network.within_node = {nanoseconds_of(std::min(machine.latency_us, 0.35)),
                                   nanoseconds_of(std::min(machine.overhead_us, 0.5)), 0.05};
    options.network.processes_per_node = machine.processes_per_node;
    if (protocol == Protocol::era) options.layout = agreement::Service::usual_layout();
    const double time = quiet_us(options);
    say(fmt::format("  {:<20}{:10.1f} us", name, time));
    result[std::string(name) + "_us"] = time;
  }
  return result;
}

struct Figure {
  const char* name;  ///< as --figure takes it
  const char* key;   ///< in the JSON file
  Json (*make)();
};
constexpr Figure figures[] = {{"era-2a", "figure_2a", figure_2a},
                              {"era-2b", "figure_2b", figure_2b},
                              {"era-2c", "figure_2c", figure_2c},
                              {"era-2d", "table_2d", table_2d},
                              {"validate-all", "validate_all", validate_all},
                              {"era-million", "million", a_million}};

int run(int argc, char** argv) {
  CommandLine app(
      "",
      "The figures of the ERA and validate-all papers, simulated beside what the papers say; or agreements of "
      "your own size.");
  bool without_million = false;
  std::string json_file;
  std::string figure;
  OwnMachine own;
  std::vector<std::string> names;
  for (const Figure& one : figures) names.emplace_back(one.name);
  const Option one_figure = app.option("--figure", figure, "This one alone").one_of(names);
  const Option processes =
      app.option("--processes", own.processes, "Instead of figures: agreements of so many").between(2, 1 << 20);
  processes.excludes(one_figure);
  const auto of_own = [&](const char* name, auto& value, const char* text) {
    return app.option(name, value, text).needs(processes).with_default();
  };
  of_own("--processes-per-node", own.processes_per_node, "Of those").between(1, 4096);
  of_own("--latency", own.latency_us, "Between nodes, in us").between(0.001, 1e6);
  of_own("--overhead", own.overhead_us, "Of a message at either end, in us").between(0.001, 1e6);
  app.flag("--without-million", without_million, "Leave out the run with 1,048,576 processes").excludes(processes);
  app.option("--json", json_file, "Also write all numbers to this file");
  if (const auto code = app.parse_as_command(argc, argv)) return *code;
  say("Simulated: a one-port network with latency, overhead and a cost per byte (bench/simulated/machines.hpp). "
      "Compare shapes");
  say("and ratios; absolute times follow from one fitted number for each machine.\n");
  Json all;
  if (own.processes != 0) {
    all["own"] = own_scale(own);
  } else {
    for (const Figure& one : figures) {
      if (!figure.empty() ? figure == one.name : !(without_million && one.make == a_million)) all[one.key] = one.make();
    }
  }
  write_json(json_file, all);
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) { return mend::bench::exit_code_of(&mend::bench::run, argc, argv); }
