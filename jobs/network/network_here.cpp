#include "jobs/network/network_here.hpp"

#include "base/error.hpp"
#include "jobs/doctor/program.hpp"
#include "jobs/setup/tested_open_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

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

Settings settings_in_files_of(const std::filesystem::path& prefix) {
  const bool is_of_debian = prefix == "/usr";
  std::vector<std::filesystem::path> files{(is_of_debian ? "/etc/openmpi" : prefix / "etc") /
                                           "openmpi-mca-params.conf"};
  if (const char* const home = std::getenv("HOME"); home != nullptr)
    files.push_back(std::filesystem::path(home) / ".openmpi/mca-params.conf");
  Settings settings;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::ranges::move(settings_in_file(text), std::back_inserter(settings));
  }
  return settings;
}

std::vector<std::string> variables_for_daemons() {
  std::vector<std::string> variables;
  for (const char* project : {"PRTE_MCA", "OMPI_MCA"}) {
    for (const char* name : {"prte_if", "oob_tcp_if", "oob_tcp"}) {
      for (const char* kind : {"include", "exclude"}) {
        std::string variable = fmt::format("{}_{}_{}", project, name, kind);
        if (std::getenv(variable.c_str()) != nullptr) variables.push_back(std::move(variable));
      }
    }
  }
  return variables;
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
      "--network {}: the Open MPI of {} has no component btl {}: jobs/setup.sh --open-mpi {} builds it where the "
      "development package of {} is installed",
      component, mpirun.string(), component, tested_open_mpi, component == "ofi" ? "libfabric" : "UCX"));
}

}  // namespace mend::jobs
