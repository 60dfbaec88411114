#pragma once

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdio>
#include <utility>

namespace support {

/// Returns true if the kernel is of this release of Linux or a later one.
inline bool kernel_is_at_least(int major, int minor) {
  utsname system{};
  std::pair release{0, 0};
  EXPECT_EQ(::uname(&system), 0);
  EXPECT_EQ(std::sscanf(system.release, "%d.%d", &release.first, &release.second), 2);
  return release >= std::pair(major, minor);
}

}  // namespace support
