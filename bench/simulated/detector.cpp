// The figures of the failure detector's paper, simulated: each table shows the paper's values beside the simulated
// ones.

#include "bench/command_line.hpp"
#include "bench/simulated/detector_scale.hpp"
#include "bench/simulated/random_probes.hpp"
#include "bench/simulated/ring_outline.hpp"
#include "bench/simulated/ring_run.hpp"
#include "bench/simulated/simulation_main.hpp"
#include "detector/hypercubes.hpp"
#include "detector/simulated/simulation.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

using namespace std::chrono_literals;
using detector::deaths_tolerated;
using detector::RingSimulation;
using detector::SimulationOptions;
using Json = nlohmann::json;

void say(const std::string& line) { std::puts(line.c_str()); }

constexpr Time tau = 1us;
constexpr double year = 365.25 * 24 * 3600;

struct Scenario {
  const char* name;
  Timing timing;
};
constexpr Scenario low_noise{"LowNoise", {10s, 60s}};
constexpr Scenario low_latency{"LowLat", {100ms, 1s}};

/// How many runs to make.
struct Effort {
  std::uint32_t runs;
  std::uint32_t core_runs;
  std::uint32_t probing_runs;
  bool large_cores;
};

/// Messages take any time up to tau, and ports cost nothing, as in the paper's simulator.
transport::NetworkModel paper_network() {
  transport::NetworkModel model;
  model.between_nodes = {0ns, 0ns, 0.0};
  model.jitter = tau;
  return model;
}

/// T(f) of equation 1, in seconds.
double bound(std::uint32_t n, std::uint32_t f, double delta) { return detection_bound(n, f, delta, in_seconds(tau)); }

// ---- Figure 3

/// The probability that more than `most` events occur, if their mean number is `mean`.
double more_than(std::uint32_t most, double mean) {
  double term = std::exp(-mean + most * std::log(mean) - std::lgamma(most + 1.0));
  double sum = 0;
  for (std::uint32_t k = most + 1; k < most + 200; ++k) sum += term *= mean / k;
  return sum;
}

/// The largest delta for which more than `most` failures within T(most) have a probability below 1e-9.
double longest_delta(std::uint32_t n, std::uint32_t most, double mtbf) {
  double low = 1e-6;
  double high = 1e5;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (more_than(most, n / mtbf * bound(n, most, middle)) < 1e-9 ? low : high) = middle;
  }
  return low;
}

Json figure_3() {
  say("Figure 3: the longest delta, in seconds, for which the risk that more failures strike within T(f) than are");
  say("tolerated is below 1e-9. Paper, 256,000 processes: 22 for an MTBF of 20 years, 60 for 45 years. Section 3.3");
  say("takes f = floor(log2 n) - 1, the figure's caption floor(log2 n).");
  say("\n processes | 20 years, text  caption | 45 years, text  caption");
  Json rows = Json::array();
  for (std::uint32_t n : {1'000U, 4'000U, 16'000U, 64'000U, 256'000U}) {
    const std::uint32_t f = deaths_tolerated(n);
    const double text_20 = longest_delta(n, f, 20 * year);
    const double caption_20 = longest_delta(n, f + 1, 20 * year);
    const double text_45 = longest_delta(n, f, 45 * year);
    const double caption_45 = longest_delta(n, f + 1, 45 * year);
    say(fmt::format("{:10} | {:14.1f} {:8.1f} | {:14.1f} {:8.1f}", n, text_20, caption_20, text_45, caption_45));
    rows.push_back({{"processes", n},
                    {"mtbf_20_years_s", text_20},
                    {"mtbf_20_years_caption_s", caption_20},
                    {"mtbf_45_years_s", text_45},
                    {"mtbf_45_years_caption_s", caption_45}});
  }
  say("\nThe 22 s follow from the text's f. No f gives 60 s for 45 years: delta grows with the MTBF, and 22 x 45/20 "
      "is");
  say("49.5; 60 s take 55 years.\n");
  return rows;
}

// ---- Figure 4

struct Mean {
  double sum = 0;
  std::uint32_t count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return sum / std::max(count, 1U); }
};

