// What to expect of a recovery at a given scale: mend's cores in the simulator, phase by phase.

#include "bench/command_line.hpp"
#include "bench/simulated/given_times.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "framework/recovery/simulated/simulation.hpp"
#include "jobs/plan/quantities.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

using recovery::Finding;
using recovery::Phase;
using recovery::PhaseCost;
using recovery::RecoverySimulation;
using recovery::SimulatedTime;
using recovery::SimulationOptions;
using Json = nlohmann::json;

void say(const std::string& line) { std::puts(line.c_str()); }
double in_ms(SimulatedTime time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// What the user gives, with units as people write them.
struct Given {
  std::vector<int> ranks{16, 64, 256, 1024};
  std::uint32_t ranks_per_node = 1;
  int spares = -1;  // as many as die, if they take over
  int failures = 1;
  std::string another_after;
  std::string rung = "spare";
  std::string found_by = "told";
  std::string told_after = "0.5ms";
  std::string heartbeat = "100ms";
  std::string timeout = "1s";
  std::string until_call = "0";
  std::string start_process = "150ms";
  double latency_us = 2;
  double overhead_us = 0.7;
  std::string network = "10GB";
  std::string memory_speed = "4GB";
  std::string state = "1GiB";
  std::string redundancy = "partner";
  std::uint64_t seed = 1;
  std::string json;
};

SimulationOptions options_of(const Given& given, int ranks) {
  const double per_byte = 1e9 / jobs::parse_size(given.network);
  SimulationOptions options;
  options.ranks = ranks;
  options.policy = Policy::parse(given.rung);
  options.spares = given.spares >= 0      ? given.spares
                   : options.policy.spare ? given.failures + (given.another_after.empty() ? 0 : 1)
                                          : 0;
  options.network.between_nodes = {from_microseconds(given.latency_us), from_microseconds(given.overhead_us), per_byte};
  options.network.within_node = {from_microseconds(std::min(given.latency_us, 0.35)),
                                 from_microseconds(std::min(given.overhead_us, 0.5)), per_byte / 2};
  options.network.processes_per_node = given.ranks_per_node;
  options.timing = {parsed_time(given.heartbeat), parsed_time(given.timeout)};
  options.finding = given.found_by == "told" ? Finding::told : Finding::silence;
  options.told_after = parsed_time(given.told_after);
  options.until_call = parsed_time(given.until_call);
  options.start_process = parsed_time(given.start_process);
  options.bytes_per_rank = static_cast<ByteCount>(jobs::parse_size(given.state));
  options.memory_speed = jobs::parse_size(given.memory_speed) / 1e9;
  options.redundancy = Redundancy::parse(given.redundancy);
  options.failures = given.failures;
  if (!given.another_after.empty()) options.another_after = parsed_time(given.another_after);
  options.seed = given.seed;
  return options;
}

/// One recovery.
struct Column {
  int ranks = 0;
  std::vector<PhaseCost> phases;
  double total_ms = 0;
  double first_known_ms = 0;
};

Column simulated(const Given& given, int ranks) {
  RecoverySimulation job(options_of(given, ranks));
  job.run();
  if (const auto wrong = job.verdict()) throw std::runtime_error(*wrong);
  if (job.was_cut_off()) {
    throw UsageError(fmt::format(
        "with {} ranks the job ends instead of going on (half of the processes or more are silent, and the others take "
        "themselves for cut off): give fewer --failures, or --found-by told",
        ranks));
  }
  if (const auto end = job.end()) {
    const std::string why = job.lost().empty() ? to_string(recovery::Action{*end}) : "the data of a rank is lost";
    throw UsageError(
        fmt::format("with {} ranks the job ends instead of going on ({}): give other --spares, "
                    "--failures, --on-failure or --redundancy",
                    ranks, why));
  }
  Column column{ranks, {}, in_ms(job.total()), in_ms(job.first_known())};
  for (std::size_t phase = 0; phase < recovery::phases; ++phase) {
    column.phases.push_back(job.cost(static_cast<Phase>(phase)));
  }
  return column;
}

/// How a number grows from the smallest job to the largest.
std::string growth(const std::vector<Column>& columns, const std::vector<double>& values) {
  const double first = values.front();
  const double last = values.back();
  const double sizes = static_cast<double>(columns.back().ranks) / columns.front().ranks;
  if (columns.size() < 2 || first <= 0 || sizes < 4) return "";
  const double logarithms = std::log2(columns.back().ranks) / std::log2(columns.front().ranks);
  const double grown = last / first;
  if (grown < 1.15) return "constant";
  if (std::log(grown) > 0.6 * std::log(sizes)) return "n";
  return grown <= 2 * logarithms ? "log n" : "log n and n";
}

struct Table {
  const char* heading;
  std::function<double(const PhaseCost&)> value;
  std::function<double(const PhaseCost&)> most;  ///< what is looked at for how it grows
  std::function<std::string(double value, double most)> text;
};

void print(const Table& table, const std::vector<Column>& columns) {
  const auto print_row = [&](const char* name, const std::vector<double>& values, const std::vector<double>& most,
                             const std::string& grows) {
    std::string line = fmt::format("  {:<32}", name);
    for (std::size_t i = 0; i < values.size(); ++i) line += fmt::format("{:>21}", table.text(values[i], most[i]));
    say(grows.empty() ? line : line + "   " + grows);
  };
  std::string head = fmt::format("\n{:<34}", table.heading);
  for (const Column& column : columns) head += fmt::format("{:>21}", column.ranks);
  say(columns.size() > 1 ? head + "   grows with" : head);
  std::vector<double> totals(columns.size(), 0);
  std::vector<double> totals_of_most(columns.size(), 0);
  for (std::size_t phase = 0; phase + 1 < recovery::phases; ++phase) {
    std::vector<double> values;
    std::vector<double> most;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      values.push_back(table.value(columns[i].phases[phase]));
      most.push_back(table.most(columns[i].phases[phase]));
      totals[i] += values.back();
      totals_of_most[i] += most.back();
    }
    if (std::ranges::all_of(most, [](double value) { return value == 0; })) continue;
    print_row(recovery::name_of(static_cast<Phase>(phase)), values, most, growth(columns, most));
  }
  print_row("together", totals, totals_of_most, growth(columns, totals_of_most));
}

