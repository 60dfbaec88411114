// For benchmarks that launch jobs of themselves: one for each death, because a process can die only once.

#pragma once

#include "base/clock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mend::bench {

/// The time on a clock that all processes of the machine share.
inline std::int64_t nanoseconds_of(WallClock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
inline std::int64_t now_ns() { return nanoseconds_of(WallClock::now()); }

/// In a launched process: writes to a file, because mpirun reports a death late while it has output to forward.
inline void say(const std::string& record, const std::string& line) {
  const int file = ::open(record.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  ::close(file);
}

/// Launches this program under `mend run`, with `options` and a --record, and returns the record of its processes.
/// `run_options`: of mend run.
inline std::string said_by_job(const std::string& mend, int ranks, int spares, const std::string& options,
                               const std::string& run_options = "") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto record = std::filesystem::temp_directory_path() / fmt::format("mend-bench-{}", ::getpid());
  // The exit code may be an error, because the benchmark loses ranks on purpose. Missing lines in the record are
  // noticed.
  [[maybe_unused]] const int code =
      std::system(fmt::format("{} run -n {} --spares {} {} -- {} {} --record {} >/dev/null 2>&1", mend, ranks, spares,
                              run_options, self, options, record.string())
                      .c_str());
  std::ifstream in(record);
  const std::string said{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(record);
  return said;
}

}  // namespace mend::bench
