// miniFE made time-dependent, under mend: an implicit heat equation that survives the death of its processes.
//
// Read it from the bottom up: main starts mend; simulate runs on every rank, again after each failure; report prints
// the result.

#include "framework/mend.hpp"

#include "apps/common/kill_switch.hpp"
#include "apps/common/plot.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "apps/minife/field.hpp"
#include "apps/minife/heat.hpp"
#include "apps/minife/options.hpp"
#include "apps/minife/yaml_report.hpp"

#include <Kokkos_Core.hpp>

#include <iostream>

namespace apps::minife {
namespace {

/// The data that outlives the body.
struct Bench {
  Meters meters;
  mend::Stopwatch since_start;
};

std::vector<std::pair<std::string, mend::Seconds>> phase_times(const Meters& meters, const mend::StoreStatistics& store,
                                                               mend::Seconds total) {
  return {{"structure", meters[Phase::structure].time},
          {"assembly", meters[Phase::assembly].time},
          {"dirichlet", meters[Phase::dirichlet].time},
          {"right_side", meters[Phase::load].time},
          {"cg", meters[Phase::solve].time},
          {"cg_matvec", meters[Phase::matvec].time},
          {"cg_dot", meters[Phase::dot].time},
          {"cg_waxpby", meters[Phase::waxpby].time},
          {"commit", store.commit_time},
          {"restore", store.restore_time},
          {"total", total}};
}

void report(const mend::Session& session, const Options& options, const HeatSettings& settings, const Heat& heat,
            const Bench& bench) {
  const TemperatureError error = heat.verified_error();
  const mend::Seconds total = bench.since_start.elapsed();
  const Summary summary = summarize(session, heat, settings, options.common.mend.spares, error, bench.meters, total);

  Outcome outcome;
  outcome.app = "minife";
  outcome.problem = {{"nx", settings.elements.x},
                     {"ny", settings.elements.y},
                     {"nz", settings.elements.z},
                     {"dt", settings.dt},
                     {"tolerance", settings.solver.tolerance},
                     {"agree", options.agree},
                     {"rows", summary.rows},
                     {"entries", summary.entries}};
  outcome.field_hash = field_hash(heat, session.comm());
  outcome.norms = {{"error_l2", error.l2},
                   {"error_max", error.max},
                   {"error_bound", error.bound},
                   {"residual", heat.state.residual},
                   {"cg_iterations", heat.state.iterations}};
  outcome.phases = phase_times(bench.meters, session.store().statistics(), total);
  write_reports(session, options.common, outcome);

  if (!options.common.plot.empty()) {
    const Slice slice = middle_slice(heat, session.comm());
    if (session.rank() == mend::Rank{0}) write_png(options.common.plot, slice.values, slice.columns, slice.rows);
  }
  if (session.rank() == mend::Rank{0}) {
    if (!options.yaml.empty()) write_whole(options.yaml, yaml_text(summary));
    std::cout << short_text(summary) << std::flush;
  }
}

void simulate(mend::Session& session, const Options& options, KillSwitch& kills, Bench& bench) {
  bench.meters = {};  // what was not committed is done again, and counts once
  kills.play(session);
  if (session.role() == mend::Role::initial) kills.step(0);

  HeatSettings settings = options.heat;
  if (options.agree) settings.solver.leave_together = [&session](bool converged) { return session.agree(converged); };
  Heat heat(settings, session.comm(), bench.meters);

  mend::Store& store = session.store();
  store.protect("temperature", heat.temperature_in_mesh());
  store.protect("state", mend::replicated(heat.state));
  store.protect("meters", mend::replicated(bench.meters));  // restarted from disk, all continue with the first rank's
  store.restore();
  require_steps_left(heat.state.step, options.common);

  {
    Progress progress("minife", session.rank(), options.common.steps);
    while (heat.state.step < options.common.steps) {
      kills.step(heat.state.step + 1);
      heat.advance();
      if (session.commit_due()) store.commit();
      progress.show(heat.state.step, session.epoch());
    }
  }
  report(session, options, settings, heat, bench);
}

}  // namespace
}  // namespace apps::minife

int main(int argc, char** argv) {
  apps::minife::Options options;
  if (const auto exit_code = apps::minife::read_options(options, argc, argv)) return *exit_code;

  // The command line has been read; Kokkos takes its settings from KOKKOS_... variables.
  int program_name_only = 1;
  const Kokkos::ScopeGuard kokkos(program_name_only, argv);
  apps::KillSwitch kills(options.common.kills, apps::kill_record(options.common.result));
  apps::minife::Bench bench;
  return mend::run(options.common.mend,
                   [&](mend::Session& session) { apps::minife::simulate(session, options, kills, bench); });
}