struct Outcomes {
  Mean first, all;
  void add(const RingOutline::Outcome& outcome) {
    first.add(in_seconds(outcome.first_known));
    all.add(in_seconds(outcome.all_known));
  }
  std::string shown() const {
    if (first.count == 0) return fmt::format("{:>8} {:>9}", "-", "-");
    return fmt::format("{:8.3f} {:9.3f}", first.value(), all.value());
  }
  Json json() const { return {{"runs", first.count}, {"first_known_s", first.value()}, {"all_known_s", all.value()}}; }
};

/// The same with the real cores and their heartbeats.
RingOutline::Outcome with_cores(std::uint32_t n, const Timing& timing, const std::vector<RingOutline::Death>& deaths,
                                std::uint64_t seed) {
  return run_ring(n, timing, paper_network(), deaths, seed).outcome;
}

/// Returns the time for a broadcast by the cores to reach all `n` processes, if each message takes any time up to tau.
Time broadcast_time(std::uint32_t n) {
  std::mt19937_64 random(n);
  std::vector<Time> heard(n, Time::max());
  struct Copy {
    Time at;
    detector::Label to;
    std::optional<detector::Label> from;
    bool operator>(const Copy& other) const { return at > other.at; }
  };
  std::priority_queue<Copy, std::vector<Copy>, std::greater<>> copies;
  copies.push({Time{0}, 0, std::nullopt});
  Time last{0};
  while (!copies.empty()) {
    const Copy copy = copies.top();
    copies.pop();
    if (heard[copy.to] <= copy.at) continue;
    heard[copy.to] = last = copy.at;
    for (detector::Label next : detector::neighbours(n, copy.to, copy.from)) {
      if (heard[next] != Time::max()) continue;
      const Time way{1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tau.count()))};
      copies.push({copy.at + way, next, copy.to});
    }
  }
  return last;
}

