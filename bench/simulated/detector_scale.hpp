// What to expect of failure detection at the user's own scale, with the user's latencies and time-outs.

#pragma once

#include "bench/command_line.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace mend::bench {

/// As the user gives it, with units as people write them.
struct DetectorScale {
  std::vector<std::uint32_t> processes;  ///< empty: nothing was asked for
  std::uint32_t failures = 1;
  std::string within = "0";
  std::string heartbeat = "100ms";
  std::string timeout = "1s";
  double latency_us = 2;
  double overhead_us = 0.7;
  std::uint32_t runs = 5;
};

/// Returns --processes, which the others need.
Option add_options_of_scale(CommandLine& app, DetectorScale& scale);

/// Prints a line for each number of processes; returns the numbers. Throws UsageError if they do not fit together.
nlohmann::json simulated(const DetectorScale& scale);

}  // namespace mend::bench
