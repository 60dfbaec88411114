#include "framework/spawn/process_starter.hpp"

#include "base/error.hpp"
#include "base/launch.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

namespace mend {
namespace {

/// The folder, arguments and environment with which this process was started, before main has changed them. New
/// processes are started in the same way.
struct Beginning {
  Beginning() {
    std::error_code ignored;
    folder = std::filesystem::current_path(ignored).string();
    std::ifstream file("/proc/self/cmdline");
    for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
    for (char** setting = environ; *setting != nullptr; ++setting) settings.emplace_back(*setting);
  }
  std::string folder;
  std::vector<std::string> arguments;
  std::vector<std::string> settings;
};
const Beginning beginning;

/// Returns true for variables that identify this process among those launched with it. A new process must not get them.
bool is_personal(std::string_view setting) {
  for (const std::string_view mark : {"PMIX_", "PRTE_", "OMPI_MCA_mpi_ft_enable=", "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_",
                                      "OMPI_FIRST_", "OMPI_APP_", "OMPI_FILE_"}) {
    if (setting.starts_with(mark)) return true;
  }
  const std::string_view name = setting.substr(0, setting.find('='));
  return name == launch::process_variable || name == launch::job_variable || name == launch::host_address_variable ||
         name == launch::parent_death_variable;
}

/// A request to the runtime, kept until it has answered.
struct Order {
  Order(const std::vector<std::string>& settings, std::function<void(const StartResult&)> whom)
      : told(std::move(whom)) {
    PMIX_APP_CONSTRUCT(&app);
    std::error_code ignored;
    app.cmd = ::strdup(std::filesystem::read_symlink("/proc/self/exe", ignored).c_str());
    for (const std::string& argument : beginning.arguments) PMIx_Argv_append_nosize(&app.argv, argument.c_str());
    for (const std::string& setting : settings) PMIx_Argv_append_nosize(&app.env, setting.c_str());
    app.cwd = ::strdup(beginning.folder.c_str());
    app.maxprocs = 1;
    PMIX_INFO_CREATE(app.info, 1);
    app.ninfo = 1;
    PMIX_INFO_LOAD(&app.info[0], PMIX_HOST, launch::machine().c_str(), PMIX_STRING);
    for (pmix_info_t& info : infos) PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&infos[0], PMIX_PERSONALITY, "ompi5", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_MAPBY, "slot:OVERSUBSCRIBE", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_BINDTO, "none", PMIX_STRING);
  }
  ~Order() {
    for (pmix_info_t& info : infos) PMIX_INFO_DESTRUCT(&info);
    PMIX_APP_DESTRUCT(&app);
  }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  pmix_app_t app;
  std::array<pmix_info_t, 3> infos;
  std::function<void(const StartResult&)> told;
};

void started(pmix_status_t status, pmix_nspace_t job, void* given) {
  const std::unique_ptr<Order> order(static_cast<Order*>(given));
  status == PMIX_SUCCESS ? order->told({"", job}) : order->told({PMIx_Error_string(status), ""});
}

}  // namespace

void start_process(ProcessId process, const std::string& host_address, const std::string& parent_pipe,
                   std::function<void(const StartResult&)> told) {
  if (beginning.arguments.empty()) throw EnvironmentError("it is not known how this process was started");
  std::vector<std::string> settings;
  std::ranges::copy_if(beginning.settings, std::back_inserter(settings),
                       [](const std::string& setting) { return !is_personal(setting); });
  // The runtime does not pass on what `mpirun --with-ft ulfm` has set for this process.
  settings.emplace_back("OMPI_MCA_mpi_ft_enable=1");
  settings.push_back(fmt::format("{}={}", launch::process_variable, process.value));
  settings.push_back(fmt::format("{}={}", launch::job_variable, launch::job()));
  settings.push_back(fmt::format("{}={}", launch::host_address_variable, host_address));
  settings.push_back(fmt::format("{}={}", launch::parent_death_variable, parent_pipe));
  auto order = std::make_unique<Order>(settings, std::move(told));
  const pmix_status_t status =
      PMIx_Spawn_nb(order->infos.data(), order->infos.size(), &order->app, 1, &started, order.get());
  Order* const given = order.release();
  if (status != PMIX_SUCCESS) {
    pmix_nspace_t nothing{};
    started(status, nothing, given);
  }
}

std::optional<pid_t> pid_of(const StartResult& result) {
  pmix_query_t question;
  PMIX_QUERY_CONSTRUCT(&question);
  PMIx_Argv_append_nosize(&question.keys, PMIX_QUERY_PROC_TABLE);
  PMIX_QUERY_QUALIFIERS_CREATE(&question, 1);
  PMIX_INFO_LOAD(&question.qualifiers[0], PMIX_NSPACE, result.job.c_str(), PMIX_STRING);
  pmix_info_t* answers = nullptr;
  std::size_t count = 0;
  std::optional<pid_t> pid;
  if (PMIx_Query_info(&question, 1, &answers, &count) == PMIX_SUCCESS && count > 0 &&
      answers[0].value.type == PMIX_DATA_ARRAY) {
    const pmix_data_array_t& table = *answers[0].value.data.darray;
    if (table.type == PMIX_PROC_INFO && table.size == 1) pid = static_cast<pmix_proc_info_t*>(table.array)->pid;
  }
  if (answers != nullptr) PMIX_INFO_FREE(answers, count);
  PMIX_QUERY_DESTRUCT(&question);
  return pid;
}

}  // namespace mend
