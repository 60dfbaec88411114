// Programs with regions (framework/mend_kokkos.hpp) in which ranks die. The first argument names the scenario.

#include "framework/mend.hpp"
#include "framework/mend_kokkos.hpp"

#include <Kokkos_DualView.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace {

using mend::kokkos::checkpoint;
using Numbers = Kokkos::View<double*, Kokkos::HostSpace>;
/// In the memory that kernels use by default: that of the device if Kokkos was built for one.
using Field = Kokkos::View<double*>;

/// Views in a View, allocated as Kokkos wants it.
template <class Of>
Kokkos::View<Of*, Kokkos::HostSpace> views(const std::string& label, std::size_t count) {
#if KOKKOS_VERSION >= 40401
  return Kokkos::View<Of*, Kokkos::HostSpace>(Kokkos::view_alloc(label, Kokkos::SequentialHostInit), count);
#else
  return Kokkos::View<Of*, Kokkos::HostSpace>(label, count);
#endif
}

void say(const mend::Session& session, const std::string& text) {
  const std::string line = fmt::format("rank {}: {}\n", session.rank().value, text);
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

void die_if(bool is_so) {
  if (is_so) std::raise(SIGKILL);
}

double sum_over(MPI_Comm comm, double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

double sum_of(const Numbers& view) {
  double sum = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i) sum += view(i);
  return sum;
}

/// A View may take the place of another that is gone, in the other region too; but not of one that is still used.
void label_alike(mend::Session& session) {
  const auto add = [&](const char* region, int step, const Numbers& to) {
    checkpoint(session, region, step, [=] { to(0) += 1; });
  };
  Numbers u("u", 3);
  const Numbers v("v", 3);
  const Numbers another("v", 3);
  add("one", 0, u);
  add("other", 0, u);
  u = Numbers("u", 3);
  add("one", 1, u);
  add("other", 1, u);
  add("one", 2, v);
  add("other", 2, another);
}

/// Two regions, one View in both, and Views in a View. Rank 1 dies in the first region, rank 0 in the second.
void compute(mend::Session& session, bool ranks_die) {
  const int rank = session.rank().value;
  const int epoch = ranks_die ? static_cast<int>(session.epoch().value) : 2;
  const MPI_Comm comm = session.comm();
  const Numbers u("u", 1000 + 10 * static_cast<std::size_t>(rank));
  const Numbers v("v", 50);
  const auto history = views<Numbers>("history", 3);
  for (std::size_t i = 0; i < 3; ++i) history(i) = Numbers("old", 4);
  int called = 0;
  for (int step = 0; step < 12; ++step) {
    called += checkpoint(session, "heat", step, [=] {
      die_if(epoch == 0 && rank == 1 && step == 5);
      const double all = sum_over(comm, u(0) + v(0) + rank);
      for (std::size_t i = 0; i < u.extent(0); ++i) u(i) = 0.5 * u(i) + all + static_cast<double>(i % 7);
    });
    checkpoint(session, "history", step, [=] {
      const double all = sum_over(comm, u(1));
      die_if(epoch == 1 && rank == 0 && step == 8);
      Kokkos::deep_copy(v, all);
      history(static_cast<std::size_t>(step) % 3)(static_cast<std::size_t>(step) % 4) += all;
    });
  }
  double old = 0;
  for (std::size_t i = 0; i < 3; ++i) old += sum_of(history(i));
  say(session, fmt::format("sums {:a} {:a} {:a}, last {} {}", sum_of(u), sum_of(v), old,
                           mend::kokkos::last_step(session, "heat"), mend::kokkos::last_step(session, "history")));
  say(session, fmt::format("called {} times in epoch {}", called, epoch));
}

/// Commits by a filter, and repairs in place.
void repair_in_place(mend::Session& session) {
  const Numbers u("u", 100);
  const auto run = [&] {
    const int rank = session.rank().value;
    const int epoch = static_cast<int>(session.epoch().value);
    for (int step = 0; step < 10; ++step) {
      const auto work = [=, comm = session.comm()] {
        die_if(epoch == 0 && rank == 1 && step == 7);
        const double all = sum_over(comm, u(3) + rank);
        Kokkos::deep_copy(u, all);
      };
      checkpoint(session, "work", step, work, [](std::int64_t done) { return done % 3 == 2; });
    }
  };
  for (bool is_done = false; !is_done;) {
    try {
      run();
      is_done = true;
    } catch (const mend::ProcessFailure&) {
      session.repair();
    }
  }
  say(session, fmt::format("value {:a}", u(0)));
}

double first_of(const Field& field) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(field, std::pair(0, 1)))(0);
}

double sum_of_field(const Field& field) {
  double sum = 0;
  Kokkos::parallel_reduce(
      field.extent(0), KOKKOS_LAMBDA(std::size_t i, double& so_far) { so_far += field(i); }, sum);
  return sum;
}

