#include "apps/minife/options.hpp"

#include "base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>

namespace apps::minife {
namespace {

constexpr const char* description = R"(Heat in a box, by finite elements: the run goes on when processes die.

A cube is cut into nx * ny * nz trilinear hexahedra. Its walls are held at temperature 1, it is heated from inside,
and backward Euler steps follow it in time: one sparse solve by conjugate gradients a step. The exact solution is
known; a run whose error exceeds what the discretisation allows fails.)";

constexpr const char* examples =
    R"(Places where --kill can strike, besides mend's own (commit, restore, recovery, finish, spare):
  step      as the step begins (the default); step 0 is before the mesh is built
  assembly  between the matrix's structure and its values: at the start, and in every re-entry after a failure
  halo      while halo messages are under way
  solve     in the third CG iteration of a step

Examples:
  mend run -n 4 -- minife --nx 32 --steps 20 --yaml report.yaml
  mend run -n 4 --spares 2 -- minife --steps 20 --kill 2@5 --kill 0@12:solve --result run.json --plot run.png)";

constexpr int most_elements = 1'000'000;

void check(const Options& options) {
  const auto require = [](bool fine, const std::string& sentence) {
    if (!fine) throw mend::UsageError(sentence);
  };
  const Triple& elements = options.heat.elements;
  for (int axis = 0; axis < 3; ++axis) {
    require(elements[axis] > 0 && elements[axis] <= most_elements,
            fmt::format("--n{}: there must be from 1 to {} elements along each axis, not {}", "xyz"[axis],
                        most_elements, elements[axis]));
  }
  require(std::isfinite(options.heat.dt) && options.heat.dt > 0,
          fmt::format("--dt: the time step must be positive, not {}", options.heat.dt));
  const SolverSettings& solver = options.heat.solver;
  require(solver.tolerance > 0 && solver.tolerance < 1,
          fmt::format("--tolerance: it must lie between 0 and 1, not be {}", solver.tolerance));
  require(solver.max_iterations > 0,
          fmt::format("--max-iterations: allow one at least, not {}", solver.max_iterations));
}

}  // namespace

std::optional<int> read_options(Options& options, int argc, char** argv) {
  CLI::App app{description, "minife"};
  app.footer(examples);

  Triple& elements = options.heat.elements;
  app.add_option("--nx", elements.x, "Elements along x")->option_text("N=24")->group("Problem");
  auto* ny = app.add_option("--ny", elements.y, "Elements along y; as many as along x unless given");
  ny->option_text("N")->group("Problem");
  auto* nz = app.add_option("--nz", elements.z, "Elements along z; as many as along x unless given");
  nz->option_text("N")->group("Problem");
  app.add_option("--dt", options.heat.dt, "Time step, in units of the diffusion time L^2/kappa")
      ->option_text("T=0.005")
      ->group("Problem");

  SolverSettings& solver = options.heat.solver;
  app.add_option("--tolerance", solver.tolerance, "Residual at which a solve is done, relative to the right-hand side")
      ->option_text("R=1e-10")
      ->group("Solver");
  app.add_option("--max-iterations", solver.max_iterations, "Most CG iterations in one step")
      ->option_text("N=1000")
      ->group("Solver");
  app.add_flag("--agree", options.agree,
               "Agree in every CG iteration, by the fault-tolerant agreement, to leave the solver together")
      ->group("Solver");
  app.add_option("--yaml", options.yaml, "Write miniFE's report (sizes, iterations, Mflop/s) to FILE")
      ->check(CLI::Validator([](const std::string& text) { return check_writable_file(text); }, ""))
      ->option_text("FILE")
      ->group("Output");

  options.common.steps = 20;
  add_common_options(app, options.common);

  return parse_command_line(app, argc, argv, [&] {
    if (ny->count() == 0) elements.y = elements.x;
    if (nz->count() == 0) elements.z = elements.x;
    check(options);
    check_kills(options.common, {"assembly", "halo", "solve"}, options.common.steps);
    check_plot(options.common, std::int64_t{elements.x + 1} * (elements.y + 1));
  });
}

}  // namespace apps::minife
