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
};

/// All corrections, in alphabetical order.
std::span<const Correction> corrections();

/// The corrections that are missing in the Open MPI at `prefix`. Local.
std::vector<Correction> missing_corrections(const std::filesystem::path& prefix);

}  // namespace mend::jobs