/// Regions of kernels, on 12 MB a rank. Rank 1 dies in the first epoch while its kernel may be under way, rank 0 in the
/// second one.
void compute_by_kernels(mend::Session& session, bool ranks_die) {
  const int rank = session.rank().value;
  const int epoch = ranks_die ? static_cast<int>(session.epoch().value) : 2;
  const MPI_Comm comm = session.comm();
  const Field u("u", 1'500'000);
  const auto nested = views<Field>("nested", 1);
  nested(0) = Field("v", 50);
  for (int step = 0; step < 12; ++step) {
    checkpoint(session, "heat", step, [=] {
      const double all = sum_over(comm, first_of(u) + rank);
      const Field v = nested(0);
      Kokkos::parallel_for(
          u.extent(0),
          KOKKOS_LAMBDA(std::size_t i) { u(i) = 0.5 * u(i) + all + v(i % 50) + static_cast<double>(i % 7); });
      die_if(epoch == 0 && rank == 1 && step == 5);
      die_if(epoch == 1 && rank == 0 && step == 8);
      Kokkos::parallel_for(
          v.extent(0), KOKKOS_LAMBDA(std::size_t i) { v(i) += 0.25 * all; });
    });
  }
  say(session, fmt::format("sums {:a} {:a}, last {}", sum_of_field(u), sum_of_field(nested(0)),
                           mend::kokkos::last_step(session, "heat")));
}

/// Two Views change places in a View of Views at every step, and one is replaced by a new one at some.
void change_places(mend::Session& session, bool rank_dies) {
  const int rank = session.rank().value;
  const bool is_to_die = rank_dies && session.epoch() == mend::Epoch{0};
  const MPI_Comm comm = session.comm();
  const auto nested = views<Numbers>("nested", 2);
  for (std::size_t i = 0; i < 2; ++i) nested(i) = Numbers("inner", 40);
  for (int step = 0; step < 11; ++step) {
    checkpoint(
        session, "swap", step,
        [=] {
          const double all = sum_over(comm, nested(0)(1) + rank);
          die_if(is_to_die && rank == 1 && step == 8);
          if (step % 4 == 3) nested(1) = Numbers("another", 40);
          for (std::size_t i = 0; i < 40; ++i) nested(1)(i) += 0.5 * nested(0)(i) + all;
          std::swap(nested(0), nested(1));
        },
        [](std::int64_t done) { return done % 3 == 0; });
  }
  say(session, fmt::format("sums {:a} {:a}, last {}", sum_of(nested(0)), sum_of(nested(1)),
                           mend::kokkos::last_step(session, "swap")));
}

/// A DualView in each of two regions, with data that is newer on the host.
void use_dual_views(mend::Session& session, bool rank_dies) {
  const int rank = session.rank().value;
  const bool is_to_die = rank_dies && session.epoch() == mend::Epoch{0};
  const MPI_Comm comm = session.comm();
  Kokkos::DualView<double*> a("a", 20);
  Kokkos::DualView<double*> b("b", 30);
  const auto add = [=](Kokkos::DualView<double*> to, double value) {
    to.sync_host();
    to.modify_host();
    for (std::size_t i = 0; i < to.extent(0); ++i) to.h_view(i) += value;
  };
  for (int step = 0; step < 10; ++step) {
    checkpoint(session, "one", step, [=] { add(a, sum_over(comm, rank + step)); });
    checkpoint(session, "other", step, [=] {
      die_if(is_to_die && rank == 0 && step == 6);
      add(b, sum_over(comm, a.h_view(3)));
      add(a, 1);
    });
  }
  for (auto* view : {&a, &b}) view->sync_device();
  say(session, fmt::format("sums {:a} {:a}, last {}", sum_of_field(a.d_view), sum_of_field(b.d_view),
                           mend::kokkos::last_step(session, "other")));
}

void nest(mend::Session& session) {
  const Numbers u("u", 1);
  checkpoint(session, "outer", 0, [=, &session] { checkpoint(session, "inner", 0, [=] { u(0) = 1; }); });
}

/// The second region is called for the first time after the first one has gone on.
void come_late(mend::Session& session) {
  const Numbers u("u", 1);
  const Numbers v("v", 1);
  const int rank = session.rank().value;
  const bool is_first = session.epoch() == mend::Epoch{0};
  for (int step = 0; step < 6; ++step) {
    checkpoint(session, "early", step, [=, comm = session.comm()] { u(0) = sum_over(comm, u(0) + 1); });
    if (is_first || step == 5) checkpoint(session, "late", step, [=] { v(0) += u(0); });
    die_if(is_first && rank == 1 && step == 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos;
  const std::string_view what = argc > 1 ? argv[1] : "";
  return mend::run(argc, argv, [&](mend::Session& session) {
    if (what == "in_place") return repair_in_place(session);
    if (what == "nested") return nest(session);
    if (what == "alike") return label_alike(session);
    if (what == "late") return come_late(session);
    if (what == "swaps" || what == "swaps_deaths") return change_places(session, what == "swaps_deaths");
    if (what == "duals" || what == "duals_deaths") return use_dual_views(session, what == "duals_deaths");
    if (what == "kernels" || what == "kernels_deaths") return compute_by_kernels(session, what == "kernels_deaths");
    compute(session, what == "deaths");
  });
}
