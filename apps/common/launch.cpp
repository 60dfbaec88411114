#include "apps/common/launch.hpp"

#include "base/launch.hpp"

#include <cstdlib>

namespace apps {

int launched_processes() {
  const char* text = std::getenv("OMPI_COMM_WORLD_SIZE");
  return text == nullptr || mend::launch::host_address() ? 0 : std::atoi(text);
}

}  // namespace apps
