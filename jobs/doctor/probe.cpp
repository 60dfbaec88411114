// The test job of mend doctor: loses a process, restores its data, agrees, and measures wake-up delays. It reports its
// measurements as fields of the result file.

#include <mend.hpp>

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The path of the MPI library that this process has loaded.
std::string library_path() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&MPI_Get_library_version), &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : path.string();
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

/// The version of the HDF5 library that mend has loaded, if any.
std::string hdf5_version() {
  using GetVersion = int (*)(unsigned*, unsigned*, unsigned*);
  const auto get = reinterpret_cast<GetVersion>(::dlsym(RTLD_DEFAULT, "H5get_libversion"));
  unsigned major = 0, minor = 0, release = 0;
  if (get == nullptr || get(&major, &minor, &release) < 0) return "";
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

/// The worst delay with which any rank wakes from short sleeps, while all of them sleep.
double wake_up_delay(MPI_Comm comm) {
  constexpr auto nap = std::chrono::milliseconds(1);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    const auto begin = Clock::now();
    std::this_thread::sleep_for(nap);
    worst = std::max(worst, milliseconds_since(begin) - 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, comm);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const bool dies = argc > 1 && std::string_view(argv[1]) == "dies";
  return mend::run(argc, argv, [&](mend::Session& session) {
    std::vector<std::uint32_t> data(1 << 16);
    int step = 0;
    mend::Store& store = session.store();
    store.protect("data", data);
    store.protect("step", step);
    store.restore();
    const auto expected = [&](int number) { return static_cast<std::uint32_t>(session.rank().value * 100 + number); };
    for (; step < 4;) {
      ++step;
      std::fill(data.begin(), data.end(), expected(step));
      store.commit();
      if (dies && step == 2 && session.rank().value == 1 && session.predecessors() == 0) std::raise(SIGKILL);
    }
    const bool whole = std::all_of(data.begin(), data.end(), [&](std::uint32_t value) { return value == expected(4); });
    const bool all_whole = session.agree(whole);
    const bool one_refuses = !session.agree(session.rank().value != 0);

    constexpr int rounds = 50;
    const auto begin = Clock::now();
    for (int i = 0; i < rounds; ++i) session.agree(true);
    session.report("agreement_ms", milliseconds_since(begin) / rounds);
    session.report("agreement", std::int64_t{one_refuses});
    session.report("data_is_back", std::int64_t{all_whole});
    session.report("wake_up_ms", wake_up_delay(session.comm()));
    session.report("mpi_library", library_path());
    session.report("mpi_version", library_version());
    session.report("hdf5_version", hdf5_version());
  });
}
