// The simulations that `mend simulate` runs: programs beside the command.

#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

namespace mend::jobs {

inline constexpr std::array<std::string_view, 4> simulated_subjects{"agreement", "detector", "recovery", "rollback"};

inline std::filesystem::path program_simulating(std::string_view subject) {
  return std::filesystem::canonical("/proc/self/exe").parent_path() / ("mend-simulate-" + std::string(subject));
}

}  // namespace mend::jobs
