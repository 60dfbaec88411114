// The report in the format of Mantevo's miniFE: the problem, its size, and the speed of each phase.

#pragma once

#include "apps/minife/heat.hpp"
#include "framework/session.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace apps::minife {

/// One phase, over all ranks.
struct PhaseTotal {
  mend::Seconds longest{};  ///< of any rank
  double flops = 0;         ///< of all ranks

  /// Returns million operations per second, of all ranks together; 0 before anything was measured.
  double mflops() const { return longest.count() > 0 ? flops / longest.count() / 1e6 : 0; }
};

/// The data of the report. The meters are protected data like the temperature: steps that were lost in a failure and
/// done again count once.
struct Summary {
  HeatSettings settings;
  int ranks = 0;
  int spares = 0;
  std::int64_t rows = 0;
  std::int64_t fewest_rows = 0;  ///< of any rank
  std::int64_t most_rows = 0;
  std::int64_t entries = 0;
  bool agreement_in_solver = false;
  TimeState state;
  TemperatureError error;
  std::array<PhaseTotal, phase_count> phases;
  mend::Seconds total{};  ///< since the process of rank 0 first entered the body
  std::size_t recoveries = 0;
  std::uint64_t commits = 0;

  const PhaseTotal& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

/// Combines the ranks' meters. Collective over the session's ranks. The result is the same on all ranks, except `total`
/// and `recoveries`, which are this process's own. Throws mend::ProcessFailure.
Summary summarize(const mend::Session& session, const Heat& heat, const HeatSettings& settings, int spares,
                  const TemperatureError& error, const Meters& meters, mend::Seconds total);

/// Returns the whole report, as YAML.
std::string yaml_text(const Summary& summary);

/// Returns a few lines for people.
std::string short_text(const Summary& summary);

}  // namespace apps::minife
