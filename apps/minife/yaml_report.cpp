#include "apps/minife/yaml_report.hpp"

#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace apps::minife {
namespace {

template <std::size_t N>
std::array<double, N> reduced(const std::array<double, N>& mine, MPI_Op how, MPI_Comm comm) {
  std::array<double, N> all{};
  mend::check_mpi(MPI_Allreduce(mine.data(), all.data(), int{N}, MPI_DOUBLE, how, comm), "MPI_Allreduce");
  return all;
}

std::array<PhaseTotal, phase_count> totals(const Meters& meters, MPI_Comm comm) {
  std::array<double, phase_count> times{};
  std::array<double, phase_count> flops{};
  for (std::size_t i = 0; i < phase_count; ++i) {
    const Meter& meter = meters[static_cast<Phase>(i)];
    times[i] = meter.time.count();
    flops[i] = meter.flops;
  }
  times = reduced(times, MPI_MAX, comm);
  flops = reduced(flops, MPI_SUM, comm);

  std::array<PhaseTotal, phase_count> result;
  for (std::size_t i = 0; i < phase_count; ++i) result[i] = {mend::Seconds(times[i]), flops[i]};
  return result;
}

/// Returns by how much the fullest rank exceeds the average, in percent.
double imbalance(const Summary& summary) {
  const double average = static_cast<double>(summary.rows) / summary.ranks;
  return 100 * (static_cast<double>(summary.most_rows) / average - 1);
}

/// Counts the values of both matrices, their common structure, and the vectors of one solve.
double memory_gb(const Summary& summary) {
  const double entries = static_cast<double>(summary.entries) * (2 * sizeof(double) + sizeof(int));
  const double rows = static_cast<double>(summary.rows) * (sizeof(std::int64_t) + 8 * sizeof(double));
  return (entries + rows) / 1e9;
}

std::string kernel_lines(const char* name, const PhaseTotal& phase) {
  return fmt::format(
      "  {0} Time: {1:.6g}\n"
      "  {0} Flops: {2:.6g}\n"
      "  {0} Mflops: {3:.6g}\n",
      name, phase.longest.count(), phase.flops, phase.mflops());
}

}  // namespace

Summary summarize(const mend::Session& session, const Heat& heat, const HeatSettings& settings, int spares,
                  const TemperatureError& error, const Meters& meters, mend::Seconds total) {
  Summary summary;
  summary.settings = settings;
  summary.ranks = session.size();
  summary.spares = spares;
  summary.rows = heat.mesh().nodes().volume();
  summary.agreement_in_solver = static_cast<bool>(settings.solver.leave_together);
  summary.state = heat.state;
  summary.error = error;
  summary.total = total;
  summary.recoveries = session.recoveries().size();
  summary.commits = session.store().version().value;

  // Doubles hold whole numbers exactly up to 2^53.
  const auto rows = static_cast<double>(heat.mesh().owned_count());
  const auto most = reduced(std::array{rows, -rows}, MPI_MAX, session.comm());
  summary.most_rows = static_cast<std::int64_t>(most[0]);
  summary.fewest_rows = static_cast<std::int64_t>(-most[1]);
  const auto entries = reduced(std::array{static_cast<double>(heat.local_entries())}, MPI_SUM, session.comm());
  summary.entries = static_cast<std::int64_t>(entries[0]);
  summary.phases = totals(meters, session.comm());
  return summary;
}