void print_assumptions(const Given& given) {
  const SimulationOptions options = options_of(given, given.ranks.front());
  say(fmt::format("A recovery from the death of {}; on failure: {}; {} a rank, with redundancy {}.",
                  (given.failures == 1 ? "a rank" : fmt::format("{} ranks at once", given.failures)) +
                      (given.another_after.empty() ? "" : ", and another one " + given.another_after + " later"),
                  given.rung, given.state, given.redundancy));
  say(fmt::format("{} us on the way and {} us at either end of a message, {} a second, {} rank{} on a node.",
                  given.latency_us, given.overhead_us, given.network, given.ranks_per_node,
                  given.ranks_per_node == 1 ? "" : "s"));
  say(options.finding == Finding::told
          ? fmt::format("The kernel or the runtime tells one process of each death after {}.", given.told_after)
          : fmt::format("Deaths are found by silence: a heartbeat every {}, time-out {}.", given.heartbeat,
                        given.timeout));
  say("Simulated: mend's cores, message by message. A model: what the MPI library does inside revoke, shrink, split,");
  say("connect and merge (docs/planning.md). What a process computes takes no time, except copying its data.");
}

void print_what_grows(const Given& given) {
  say("\nNot logarithmic, whatever the table shows at these sizes:");
  say("  split          every process receives colour and key of all, 8 bytes each, for two communicators");
  say("  restore: tell  every rank receives what all others hold, more than 100 bytes each; then come the data");
  say("  everywhere     the roster in each process, and making the plan from it: memory and work, not shown");
  if (!Policy::parse(given.rung).spawn) return;
  say("  start process  the host tells the newcomer where everybody is");
  say("  greet, merge   the newcomer exchanges a message with each process, one after the other");
  say("  from meet to admit, and the round after that, once for each newcomer, one newcomer after the other");
}

Json json_of(const std::vector<Column>& columns) {
  Json all = Json::array();
  for (const Column& column : columns) {
    Json phases;
    for (std::size_t phase = 0; phase + 1 < recovery::phases; ++phase) {
      const PhaseCost& cost = column.phases[phase];
      phases[recovery::name_of(static_cast<Phase>(phase))] = {
          {"ms", in_ms(cost.time)},    {"rounds", cost.rounds},
          {"messages", cost.messages}, {"most_messages", cost.most_messages},
          {"bytes", cost.bytes},       {"most_bytes", cost.most_bytes}};
    }
    all.push_back({{"ranks", column.ranks},
                   {"total_ms", column.total_ms},
                   {"first_known_ms", column.first_known_ms},
                   {"phases", phases}});
  }
  return all;
}

