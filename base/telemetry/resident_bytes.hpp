#pragma once

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace mend {

/// Returns the resident memory of a process of this machine; 0 if it is gone. Local.
inline std::uint64_t resident_bytes(pid_t process) {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process)) >> mapped >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace mend
