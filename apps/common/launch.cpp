#include "apps/common/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace apps {

std::optional<mend::ProcessId> launched_as() {
  for (const char* variable : {"PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    const char* text = std::getenv(variable);
    if (text == nullptr) continue;
    const std::string_view digits(text);
    mend::ProcessId process;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process.value);
    if (error == std::errc{} && end == digits.data() + digits.size()) return process;
  }
  return std::nullopt;
}

int launched_processes() {
  const char* text = std::getenv("OMPI_COMM_WORLD_SIZE");
  return text == nullptr ? 0 : std::atoi(text);
}

std::string launched_in() {
  const char* job = std::getenv("PMIX_NAMESPACE");
  return job == nullptr ? std::string{} : std::string{job};
}

bool speaks_for_all() { return launched_as().value_or(mend::ProcessId{0}) == mend::ProcessId{0}; }

}  // namespace apps
