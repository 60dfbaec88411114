// Tests that draw their runs: a run is its seed. MEND_SEED=n runs that one alone, MEND_SEEDS=n runs n of them, and a
// failure says how to see it again.

#pragma once

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

/// `usual`: how many when the environment does not say; with sanitizers a run takes much longer, and what they look
/// for shows in few.
inline Seeds seeds([[maybe_unused]] std::uint64_t usual, [[maybe_unused]] std::uint64_t usual_with_sanitizers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  usual = usual_with_sanitizers;
#endif
  const auto number = [](const char* text) { return std::strtoull(text, nullptr, 10); };
  if (const char* only = std::getenv("MEND_SEED")) return {number(only), number(only)};
  if (const char* count = std::getenv("MEND_SEEDS")) return {1, number(count)};
  return {1, usual};
}

/// The command that runs the present test with this seed alone.
inline std::string to_see_again(std::uint64_t seed) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("seed {}. To see it again:\n  MEND_SEED={} {} --gtest_filter='{}.{}'\n", seed, seed,
                     std::filesystem::read_symlink("/proc/self/exe").string(), test->test_suite_name(), test->name());
}

}  // namespace support
