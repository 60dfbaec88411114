// mend's corrections to Open MPI (jobs/setup/patches), and the consequences of each missing one.

#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

/// Of Open MPI: major, minor, and number.
using Release = std::array<int, 3>;

/// Returns the release in the first line of `mpirun --version`: "mpirun (Open MPI) 5.0.7"; {5, 0, 0} if the line has
/// none. Pure.
Release release_in(const std::string& line);

struct Correction {
  std::string_view name;     ///< of the file, without ".patch"
  std::string_view without;  ///< what happens without it
  Release since{5, 0, 0};    ///< the first release that has the defect
  Release until{99, 0, 0};   ///< the first release in which Open MPI's authors have corrected it

  bool is_needed_by(Release release) const { return since <= release && release < until; }
};

/// All corrections, in alphabetical order.
std::span<const Correction> corrections();

/// Returns true if the Open MPI at `prefix` was built with the correction of this name (jobs/setup.sh). Local.
bool has_correction(const std::filesystem::path& prefix, std::string_view name);

/// Returns the corrections that are missing in the Open MPI of that release at `prefix`. Local.
std::vector<Correction> missing_corrections(const std::filesystem::path& prefix, Release release);

}  // namespace mend::jobs
