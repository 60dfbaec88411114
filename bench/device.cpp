// What it costs to protect data in the memory of a device: commit and restore of a Kokkos View, beside copies of the
// same bytes. Started by mend run with 2 ranks or more, with mend's options. Without a device, all memory is the
// host's.
//
// All are measured in turn, many times, so that disturbances of the machine affect all alike.

#include "base/median.hpp"
#include "bench/command_line.hpp"
#include "framework/mend.hpp"
#include "store/device_staging.hpp"
#include "store/snapshot/streaming_copy.hpp"

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mend::bench {
namespace {

using Device = Kokkos::DefaultExecutionSpace::memory_space;
using Field = Kokkos::View<double*, Kokkos::LayoutRight, Device>;
using HostField = Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Contestant {
  std::string name;
  std::function<void()> prepare;  ///< if anything
  std::function<void()> once;
  std::vector<Milliseconds> times{};
};

/// Returns the time on the slowest rank.
Milliseconds measure(const Session& session, const Contestant& contestant) {
  MPI_Barrier(session.comm());
  const Stopwatch watch;
  contestant.once();
  double time = Milliseconds(watch.elapsed()).count();
  MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, session.comm());
  return Milliseconds{time};
}

template <class View>
std::span<std::byte> bytes_of(const View& view) {
  return std::as_writable_bytes(std::span(view.data(), view.size()));
}

void compare(Session& session, int rounds, double mebibytes) {
  const auto count = static_cast<std::size_t>(mebibytes * 1024 * 1024 / sizeof(double));
  Field field("field", count);
  HostField host("pageable", count);
  const Kokkos::View<double*, Kokkos::LayoutRight, detail::PinnedSpace> pinned("pinned", count);
  // Touched, so that no copy measures the kernel's making of pages.
  std::memset(host.data(), 1, count * sizeof(double));
  std::memset(pinned.data(), 1, count * sizeof(double));
  const detail::BytesIn<std::byte, Device> bytes(reinterpret_cast<std::byte*>(field.data()), count * sizeof(double));
  auto& staging = detail::staging<Device>();

  Store& store = session.store();
  store.protect("field", field);
  const auto protect_host = [&] { store.replace("field", host); };
  const auto protect_device = [&] { store.replace("field", field); };
  const auto commit = [&] { store.commit(); };
  const auto restore = [&] { store.restore(); };

  const auto to_host = [&] {
    std::span<std::byte> to = bytes_of(host);
    staging.to_host(bytes, [&](std::span<const std::byte> piece) {
      copy_past_caches(piece, to.first(piece.size()));  // as a snapshot is written
      to = to.subspan(piece.size());
    });
  };

  double value = 0;
  const auto change = [&] {  // so that no commit finds what it has
    Kokkos::deep_copy(field, ++value);
    Kokkos::deep_copy(host, value);
    Kokkos::fence();
  };

  std::vector<Contestant> all{
      {"to the host, pinned", {}, [&] { Kokkos::deep_copy(pinned, field); }},
      {"to the host, pageable", {}, [&] { Kokkos::deep_copy(host, field); }},
      {"to the host, mend's staging", {}, to_host},
      {"copy within the host", {}, [&] { std::memcpy(host.data(), pinned.data(), count * sizeof(double)); }},
      {"commit, data on the host", protect_host, commit},
      {"commit, data on the device", protect_device, commit},
      {"to the device, pinned", {}, [&] { Kokkos::deep_copy(field, pinned); }},
      {"to the device, pageable", {}, [&] { Kokkos::deep_copy(field, host); }},
      {"to the device, mend's staging", {}, [&] { staging.to_device(std::as_bytes(bytes_of(host)), bytes); }},
      {"restore, data on the host", protect_host, restore},
      {"restore, data on the device", protect_device, restore},
  };
  constexpr int warm_up = 2;  // the first commits fill memory that later ones use again
  for (int round = 0; round < warm_up + rounds; ++round) {
    for (Contestant& one : all) {
      if (one.prepare) one.prepare();
      change();
      const Milliseconds time = measure(session, one);
      if (round >= warm_up) one.times.push_back(time);
    }
  }
  if (session.rank() != Rank{0}) return;
  fmt::print("{} ranks, {} MiB each, {}, medians of {}\n", session.size(), mebibytes, Device::name(), rounds);
  const double bound = median(all.front().times).count();
  for (const Contestant& one : all) {
    const double time = median(one.times).count();
    fmt::print("  {:<30} {:8.2f} ms  {:6.2f} GB/s  {:5.2f}\n", one.name, time,
               static_cast<double>(count * sizeof(double)) / time / 1e6, time / bound);
  }
}

}  // namespace
}  // namespace mend::bench

int main(int argc, char** argv) {
  int rounds = 15;
  double mebibytes = 256;
  mend::bench::CommandLine line("bench_device", "Commit and restore of data on a device");
  line.add("--rounds", rounds, "Times that each is measured");
  line.add("--mebibytes", mebibytes, "Of each rank's data", 0.1, 65536);
  line.allow_options_of_mend();
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  const Kokkos::ScopeGuard kokkos;
  return mend::run(argc, argv, [&](mend::Session& session) { mend::bench::compare(session, rounds, mebibytes); });
}
