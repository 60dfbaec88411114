// Whether tests take the time that is needed to try out everything.

#pragma once

#include <cstdlib>
#include <string_view>

namespace support {

/// MEND_TEST_LONG=1 was said.
inline bool long_tests() {
  const char* wish = std::getenv("MEND_TEST_LONG");
  return wish != nullptr && std::string_view(wish) == "1";
}

}  // namespace support
