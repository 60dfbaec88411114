#include "jobs/network/network_here.hpp"

#include "base/error.hpp"
#include "jobs/doctor/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <system_error>

namespace mend::jobs {

std::vector<std::string> infiniband_devices() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& device : std::filesystem::directory_iterator("/sys/class/infiniband", missing)) {
    for (const auto& port : std::filesystem::directory_iterator(device.path() / "ports", missing)) {
      std::string layer;
      std::ifstream(port.path() / "link_layer") >> layer;
      if (layer != "InfiniBand") continue;
      names.push_back(device.path().filename());
      break;
    }
  }
  std::ranges::sort(names);
  return names;
}

bool has_component(const std::filesystem::path& mpirun, const std::string& component) {
  const auto ompi_info = mpirun.parent_path() / "ompi_info";
  constexpr std::chrono::seconds patience{20};
  const ProgramEnd asked = run_program({ompi_info.string(), "--parsable"}, patience);
  return asked.succeeded() && asked.output.find(fmt::format("mca:btl:{}:version", component)) != std::string::npos;
}

void require_component(const std::filesystem::path& mpirun, const std::string& component) {
  if (component.empty() || has_component(mpirun, component)) return;
  throw UsageError(fmt::format(
      "--network {}: the Open MPI of {} has no component btl {}: jobs/setup.sh builds it where the development package "
      "of {} is installed",
      component, mpirun.string(), component, component == "ofi" ? "libfabric" : "UCX"));
}

}  // namespace mend::jobs
