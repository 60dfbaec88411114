#include "framework/process/misspelt_variables.hpp"

#include "base/telemetry/job_status.hpp"
#include "base/launch.hpp"
#include "framework/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace mend {
namespace {

constexpr std::string_view prefix = "MEND_";
constexpr std::string_view for_tests = "MEND_TEST_";

/// Returns the variables of options, and those of the launcher, of mend's own processes and of its tests.
std::vector<std::string> known_variables() {
  std::vector<std::string> known = option_variables();
  for (const char* name :
       {"MEND_MPIRUN", "MEND_SOCKETS", "MEND_TERMINAL", "MEND_PREFIX", "MEND_SOAK_SECONDS",
        job_status::environment_variable, launch::process_variable, launch::job_variable, launch::host_address_variable,
        launch::parent_death_variable, launch::processes_variable, launch::restart_variable, launch::number_variable}) {
    known.emplace_back(name);
  }
  return known;
}

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);  // distances from the part of `one` read so far to each prefix of
                                                   // `other`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> doubts_about(std::span<const std::string> names, std::span<const std::string> known) {
  std::vector<std::string> sentences;
  for (const std::string& name : names) {
    const bool is_ours = name.starts_with(prefix) && !name.starts_with(for_tests);
    if (!is_ours || std::ranges::find(known, name) != known.end()) continue;
    const auto distance = [&](const std::string& other) { return edit_distance(name, other); };
    const auto nearest = std::ranges::min_element(known, {}, distance);
    const std::size_t most_mistakes = (name.size() - prefix.size()) / 2;
    const bool is_near = nearest != known.end() && distance(*nearest) <= most_mistakes;
    sentences.push_back(fmt::format("the environment variable {} is not a variable of mend and has no effect{}", name,
                                    is_near ? fmt::format(": is {} meant?", *nearest) : ""));
  }
  return sentences;
}

std::vector<std::string> doubts_about_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  std::ranges::sort(names);
  return doubts_about(names, known_variables());
}

}  // namespace mend
