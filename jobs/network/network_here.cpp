#include "jobs/network/network_here.hpp"

#include "base/error.hpp"
#include "jobs/doctor/program.hpp"
#include "transport/control/interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace mend::jobs {

std::string interfaces_of_mpi(const Settings& user) {
  const std::string named = value_of(user, "btl_tcp_if_include").value_or("");
  const bool is_usable =
      !named.empty() && transport::objection_to_network(named).empty() && transport::obstacle_to_network(named).empty();
  return is_usable ? named : "";
}

std::vector<std::string> infiniband_devices() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/infiniband", missing))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

void require_component(const std::filesystem::path& mpirun, const std::string& component) {
  if (component.empty()) return;
  const auto ompi_info = mpirun.parent_path() / "ompi_info";
  constexpr std::chrono::seconds patience{20};
  const ProgramEnd asked = run_program({ompi_info.string(), "--parsable"}, patience);
  if (asked.succeeded() && asked.output.find(fmt::format("mca:btl:{}:version", component)) != std::string::npos) return;
  throw UsageError(fmt::format(
      "--network {}: the Open MPI of {} has no component btl {}: jobs/setup.sh builds it where the development package "
      "of {} is installed",
      component, mpirun.string(), component, component == "ofi" ? "libfabric" : "UCX"));
}

}  // namespace mend::jobs
