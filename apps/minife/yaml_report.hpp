// The report in the words of Mantevo's miniFE: what was solved, how large it was, how fast each phase went.

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

  /// Million operations a second, of all ranks together; 0 before anything was measured.
  double mflops() const { return longest.count() > 0 ? flops / longest.count() / 1e6 : 0; }
};

/// What the report is written from. The meters are protected data like the temperature: what was done in steps that
/// were lost with a failure, and done again, counts once.
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
  mend::Seconds total{};  ///< since rank 0's process entered the body first
  std::size_t recoveries = 0;
  std::uint64_t commits = 0;

  const PhaseTotal& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

/// Brings the ranks' meters together. Collective over the session's ranks; the same everywhere, but for `total`
/// and `recoveries`, which are this process's own. Throws mend::ProcessFailure.
Summary summarize(const mend::Session& session, const Heat& heat, const HeatSettings& settings, int spares,
                  const TemperatureError& error, const Meters& meters, mend::Seconds total);

/// The whole report, as YAML.
std::string yaml_text(const Summary& summary);

/// A few lines for people.
std::string short_text(const Summary& summary);

}  // namespace apps::minife
