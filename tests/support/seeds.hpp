// Tests with random runs: a run is its seed. MEND_SEED=n runs only that one, MEND_SEEDS=n runs n of them. A failure
// says how to repeat it.

#pragma once

#include "tests/support/sanitized.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace support {

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last;

  std::uint64_t count() const { return last - first + 1; }
};

/// `usual`: the number of runs if the environment gives none. With sanitizers a run takes much longer, and few runs
/// show what they look for.
inline Seeds seeds(std::uint64_t usual, std::uint64_t usual_with_sanitizers) {
  if (sanitized) usual = usual_with_sanitizers;
  const auto number = [](const char* text) { return std::strtoull(text, nullptr, 10); };
  if (const char* only = std::getenv("MEND_SEED")) return {number(only), number(only)};
  if (const char* count = std::getenv("MEND_SEEDS")) return {1, number(count)};
  return {1, usual};
}

/// The command that runs the present test with only this seed.
inline std::string to_see_again(std::uint64_t seed) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("seed {}. To see it again:\n  MEND_SEED={} {} --gtest_filter='{}.{}'\n", seed, seed,
                     std::filesystem::read_symlink("/proc/self/exe").string(), test->test_suite_name(), test->name());
}

}  // namespace support
