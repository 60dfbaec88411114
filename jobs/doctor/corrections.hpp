// mend's corrections to Open MPI (jobs/setup/patches), and the consequences of each missing one.

#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace mend::jobs {

struct Correction {
  std::string_view name;     ///< of the file, without ".patch"
  std::string_view without;  ///< what happens without it
  int since = 5;             ///< the first release of Open MPI that has the defect: its major number
};

/// All corrections, in alphabetical order.
std::span<const Correction> corrections();

/// The corrections that are missing in the Open MPI at `prefix`. `release`: its major number. Local.
std::vector<Correction> missing_corrections(const std::filesystem::path& prefix, int release);

}  // namespace mend::jobs
