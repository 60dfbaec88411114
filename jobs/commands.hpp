// The subcommands of `mend`, one file each: jobs/NAME_command.cpp.

#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace mend::jobs {

/// Runs a subcommand after its arguments are parsed. Returns the exit code.
using Action = std::function<int()>;

/// Each function adds its subcommand to `mend`. When the user names it, `chosen` is set. `after_dashes`: the words
/// after the first "--", which the parser does not see. It and `chosen` must outlive the parsing. The action throws
/// UsageError for invalid arguments.
/// This subcommand is called by mpirun in a Slurm allocation, and is not for users.
void add_slurm_agent_command(CLI::App& mend, Action& chosen);
void add_run_command(CLI::App& mend, const std::vector<std::string>& after_dashes, Action& chosen);
/// mend status, mend commit and mend stop, which communicate with the mend run of a job.
void add_control_commands(CLI::App& mend, Action& chosen);
void add_report_command(CLI::App& mend, Action& chosen);
void add_plan_command(CLI::App& mend, Action& chosen);
void add_doctor_command(CLI::App& mend, Action& chosen);
void add_script_command(CLI::App& mend, const std::vector<std::string>& after_dashes, Action& chosen);
void add_simulate_command(CLI::App& mend, Action& chosen);
/// mend completion and mend man, which describe the subcommands added so far.
void add_manual_commands(CLI::App& mend, Action& chosen);

}  // namespace mend::jobs
