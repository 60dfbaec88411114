// Tries corrections to Open MPI instead of looking for them: does the library at hand show the defects that they
// correct? corrections.sh, which is installed with mend, runs a reproducer for each of them and ends what hangs.

#pragma once

#include "jobs/doctor/corrections.hpp"
#include "jobs/doctor/finding.hpp"

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend::jobs {

/// More time than the reproducer of any correction takes: its runs, each as long as its file allows, and the compiler.
inline constexpr std::chrono::seconds longest_reproduction{300};

enum class Defect { shown, not_shown, untestable };

/// A line of the table that `corrections.sh --check PREFIX --tabs` prints.
struct Reproduction {
  Correction correction;
  Defect defect = Defect::untestable;
  int run = 0;        ///< the one that showed the defect, or the number of runs
  std::string words;  ///< why; empty for Defect::not_shown
};

/// Returns the reproductions in that table. Leaves out lines of another form or of an unknown correction. Pure.
std::vector<Reproduction> reproductions_in(std::string_view table);

/// Returns a finding for each defect that is shown, one for all that are not, and one for each that cannot be tried.
/// `are_missing`: the library lacks these corrections. Then a defect that cannot be tried is a warning. Pure.
Findings findings_of(std::span<const Reproduction> reproductions, bool are_missing);

/// Tries `tried` on the Open MPI at `prefix` with `script`, which takes up to some minutes. Local. Throws Interrupted.
Findings reproduce(const std::filesystem::path& script, const std::filesystem::path& prefix,
                   std::span<const Correction> tried, bool are_missing);

}  // namespace mend::jobs
