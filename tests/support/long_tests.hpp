// The switch for tests that take the time to try out everything.

#pragma once

#include <cstdlib>
#include <string_view>

namespace support {

/// Returns true if MEND_TEST_LONG=1 is set.
inline bool long_tests() {
  const char* wish = std::getenv("MEND_TEST_LONG");
  return wish != nullptr && std::string_view(wish) == "1";
}

}  // namespace support
