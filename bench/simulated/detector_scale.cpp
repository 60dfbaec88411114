#include "bench/simulated/detector_scale.hpp"

#include "base/error.hpp"
#include "bench/simulated/given_times.hpp"
#include "bench/simulated/ring_run.hpp"
#include "detector/hypercubes.hpp"
#include "jobs/plan/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace mend::bench {
namespace {

using Json = nlohmann::json;

struct Setting {
  Timing timing;
  Time within;
  transport::NetworkModel network;
  Time tau;  ///< the longest time of a message
};

Setting setting_of(const DetectorScale& scale) {
  const Time latency = from_microseconds(scale.latency_us);
  const Time overhead = from_microseconds(scale.overhead_us);
  Setting setting{{parsed_time(scale.heartbeat), parsed_time(scale.timeout)},
                  parsed_time(scale.within),
                  {},
                  latency + 2 * overhead};
  setting.network.between_nodes = {latency, overhead, 0.1};
  const Timing& timing = setting.timing;
  if (timing.delta <= timing.eta + setting.tau) {
    throw UsageError(
        fmt::format("--timeout {}: a heartbeat comes every {} and takes {} on the way: give a longer time-out",
                    scale.timeout, scale.heartbeat, jobs::text_of(setting.tau)));
  }
  return setting;
}

void check(const DetectorScale& scale, std::uint32_t n, const Setting& setting) {
  constexpr double most_heartbeats = 2e8;
  const std::uint32_t most = std::max(detector::deaths_tolerated(n), 1U);
  if (scale.failures > most) {
    throw UsageError(
        fmt::format("--failures {}: of {} processes at most {} may die before the others know of it: give fewer, or "
                    "more --processes",
                    scale.failures, n, most));
  }
  const Timing& timing = setting.timing;
  const double heartbeats = n * (in_seconds(setting.within + 3 * timing.delta) / in_seconds(timing.eta));
  if (heartbeats * scale.runs > most_heartbeats) {
    throw UsageError(
        fmt::format("{} runs with {} processes have {:.1e} heartbeats, which takes too long: give fewer --samples or "
                    "--processes, a "
                    "longer --heartbeat, or a shorter --timeout",
                    scale.runs, n, heartbeats * scale.runs));
  }
}

struct MeanAndLongest {
  double sum = 0;
  double longest = 0;
  void add(double value) { sum += value, longest = std::max(longest, value); }
};

Json line(const DetectorScale& scale, std::uint32_t n, const Setting& setting) {
  MeanAndLongest first;
  MeanAndLongest all;
  double messages = 0;
  double heartbeats = 0;
  for (std::uint32_t run = 0; run < scale.runs; ++run) {
    const auto deaths = burst(n, scale.failures, setting.within, run);
    const RingRun result = run_ring(n, setting.timing, setting.network, deaths, run);
    first.add(in_seconds(result.outcome.first_known));
    all.add(in_seconds(result.outcome.all_known));
    messages += static_cast<double>(result.messages) / n / scale.failures / scale.runs;
    heartbeats += result.heartbeats_per_s / scale.runs;
  }
  const double bound = detection_bound(n, scale.failures, in_seconds(setting.timing.delta), in_seconds(setting.tau)) +
                       in_seconds(setting.within);
  const double mean_first = first.sum / scale.runs;
  const double mean_all = all.sum / scale.runs;
  std::puts(fmt::format("{:10} | {:10.4g} {:12.4g} | {:10.4g} {:11.4g} | {:9.4g} | {:11.4g} | {:16.1f}", n, mean_first,
                        first.longest, mean_all, all.longest, bound, heartbeats, messages)
                .c_str());
  std::fflush(stdout);
  return {{"processes", n},
          {"first_known_s", mean_first},
          {"first_known_at_most_s", first.longest},
          {"all_known_s", mean_all},
          {"all_known_at_most_s", all.longest},
          {"bound_s", bound},
          {"heartbeats_per_s", heartbeats},
          {"messages_of_a_process_for_a_death", messages}};
}

}  // namespace

Option add_options_of_scale(CommandLine& app, DetectorScale& scale) {
  const char* const group = "A scale of your own";
  const Option processes =
      app.option("--processes", scale.processes, "Instead of figures: jobs of so many processes; a list, a line each")
          .separated_by_commas()
          .between(2, 1 << 20)
          .in_group(group);
  const auto option = [&](const char* name, auto& value, const char* text) {
    return app.option(name, value, text).with_default().needs(processes).in_group(group);
  };
  option("--failures", scale.failures, "Of those, so many die").between(1, 1000);
  option("--within", scale.within, "They die within this time, at random; 0: at once");
  option("--heartbeat", scale.heartbeat, "Between two of a process, as --mend-heartbeat");
  option("--timeout", scale.timeout, "As --mend-timeout");
  option("--latency", scale.latency_us, "Of a message, in us").between(0.001, 1e6);
  option("--overhead", scale.overhead_us, "Of a message at either end, in us").between(0.001, 1e6);
  option("--samples", scale.runs, "How many times each is simulated").between(1, 100'000);
  return processes;
}

Json simulated(const DetectorScale& scale) {
  const Setting setting = setting_of(scale);
  for (const std::uint32_t n : scale.processes) check(scale, n, setting);
  std::puts(fmt::format("Simulated: mend's detectors with their heartbeats, one every {}; time-out {}; a message takes "
                        "{} us, and {} us at\neither end. {} of the processes die {}, and nothing but silence tells of "
                        "it, as of lost nodes.\nSeconds from the first death, mean and longest of {} runs. T(f): the "
                        "longest time by equation 1 of the paper.\n",
                        scale.heartbeat, scale.timeout, scale.latency_us, scale.overhead_us, scale.failures,
                        scale.within == "0" ? "at once" : "within " + scale.within, scale.runs)
                .c_str());
  std::puts(
      "           | first death known to all | all deaths known to all |           |  heartbeats | messages of a\n"
      " processes |       mean      longest |       mean     longest |      T(f) |    a second | process, a death");
  Json rows = Json::array();
  for (const std::uint32_t n : scale.processes) rows.push_back(line(scale, n, setting));
  std::puts("\nA process that dies alone is known sooner, because the kernel or the runtime tells of it.");
  return rows;
}

}  // namespace mend::bench
