// Linked into the programs of the guide, so that a test can kill them at a fault point: MEND_TEST_DIE="1 commit.vote 5"
// kills process 1 when it reaches this point for the fifth time.

#include "base/fault_point.hpp"

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

const bool watches [[maybe_unused]] = [] {
  const char* order = std::getenv("MEND_TEST_DIE");
  const char* self = std::getenv("PMIX_RANK");
  if (order == nullptr || self == nullptr) return false;
  std::string process;
  std::string where;
  int times = 0;
  std::istringstream(order) >> process >> where >> times;
  if (process != self) return false;
  mend::on_fault_point([where, left = times](std::string_view point) mutable {
    if (point == where && --left == 0) std::raise(SIGKILL);
  });
  return true;
}();

}  // namespace
