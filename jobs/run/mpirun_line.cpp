#include "jobs/run/mpirun_line.hpp"

#include "base/launch.hpp"
#include "base/telemetry/job_status.hpp"

#include <algorithm>

namespace mend::jobs {

Environment job_environment(const Launch& launch, const std::filesystem::path& status_file, bool terminal, bool root) {
  Environment environment{
      {launch::processes_variable, std::to_string(launch.processes())},
      {"MEND_SPARES", std::to_string(launch.spares)},
      {"MEND_TERMINAL", terminal ? "1" : "0"},
      {job_status::environment_variable, status_file.string()},
      // Processes spawned later do not inherit --with-ft.
      {"OMPI_MCA_mpi_ft_enable", "1"},
  };
  if (launch.spare_nodes > 0) environment.emplace("MEND_SPARE_NODES", std::to_string(launch.spare_nodes));
  if (!launch.network.for_mend.empty()) environment.emplace("MEND_NETWORK", launch.network.for_mend);
  if (!launch.result.empty()) environment.emplace("MEND_RESULT", std::filesystem::absolute(launch.result).string());
  if (launch.checks_determinism) {
    environment.emplace("MEND_CHECK_DETERMINISM", "1");
    environment.emplace("MEND_ROLLBACK", "local,strict");
  }
  if (!launch.on_term.empty()) environment.emplace("MEND_ON_TERM", launch.on_term);
  if (launch.number > 1) environment.emplace(launch::number_variable, std::to_string(launch.number));
  if (launch.restarts) environment.emplace(launch::restart_variable, "1");
  if (root) {
    // Allows mpirun to run as root, because in containers there is often no other user.
    environment.emplace("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.emplace("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  for (const auto& [name, value] : launch.inherited) {
    if (name.starts_with("MEND_")) environment.emplace(name, value);
  }
  return environment;
}

Settings own_settings_in(std::string_view value) {
  Settings own;
  while (!value.empty()) {
    const std::string_view one = value.substr(0, value.find('|'));
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos) own.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    value.remove_prefix(std::min(one.size() + 1, value.size()));
  }
  return own;
}

std::vector<std::string> mpirun_line(const std::filesystem::path& mpirun, const Launch& launch,
                                     const Environment& environment) {
  const int processes = launch.processes();
  // If endpoints are made lazily, a revocation waits without end for a dead process that was never contacted.
  const int add_procs_cutoff = std::max(1024, processes + 1);
  std::vector<std::string> line{mpirun.string()};
  const auto append = [&line](std::initializer_list<std::string> words) { line.insert(line.end(), words); };
  // mpirun refuses a parameter that is set twice, and its options override the environment.
  const Settings user = settings_of_user(launch.network, launch.inherited, launch.mpirun_options);
  std::string own;
  const auto append_setting = [&](const std::string& name, const std::string& value) {
    append({"--mca", name, value});
    own += (own.empty() ? "" : "|") + name + "=" + value;
  };
  const auto set = [&](const std::string& name, const std::string& value) {
    if (!value_of(user, name)) append_setting(name, value);
  };
  append({"--with-ft", "ulfm"});
  append({"--map-by", "slot:OVERSUBSCRIBE"});  // without "slot", all processes start on the first node
  set("mpi_event_tick_rate", "100");           // microseconds until MPI learns of a death, instead of 10 ms
  for (const auto& [name, value] : settings_for(launch.network, user)) append_setting(name, value);
  // The default algorithm may hide a failure behind MPI_SUCCESS.
  set("coll_tuned_use_dynamic_rules", "1");
  set("coll_tuned_allgatherv_algorithm", "2");
  set("btl_sm_free_list_max", "-1");   // dead processes do not return fragments that were sent to them
  set("btl_tcp_disable_family", "6");  // mend's own network has IPv4 only, and some pairs of IPv6 are not connected
  set("async_mpi_finalize", "1");
  set("mpi_add_procs_cutoff", std::to_string(add_procs_cutoff));
  append({"--prtemca", "state_base_recoverable", "1"});
  if (!launch.agent.empty()) {
    append({"--prtemca", "plm", "ssh"});
    append({"--prtemca", "plm_ssh_agent", launch.agent});
    append({"--prtemca", "plm_ssh_no_tree_spawn", "1"});  // the agent works on the nodes of mpirun's own allocation
  }
  if (!launch.network.for_daemons.empty()) append({"--prtemca", "prte_if_include", launch.network.for_daemons});
  if (!launch.hosts.empty()) append({"--host", launch.hosts});
  if (!launch.hostfile.empty()) append({"--hostfile", launch.hostfile.string()});
  // mpirun passes on OMPI_ variables by itself.
  for (const auto& [name, value] : environment) {
    if (name.starts_with("MEND_")) append({"-x", name + "=" + value});
  }
  if (!own.empty()) append({"-x", std::string(own_settings_variable) + "=" + own});
  line.insert(line.end(), launch.mpirun_options.begin(), launch.mpirun_options.end());
  append({"-np", std::to_string(processes)});
  line.insert(line.end(), launch.program.begin(), launch.program.end());
  return line;
}

}  // namespace mend::jobs
