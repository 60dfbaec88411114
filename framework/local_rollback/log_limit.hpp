// The limit of a rank's log of messages if --mend-log-limit gives none: a tenth of the memory that the ranks of this
// machine may use, divided by the number of these ranks. A control group, as of a container or of a batch job, may
// allow less memory than the machine has.

#pragma once

#include "base/ids.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace mend {

/// Returns the smallest limit that a file `name` gives in `folder` or in a folder above it, up to `top`. Nothing if
/// none gives a number.
inline std::optional<ByteCount> smallest_limit(const std::filesystem::path& top, std::filesystem::path folder,
                                               const char* name) {
  std::optional<ByteCount> smallest;
  for (;;) {
    ByteCount limit = 0;
    const bool has_number = static_cast<bool>(std::ifstream(top / folder / name) >> limit);  // it may say "max"
    if (has_number) smallest = std::min(smallest.value_or(limit), limit);
    if (folder.empty()) return smallest;
    folder = folder.parent_path();
  }
}

/// Returns the memory that the control group of this process allows; nothing if it allows all. `root`: the root of the
/// file system. Local.
inline std::optional<ByteCount> memory_of_control_group(const std::filesystem::path& root = "/") {
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  std::optional<ByteCount> least;
  std::ifstream own(root / "proc/self/cgroup");  // lines as "0::/user.slice", or "9:memory:/user.slice" of version 1
  for (std::string line; std::getline(own, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::filesystem::path folder = std::filesystem::path(line.substr(second + 1)).relative_path();
    std::optional<ByteCount> limit;
    if (controllers == ",,") limit = smallest_limit(groups, folder, "memory.max");
    if (controllers.find(",memory,") != std::string::npos)
      limit = smallest_limit(groups / "memory", folder, "memory.limit_in_bytes");
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

/// Returns the limit of the log of each of `ranks` ranks of a machine with this memory. Pure.
constexpr ByteCount log_limit_of(ByteCount memory, std::optional<ByteCount> of_control_group, std::size_t ranks) {
  constexpr ByteCount part = 10;
  return std::min(memory, of_control_group.value_or(memory)) / part / std::max<std::size_t>(ranks, 1);
}

/// The same for this machine. Local.
inline ByteCount default_log_limit(std::size_t ranks) {
  const ByteCount memory =
      static_cast<ByteCount>(::sysconf(_SC_PHYS_PAGES)) * static_cast<ByteCount>(::sysconf(_SC_PAGE_SIZE));
  return log_limit_of(memory, memory_of_control_group(), ranks);
}

}  // namespace mend