Json figure_4(const Scenario& scenario, const Effort& effort) {
  const Timing& timing = scenario.timing;
  say(
      fmt::format("Figure 4, {}: as many failures as are tolerated within delta ({:g} s); mean time, in seconds, from "
                  "the first",
                  scenario.name, in_seconds(timing.delta)));
  say(
      fmt::format("until all know of it, and until all know of all. Paper: the first is known after delta - eta/2 = "
                  "{:g} and a little",
                  in_seconds(timing.delta - timing.eta / 2)));
  say("that falls with 1/n; all, after a time that falls with 1/n and then grows with log2(n).");
  say("\n           |          | outline, all runs  | outline, some runs | cores, same runs   | a broadcast,");
  say(" processes | failures |    first       all |    first       all |    first       all | us");
  Json rows = Json::array();
  for (std::uint32_t n : {64U, 256U, 1'024U, 4'096U, 16'384U, 65'536U, 256'000U}) {
    const Time broadcast = broadcast_time(n);
    Outcomes outline, some, cores;
    for (std::uint32_t run = 0; run < effort.runs; ++run) {
      const auto deaths = burst(n, deaths_tolerated(n), timing.delta, run);
      const auto outcome = RingOutline(n, timing, tau, broadcast, run).run(deaths);
      outline.add(outcome);
      const bool few_enough = n <= 256 || (n == 1'024 && effort.large_cores);
      if (!few_enough || run >= effort.core_runs) continue;
      some.add(outcome);
      cores.add(with_cores(n, timing, deaths, run));
    }
    say(fmt::format("{:10} | {:8} | {} | {} | {} | {:.1f}", n, deaths_tolerated(n), outline.shown(), some.shown(),
                    cores.shown(), in_seconds(broadcast) * 1e6));
    rows.push_back({{"processes", n},
                    {"failures", deaths_tolerated(n)},
                    {"broadcast_us", in_seconds(broadcast) * 1e6},
                    {"outline", outline.json()},
                    {"outline_of_the_cores_runs", some.json()},
                    {"cores", cores.json()}});
  }
  say(fmt::format("\nMeans of {} runs, and of {} of them with the cores too. The paper shows curves and no numbers, so",
                  effort.runs, effort.core_runs));
  say("baseline and shapes can be compared; how its failures are spread over the \"very short time\" it does not say: "
      "here");
  say("uniformly over delta. Where the first one's observer dies before it tells, the next needs more than 2 delta.\n");
  return rows;
}

// ---- Figure 5

Json figure_5(const Effort& effort) {
  const Timing& timing = low_noise.timing;
  say("Figure 5: failures at random, MTBF of a node 1 year, LowNoise; means, from a first failure to a stable "
      "configuration.");
  say("Paper: the first is known in a constant time; the failures and the time until all know of all grow with n; at");
  say("256,000 the latter is about delta/2 = 30 s longer.");
  say("\n processes | failures  first known, s  all known, s  longer by  if others struck");
  Json rows = Json::array();
  for (std::uint32_t n : {1'000U, 16'000U, 64'000U, 128'000U, 192'000U, 256'000U}) {
    const Time broadcast = broadcast_time(n);
    Mean failures, first, all, delay;
    for (std::uint32_t run = 0; run < 4 * effort.runs; ++run) {
      std::mt19937_64 random(run);
      std::exponential_distribution<double> wait(n / year);
      std::vector<RingOutline::Death> deaths{{static_cast<std::uint32_t>(random() % n), Time{0}}};
      RingOutline::Outcome outcome;
      while (true) {
        outcome = RingOutline(n, timing, tau, broadcast, run).run(deaths);
        const Time next =
            deaths.back().at + std::chrono::duration_cast<Time>(std::chrono::duration<double>(wait(random)));
        if (next >= outcome.all_known) break;
        deaths.push_back({static_cast<std::uint32_t>(random() % n), next});
      }
      failures.add(static_cast<double>(deaths.size()));
      first.add(in_seconds(outcome.first_known));
      all.add(in_seconds(outcome.all_known));
      if (deaths.size() > 1) delay.add(in_seconds(outcome.all_known - outcome.first_known));
    }
    say(fmt::format("{:10} | {:8.2f} {:15.2f} {:13.2f} {:10.2f} {:17.2f}", n, failures.value(), first.value(),
                    all.value(), all.value() - first.value(), delay.value()));
    rows.push_back({{"processes", n},
                    {"failures", failures.value()},
                    {"first_known_s", first.value()},
                    {"all_known_s", all.value()},
                    {"delay_if_others_struck_s", delay.value()}});
  }
  say("");
  return rows;
}

// ---- Equation 1

Json equation_1() {
  constexpr std::uint32_t n = 1'024;
  const Timing& timing = low_latency.timing;
  say("Equation 1: T(f) for 1,024 processes, LowLat, in seconds, and how long the real cores take when f neighbours "
      "die");
  say("together, and when each dies as its observer was about to hold it dead. Paper: the bound is pessimistic.");
  say("\n  f |     T(f) | together  ratio | one after another  ratio");
  Json rows = Json::array();
  for (std::uint32_t f = 1; f <= deaths_tolerated(n); ++f) {
    std::vector<RingOutline::Death> together;
    std::vector<RingOutline::Death> chased;
    for (std::uint32_t i = 0; i < f; ++i) {
      together.push_back({100 - i, Time{0}});
      chased.push_back({100 + i, i * (timing.delta - timing.eta)});  // each observer dies before it reports
    }
    const double limit = bound(n, f, in_seconds(timing.delta));
    const double at_once = in_seconds(with_cores(n, timing, together, f).all_known);
    const double in_turn = in_seconds(with_cores(n, timing, chased, f).all_known);
    say(fmt::format("{:3} | {:8.2f} | {:8.2f} {:6.2f} | {:17.2f} {:6.2f}", f, limit, at_once, at_once / limit, in_turn,
                    in_turn / limit));
    rows.push_back({{"failures", f}, {"bound_s", limit}, {"together_s", at_once}, {"in_turn_s", in_turn}});
    if (at_once > limit || in_turn > limit) throw std::runtime_error("equation 1 does not hold");
  }
  say("");
  return rows;
}

// ---- Figures 6 and 7

Json figures_6_and_7(const Effort& effort) {
  say("Figures 6 and 7: a randomised detector. Rounds until everyone was asked at least once, and the most that ask "
      "one");
  say("process in one round. Paper: 11 rounds on average at 20,000 processes and 13 at 100,000, 22 at worst of 10,000");
  say("runs; queues of up to 8 at 20,000 and 11 at 100,000. The ring: every round, and a queue of 1.");
  say("\n processes |  paper  rounds  worst |  paper  longest queue  worst | ln n/ln ln n  3 times that");
  const std::map<std::uint32_t, std::pair<const char*, const char*>> paper{{20'000, {"11", "8"}},
                                                                           {100'000, {"13", "11"}}};
  Json rows = Json::array();
  for (std::uint32_t n : {100U, 1'000U, 5'000U, 20'000U, 50'000U, 100'000U}) {
    Mean rounds, queue;
    std::uint32_t worst_rounds = 0;
    std::uint32_t worst_queue = 0;
    for (std::uint32_t run = 0; run < effort.probing_runs; ++run) {
      ProbingRounds probing(n, run);
      while (!probing.everyone_was_asked()) {
        const std::uint32_t longest = probing.longest_queue();
        queue.add(longest);
        worst_queue = std::max(worst_queue, longest);
      }
      rounds.add(probing.rounds());
      worst_rounds = std::max(worst_rounds, probing.rounds());
    }
    const auto said = paper.find(n);
    const double theory = std::log(n) / std::log(std::log(n));
    say(fmt::format("{:10} | {:>6} {:7.2f} {:6} | {:>6} {:14.2f} {:6} | {:12.1f} {:13.1f}", n,
                    said != paper.end() ? said->second.first : "", rounds.value(), worst_rounds,
                    said != paper.end() ? said->second.second : "", queue.value(), worst_queue, theory, 3 * theory));
    rows.push_back({{"processes", n},
                    {"rounds", rounds.value()},
                    {"worst_rounds", worst_rounds},
                    {"queue", queue.value()},
                    {"worst_queue", worst_queue}});
  }
  say(fmt::format(
      "\n{} runs each. 13 rounds of 100,000 questions and answers are 2,600,000 messages (paper: 2,599,974); "
      "the ring sends",
      effort.probing_runs));
  say("100,000 heartbeats in the same time of one round.\n");
  return rows;
}

Json false_suspicions() {
  constexpr std::uint32_t n = 4'096;
  transport::NetworkModel network;
  network.between_nodes = {1us, 500ns, 0.0};
  network.tells_of_deaths = false;
  const Time round_trip = 2 * (1us + 2 * 500ns);
  say("What queues do to time-outs: 4,096 ask in step through one port each (1 us on the way, 0.5 us at either end); "
      "how");
  say("many are held dead that live, by a time-out of so many undisturbed round trips.");
  say("\n round trips |     1    1.5      2      3      4");
  std::string line = fmt::format(" {:>11} |", "suspicions");
  Json rows = Json::array();
  for (const double trips : {1.0, 1.5, 2.0, 3.0, 4.0}) {
    const Time time_out{static_cast<std::int64_t>(trips * static_cast<double>(round_trip.count()))};
    const std::uint32_t wrong = ProbingSimulation(n, network, time_out, 1).false_suspicions();
    line += fmt::format(" {:6}", wrong);
    rows.push_back({{"round_trips", trips}, {"false_suspicions", wrong}});
  }
  say(line);
  say("\nThe ring's observers have one emitter each and no queue.\n");
  return rows;
}

// ---- beyond the paper

Json many_cores() {
  constexpr std::uint32_t n = 256'000;
  const auto begin = std::chrono::steady_clock::now();
  SimulationOptions options;
  options.processes = n;
  options.timing = low_latency.timing;
  options.network = paper_network();
  options.network.jitter = 0ns;
  options.network.between_nodes = {tau, 0ns, 0.0};
  options.stagger = options.timing.eta;
  RingSimulation group(options);
  group.kill({77'777}, 300ms);
  group.run(1'500ms);
  if (const auto wrong = group.verdict()) throw std::runtime_error(*wrong);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double known = in_seconds(group.known_by_all({77'777}) - Time(300ms));
  say(fmt::format(
      "The real cores, {} of them, LowLat, one failure: known to all after {:.3f} s (delta - eta/2 = 0.95 on "
      "average);",
      n, known));
  say(fmt::format("  {} messages, {} of them heartbeats; simulated in {:.1f} s\n", group.messages_sent(),
                  group.heartbeats_sent(), took.count()));
  return {{"processes", n}, {"known_s", known}, {"messages", group.messages_sent()}, {"seconds", took.count()}};
}

int run(int argc, char** argv) {
  CommandLine app(
      "",
      "The figures of the ring failure detector's paper, simulated beside what the paper says; or what to expect of "
      "failure detection at your own scale.");
  DetectorScale own;
  bool quick = false;
  std::string json_file;
  std::string figure;
  const Option one_figure =
      app.option("--figure", figure, "This one alone")
          .one_of({"ring-3", "ring-4", "ring-5", "ring-6", "ring-equation-1", "false-suspicions", "ring-256000"});
  Effort effort{10'000, 100, 200, true};
  const Option quickly =
      app.flag("--quick", quick, "Fewer runs, and no cores at 1,024 and 256,000 processes (for tests)");
  const Option runs =
      app.option("--runs", effort.runs, "Runs for each mean of figure 4; a quarter of those of figure 5")
          .between(1, 1'000'000'000)
          .with_default();
  const Option probing =
      app.option("--probing-runs", effort.probing_runs, "Runs for figures 6 and 7 (the paper: 10,000)")
          .between(1, 1'000'000'000)
          .with_default();
  const Option processes = add_options_of_scale(app, own);
  for (const Option& of_figures : {one_figure, quickly, runs, probing}) processes.excludes(of_figures);
  app.option("--json", json_file, "Also write all numbers to this file");
  if (const auto code = app.parse_as_command(argc, argv)) return *code;
  if (!own.processes.empty()) {
    write_json(json_file, {{"own", simulated(own)}});
    return 0;
  }
  if (quick) effort = {runs.is_given() ? effort.runs : 500, 10, probing.is_given() ? effort.probing_runs : 5, false};
  say("Simulated: messages take anything up to tau = 1 us, as in the paper's simulator. \"Cores\" are mend's "
      "detectors,");
  say("heartbeats and all; \"outline\" is the paper's own simplification, which does not send heartbeats one by one");
  say("(bench/simulated/ring_outline.hpp). Times are mostly time-outs, which are given; compare shapes and ratios.\n");
  Json all;
  const auto wanted = [&](const char* name) { return figure.empty() || figure == name; };
  if (wanted("ring-3")) all["figure_3"] = figure_3();
  if (wanted("ring-4")) {
    all["figure_4_low_noise"] = figure_4(low_noise, effort);
    all["figure_4_low_latency"] = figure_4(low_latency, effort);
  }
  if (wanted("ring-5")) all["figure_5"] = figure_5(effort);
  if (wanted("ring-equation-1")) all["equation_1"] = equation_1();
  if (wanted("ring-6")) all["figures_6_and_7"] = figures_6_and_7(effort);
  if (wanted("false-suspicions")) all["false_suspicions"] = false_suspicions();
  if (figure == "ring-256000" || (figure.empty() && !quick)) all["many_cores"] = many_cores();
  write_json(json_file, all);
  return 0;
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) { return mend::bench::exit_code_of(&mend::bench::run, argc, argv); }