std::string yaml_text(const Summary& summary) {
  const Triple& elements = summary.settings.elements;
  std::string text = fmt::format(
      "Mini-Application Name: miniFE (time-dependent, under mend)\n"
      "Global Run Parameters:\n"
      "  dimensions:\n"
      "    nx: {}\n"
      "    ny: {}\n"
      "    nz: {}\n"
      "  number of processors: {}\n"
      "  spares: {}\n"
      "  time step: {:.6g}\n"
      "  tolerance: {:.2e}\n"
      "  agreement in solver: {}\n",
      elements.x, elements.y, elements.z, summary.ranks, summary.spares, summary.settings.dt,
      summary.settings.solver.tolerance, summary.agreement_in_solver);
  text += fmt::format(
      "Rows-per-proc Load Imbalance:\n"
      "  Largest (from avg, %): {:.3g}\n"
      "Matrix structure generation:\n"
      "  Mat-struc-gen Time: {:.6g}\n"
      "FE assembly:\n"
      "  FE assembly Time: {:.6g}\n"
      "  FE assembly Flops: {:.6g}\n"
      "  FE assembly Mflops: {:.6g}\n"
      "Dirichlet conditions:\n"
      "  Dirichlet Time: {:.6g}\n",
      imbalance(summary), summary[Phase::structure].longest.count(), summary[Phase::assembly].longest.count(),
      summary[Phase::assembly].flops, summary[Phase::assembly].mflops(), summary[Phase::dirichlet].longest.count());
  text += fmt::format(
      "Matrix attributes:\n"
      "  Global Nrows: {}\n"
      "  Global NNZ: {}\n"
      "  Global Memory (GB): {:.6g}\n"
      "  Rows per proc MIN: {}\n"
      "  Rows per proc MAX: {}\n",
      summary.rows, summary.entries, memory_gb(summary), summary.fewest_rows, summary.most_rows);
  text += fmt::format(
      "Time stepping:\n"
      "  Steps: {}\n"
      "  Right-hand side Time: {:.6g}\n"
      "CG solve:\n"
      "  Iterations: {}\n"
      "  Final Resid Norm: {:.6g}\n",
      summary.state.step, summary[Phase::load].longest.count(), summary.state.iterations, summary.state.residual);
  text += kernel_lines("WAXPY", summary[Phase::waxpby]);
  text += kernel_lines("DOT", summary[Phase::dot]);
  text += kernel_lines("MATVEC", summary[Phase::matvec]);

  const double cg_flops = summary[Phase::waxpby].flops + summary[Phase::dot].flops + summary[Phase::matvec].flops;
  const double cg_time = summary[Phase::solve].longest.count();
  text += fmt::format(
      "  Total:\n"
      "    Total CG Time: {:.6g}\n"
      "    Total CG Flops: {:.6g}\n"
      "    Total CG Mflops: {:.6g}\n"
      "  Time per iteration: {:.6g}\n",
      cg_time, cg_flops, cg_time > 0 ? cg_flops / cg_time / 1e6 : 0,
      summary.state.iterations > 0 ? cg_time / static_cast<double>(summary.state.iterations) : 0);
  text += fmt::format(
      "Verification:\n"
      "  Error L2: {:.6g}\n"
      "  Error Max: {:.6g}\n"
      "  Error Bound (L2): {:.6g}\n"
      "Resilience:\n"
      "  Recoveries: {}\n"
      "  Commits: {}\n"
      "Total Program Time: {:.6g}\n",
      summary.error.l2, summary.error.max, summary.error.bound, summary.recoveries, summary.commits,
      summary.total.count());
  return text;
}

std::string short_text(const Summary& summary) {
  const Triple& elements = summary.settings.elements;
  return fmt::format(
      "minife: {} x {} x {} elements, {} rows, {} entries on {} ranks\n"
      "minife: {} steps, {} CG iterations, last relative residual {:.2e}\n"
      "minife: error {:.3e} (largest {:.3e}), within the {:.3e} allowed\n"
      "minife: {:.2f} s; CG {:.2f} s: matvec {:.0f}, dot {:.0f}, waxpby {:.0f} Mflop/s; {} commits, {} recoveries\n",
      elements.x, elements.y, elements.z, summary.rows, summary.entries, summary.ranks, summary.state.step,
      summary.state.iterations, summary.state.residual, summary.error.l2, summary.error.max, summary.error.bound,
      summary.total.count(), summary[Phase::solve].longest.count(), summary[Phase::matvec].mflops(),
      summary[Phase::dot].mflops(), summary[Phase::waxpby].mflops(), summary.commits, summary.recoveries);
}

}  // namespace apps::minife
