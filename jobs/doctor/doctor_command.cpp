// mend doctor: checks whether this machine has what fault tolerance needs.

#include "base/error.hpp"
#include "base/files/scratch_folder.hpp"
#include "framework/option_file.hpp"
#include "framework/options.hpp"
#include "jobs/commands.hpp"
#include "jobs/doctor/checks.hpp"
#include "jobs/doctor/held_signals.hpp"
#include "jobs/option_files.hpp"
#include "jobs/run/find_mpirun.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace mend::jobs {
namespace {

struct DoctorArguments {
  DoctorOptions options;
  std::vector<std::string> only;
  bool json = false;
};

struct Check {
  const char* name;
  std::function<Findings(const DoctorOptions&)> look;
};

const std::array checks{Check{"mpi", check_mpi},
                        Check{"corrections", check_corrections},
                        Check{"recovery", check_recovery},
                        Check{"spawn", check_spawn},
                        Check{"hdf5", check_disk},
                        Check{"kokkos", check_kokkos},
                        Check{"limits", check_limits},
                        Check{"network", [](const DoctorOptions&) { return check_network(); }},
                        Check{"clock", [](const DoctorOptions&) { return check_clock(); }},
                        Check{"scheduler", [](const DoctorOptions&) { return check_scheduler(); }}};

std::string names_of_checks(const char* separator) {
  std::string names;
  for (const Check& check : checks) names += fmt::format("{}{}", names.empty() ? "" : separator, check.name);
  return names;
}

void check_names(const std::vector<std::string>& only) {
  for (const std::string& name : only) {
    const bool known =
        std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.name == name; });
    if (!known) throw UsageError(fmt::format("'{}' is not a check: the checks are {}", name, names_of_checks(", ")));
  }
}

bool is_wanted(const DoctorArguments& arguments, std::string_view check) {
  return arguments.only.empty() || std::ranges::find(arguments.only, check) != arguments.only.end();
}

/// The environment of the throw-away jobs. What the user has set for other jobs does not count in them, and they write
/// none of its files. Networks do count, because they belong to the machine: those in files of options are copied.
class EnvironmentOfChecks {
 public:
  EnvironmentOfChecks() {
    const std::optional<std::string> users = value_of("MEND_CONFIG");
    const std::string sites = value_of("MEND_SITE_CONFIG").value_or(usual_site_file);
    for (const std::string& variable : option_variables())
      if (variable != "MEND_NETWORK") ::unsetenv(variable.c_str());
    ::setenv("MEND_SITE_CONFIG", "none", 1);
    if (users) copy_networks("--mend-config", *users, "MEND_CONFIG");
    if (is_site_file(sites)) copy_networks("--mend-site-config", sites, "MEND_SITE_CONFIG");
  }

 private:
  static std::optional<std::string> value_of(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
  }

  void copy_networks(const std::string& said, const std::string& file, const char* variable) {
    if (!folder_) folder_.emplace("mend-doctor");
    const std::filesystem::path copy = folder_->path() / fmt::format("{}.toml", variable);
    std::ofstream out(copy);
    for (const auto& [table, name] :
         {std::pair(OptionTable::programs, "mend"), std::pair(OptionTable::launcher, "mend.run")}) {
      for (const CLI::ConfigItem& item : options_in_file(said, file, table))
        if (item.name == "network") out << fmt::format("[{}]\nnetwork = \"{}\"\n", name, fmt::join(item.inputs, ","));
    }
    ::setenv(variable, copy.c_str(), 1);
  }

  std::optional<ScratchFolder> folder_;
};

int examine(DoctorArguments& arguments) {
  check_names(arguments.only);
  DoctorOptions& options = arguments.options;
  if (options.reproduce && !is_wanted(arguments, "corrections"))
    throw UsageError("--reproduce belongs to the check 'corrections', which --only leaves out");
  options.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  have_home();
  try {
    options.mpirun = find_mpirun();
  } catch (const EnvironmentError&) {
    // check_mpi reports it.
  } catch (const UsageError& wrong) {
    options.wrong_mpirun = wrong.what();
  }
  const HeldSignals held;
  const EnvironmentOfChecks environment;
  const bool colour = ::isatty(STDOUT_FILENO) == 1;
  Findings findings;
  for (const Check& check : checks) {
    if (!is_wanted(arguments, check.name)) continue;
    for (Finding& finding : check.look(options)) {
      if (!arguments.json) std::fputs(text_of(finding, colour).c_str(), stdout);
      findings.push_back(std::move(finding));
    }
    std::fflush(stdout);
    if (const auto signal = HeldSignals::come()) throw Interrupted{*signal};
  }
  if (arguments.json) std::fputs(json_of(findings).c_str(), stdout);
  return exit_code_of(findings);
}

/// Ends this process by the signal that has interrupted examine().
int examine_or_die(DoctorArguments& arguments) {
  try {
    return examine(arguments);
  } catch (const Interrupted& interrupted) {
    return ::raise(interrupted.signal);
  }
}

/// CLI::Range lets NaN pass.
const CLI::Validator is_milliseconds(
    [](const std::string& text) {
      double number = 0;
      const bool fits = CLI::detail::lexical_cast(text, number) && number >= 1 && number <= 86'400'000;
      return fits ? std::string() : "give a number of milliseconds from 1 to 86400000, not '" + text + "'";
    },
    "1 - 86400000");

}  // namespace

void add_doctor_command(CLI::App& mend, Action& chosen) {
  auto arguments = std::make_shared<DoctorArguments>();
  DoctorOptions& options = arguments->options;
  auto* doctor = mend.add_subcommand("doctor", "Try what fault tolerance stands on, on this machine");
  doctor->footer(
      "A line for each thing that is looked at: pass, warn or fail; why; and what to type. Small jobs are launched,\n"
      "of up to 4 processes, and one of them is killed.\n\n"
      "mend's corrections to Open MPI are looked for. With --reproduce, those that are missing are tried instead:\n"
      "small programs run against Open MPI, and show which of the defects it has. If none is missing, all are\n"
      "tried. That takes a few minutes.\n\n"
      "Exits with 0 when all pass; with 1 when there are warnings; with 2 when something fails, or for wrong\n"
      "arguments.");
  doctor->add_option("--processes", options.processes, "That a job shall have on this machine")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  doctor->add_option("--heartbeat", options.heartbeat_ms, "As in --mend-heartbeat, in ms")
      ->envname("MEND_HEARTBEAT")
      ->check(is_milliseconds)
      ->capture_default_str();
  doctor->add_option("--timeout", options.timeout_ms, "As in --mend-timeout, in ms")
      ->envname("MEND_TIMEOUT")
      ->check(is_milliseconds)
      ->capture_default_str();
  doctor->add_option("--only", arguments->only, "Look at these alone")
      ->delimiter(',')
      ->type_name("{" + names_of_checks(",") + "},...");
  doctor->add_flag("--reproduce", options.reproduce, "Try mend's corrections to Open MPI, instead of looking for them");
  doctor->add_flag("--json", arguments->json, "Print what was found as JSON");
  doctor->callback([doctor, arguments, &chosen] {
    refuse_wrong_variables(*doctor);  // before a file takes their place
    take_options_of_programs(*doctor, {"heartbeat", "timeout"});
    chosen = [arguments] { return examine_or_die(*arguments); };
  });
}

}  // namespace mend::jobs
