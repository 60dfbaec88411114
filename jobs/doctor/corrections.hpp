// mend's corrections to Open MPI (jobs/setup/patches), and what a job has to expect without each.

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

/// All of them, in alphabetical order.
std::span<const Correction> corrections();

/// Those that the Open MPI in `prefix` was built without. Local.
std::vector<Correction> missing_corrections(const std::filesystem::path& prefix);

}  // namespace mend::jobs
