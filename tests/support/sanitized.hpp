// With sanitizers a test takes ten times as long. What tries millions of states of a pure protocol tries them without,
// and with them fewer, which take the same steps.

#pragma once

#include "tests/support/long_tests.hpp"

#include <gtest/gtest.h>

namespace support {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
}  // namespace support

/// Ends a test that takes minutes with sanitizers, unless in the long mode.
#define SKIP_IF_SANITIZED()                         \
  if (support::sanitized && !support::long_tests()) \
  GTEST_SKIP() << "tried without sanitizers, where it takes a tenth of the time"
