// Explicit heat diffusion that survives the death of its processes: an example of using mend, read top to bottom.
//
// The body given to mend::run is entered on every rank at the start, and again after each failure, with a repaired
// communicator. It builds the solver, protects the data that must not be lost (the temperature and the step), restores
// it, and computes on, with commits on the way. The solver itself (heat.cpp, halo.cpp) does not handle failures: it is
// plain MPI and Kokkos, left by an exception when a process dies.

#include "apps/common/kill_switch.hpp"
#include "apps/common/plot.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "apps/stencil/heat.hpp"
#include "apps/stencil/options.hpp"
#include "apps/stencil/waves.hpp"
#include "framework/mend.hpp"

#include <fmt/format.h>

#include <limits>

namespace {

/// A wrong result must not go unnoticed. The scheme's own result is known, so only rounding may differ.
void verify(const stencil::Errors& errors, int steps) {
  const double rounding_per_step = 16 * std::numeric_limits<double>::epsilon() * stencil::largest_height();
  const double bound = (steps + 1) * rounding_per_step;
  if (!(errors.scheme_max <= bound)) {
    throw std::runtime_error(
        fmt::format("the result is wrong: it differs from the scheme's by {:.3g}, and rounding "
                    "explains no more than {:.3g}",
                    errors.scheme_max, bound));
  }
}

void report(const mend::Session& session, const stencil::Options& options, const stencil::Heat& heat,
            const mend::Stopwatch& since_start) {
  const auto& [problem, common] = options;
  const stencil::Errors errors = heat.errors(common.steps);
  verify(errors, common.steps);

  apps::Outcome outcome;
  outcome.app = "stencil";
  outcome.problem = {{"nx", problem.cells[0]}, {"ny", problem.cells[1]},     {"nz", problem.cells[2]},
                     {"order", problem.order}, {"courant", problem.courant}, {"time_step", heat.scheme().time_step}};
  outcome.field_hash = heat.hash();
  outcome.norms = {{"equation_error_rms", errors.equation_rms},
                   {"equation_error_max", errors.equation_max},
                   {"scheme_error_rms", errors.scheme_rms},
                   {"scheme_error_max", errors.scheme_max}};
  outcome.phases = {{"compute", heat.compute_time()}, {"halo", heat.halo_time()}, {"total", since_start.elapsed()}};

  if (!common.plot.empty()) {
    const std::vector<double> plane = heat.slice();
    if (session.rank() == mend::Rank{0}) {
      apps::write_png(common.plot, plane, static_cast<std::size_t>(problem.cells[0]),
                      static_cast<std::size_t>(problem.cells[1]));
    }
  }
  apps::write_reports(session, common, outcome);
  apps::print_summary(session, outcome);
}

}  // namespace

int main(int argc, char** argv) {
  const mend::Stopwatch since_start;
  stencil::Options options;
  if (const auto exit_code = stencil::read_options(options, argc, argv)) return *exit_code;
  const int steps = options.common.steps;
  const int radius = stencil::central_second_derivative(options.problem.order).radius;

  const Kokkos::ScopeGuard kokkos;
  apps::KillSwitch kills(options.common.kills, apps::kill_record(options.common.result));

  return mend::run(options.common.mend, [&](mend::Session& session) {
    kills.play(session);

    const stencil::Extents periodic{1, 1, 1};
    const auto blocks = stencil::choose_blocks(options.problem, session.size(), radius);
    stencil::Heat heat(options.problem, session.cart(blocks, periodic));
    int step = 0;

    mend::Store& store = session.store();
    store.protect("temperature", heat.temperature_in_grid());
    store.protect("step", mend::replicated(step));
    store.restore();  // leaves both unchanged if there was no commit yet
    apps::require_steps_left(step, options.common);

    apps::Progress progress("stencil", session.rank(), steps);
    while (step < steps) {
      kills.step(step);
      heat.advance();
      ++step;
      if (session.commit_due()) {
        store.replace("temperature", heat.temperature_in_grid());  // advance() has moved it to the other of two buffers
        store.commit();
      }
      progress.show(step, session.epoch());
    }

    report(session, options, heat, since_start);
  });
}
