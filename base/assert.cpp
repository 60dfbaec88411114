#include "base/assert.hpp"

#include "base/death/fail_stop.hpp"

#include <fmt/format.h>

#include <string_view>

namespace mend::detail {

void stop_at_broken(const char* invariant, const std::source_location& where) {
  const std::string_view path = where.file_name();
  fail_stop(fmt::format("a defect of mend, in line {} of {}: it does not hold that {}", where.line(),
                        path.substr(path.rfind('/') + 1), invariant));
}

}  // namespace mend::detail
