// The end of a command: its output must have been written.

#pragma once

#include "base/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace mend {

/// Returns `code` if all of standard output was written. Otherwise reports that and returns a code that is not 0.
/// Local.
inline int written_or_failed(int code) {
  errno = 0;
  const bool failed_before = std::ferror(stdout) != 0;  // a command may flush each of its lines
  std::cout.flush();                                    // the help of CLI11
  if (std::fflush(stdout) == 0 && !failed_before && std::cout.good()) return code;
  std::fprintf(stderr, "mend: the output could not be written%s%s\n", errno == 0 ? "" : ": ",
               errno == 0 ? "" : std::strerror(errno));
  return code == 0 ? static_cast<int>(ExitCode::failed) : code;
}

}  // namespace mend
