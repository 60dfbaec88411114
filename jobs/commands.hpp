// The subcommands of `mend`, one file each: jobs/NAME_command.cpp.

#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace mend::jobs {

/// What a subcommand does once its arguments are parsed; returns the exit code.
using Action = std::function<int()>;

/// Each adds its subcommand to `mend` and has `chosen` set when the user names it. `after_dashes` is what stood after
/// the first "--", which the parser never sees; it and `chosen` must outlive the parsing. The action throws UsageError
/// for arguments that make no sense.
void add_run_command(CLI::App& mend, const std::vector<std::string>& after_dashes, Action& chosen);
/// mend status, mend commit and mend stop, which talk to the mend run of a job.
void add_control_commands(CLI::App& mend, Action& chosen);
void add_report_command(CLI::App& mend, Action& chosen);
void add_plan_command(CLI::App& mend, Action& chosen);
void add_doctor_command(CLI::App& mend, Action& chosen);
void add_script_command(CLI::App& mend, const std::vector<std::string>& after_dashes, Action& chosen);
void add_simulate_command(CLI::App& mend, Action& chosen);
/// mend completion and mend man, which describe what was added.
void add_manual_commands(CLI::App& mend, Action& chosen);

}  // namespace mend::jobs