int simulate(const Given& given) {
  std::vector<Column> columns;
  for (const int ranks : given.ranks) columns.push_back(simulated(given, ranks));
  print_assumptions(given);
  const auto time = [](const PhaseCost& cost) { return in_ms(cost.time); };
  const auto rounds = [](const PhaseCost& cost) { return static_cast<double>(cost.rounds); };
  print(
      {"Time, ms, of the last survivor", time, time, [](double value, double) { return fmt::format("{:.3f}", value); }},
      columns);
  print(
      {"Rounds: messages in a chain", rounds, rounds, [](double value, double) { return fmt::format("{:g}", value); }},
      columns);
  print({"Messages that a process sends", [](const PhaseCost& cost) { return cost.messages; },
         [](const PhaseCost& cost) { return static_cast<double>(cost.most_messages); },
         [](double value, double most) { return fmt::format("{:.1f} (most {:.0f})", value, most); }},
        columns);
  print({"Bytes that a process sends", [](const PhaseCost& cost) { return cost.bytes; },
         [](const PhaseCost& cost) { return static_cast<double>(cost.most_bytes); },
         [](double value, double most) {
           return most < 1e6 ? fmt::format("{:.0f} (most {:.0f})", value, most)
                             : fmt::format("{:.3g}M ({:.4g}M)", value / 1e6, most / 1e6);
         }},
        columns);
  print_what_grows(given);
  write_json(given.json, json_of(columns));
  return 0;
}

int run(int argc, char** argv) {
  CommandLine app(
      "",
      "What to expect of a recovery: from the death of processes until all ranks have their data again, phase by "
      "phase, "
      "for jobs of different sizes.");
  Given given;
  app.option("--processes", given.ranks, "Ranks of the job: a list, a column each")
      .separated_by_commas()
      .between(2, 8192)
      .with_default();
  app.option("--processes-per-node", given.ranks_per_node, "Of those").between(1, 4096).with_default();
  app.option("--failures", given.failures, "Ranks that die at once, spread over the job")
      .between(1, 1000)
      .with_default();
  app.option("--another-after", given.another_after, "So long after them, one more rank dies");
  app.option("--on-failure", given.rung, "What happens to their ranks, as --mend-on-failure")
      .with_type(Policy::forms)
      .with_default();
  app.option("--spares", given.spares, "Processes that wait; default: as many as die, with spare").between(0, 8192);
  app.option("--found-by", given.found_by,
             "told: the kernel or the runtime tells of a death; silence: the time-out finds it, as of a lost node")
      .one_of({"told", "silence"})
      .with_default();
  app.option("--told-after", given.told_after, "With told: from the death until one process knows").with_default();
  app.option("--heartbeat", given.heartbeat, "Between two of a process, as --mend-heartbeat").with_default();
  app.option("--timeout", given.timeout, "With silence: as --mend-timeout").with_default();
  app.option("--until-call", given.until_call, "A rank computes for up to so long before its next MPI call")
      .with_default();
  app.option("--start-process", given.start_process, "With spawn: until a new process has called").with_default();
  app.option("--latency", given.latency_us, "Between nodes, in us").between(0.001, 1e6).with_default();
  app.option("--overhead", given.overhead_us, "Of a message at either end, in us").between(0.001, 1e6).with_default();
  app.option("--network", given.network, "Bytes per second that a process sends").with_default();
  app.option("--memory-speed", given.memory_speed, "Bytes per second that a rank copies and hashes").with_default();
  app.option("--state-per-rank", given.state, "What a rank has committed").with_default();
  app.option("--redundancy", given.redundancy, "As --mend-redundancy").with_type(Redundancy::forms).with_default();
  app.option("--seed", given.seed, "Decides which ranks die, and when between two heartbeats").with_default();
  app.option("--json", given.json, "Also write all numbers to this file");
  if (const auto code = app.parse_as_command(argc, argv)) return *code;
  return simulate(given);
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) { return mend::bench::exit_code_of(&mend::bench::run, argc, argv); }
