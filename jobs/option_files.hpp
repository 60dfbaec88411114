// What the files of options have for mend's commands: for mend run, the table [mend.run] of the user's file and of the
// site's.

#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace mend::jobs {

/// Gives `command` the options that files set and that neither its command line nor the environment has set: first
/// those of the user's file, which MEND_CONFIG or the --mend-config of the `program` names, then those of the site's
/// (MEND_SITE_CONFIG, --mend-site-config, /etc/mend.toml). Left out are an option that excludes one that is set, and
/// one that would override what the user has set for the program. Call it after parsing. Local. Throws CLI::ParseError
/// for a file that cannot be read, an option that `command` does not have or that belongs to one job (not
/// configurable), and a wrong value; the message names the file.
void take_options_from_files(CLI::App& command, const std::vector<std::string>& program);

/// Returns true if the user has set this option for the `program`, such as "on-term": by its variable, or in the user's
/// file.
/// Local. Throws CLI::ParseError if the file cannot be read.
bool is_set_for_program(const std::string& name, const std::vector<std::string>& program);

/// Gives `command`, which takes the options `names` as programs do, those of them that files set for programs and that
/// neither its command line nor the environment has set. Local. Throws CLI::ParseError for a file that cannot be read,
/// and a wrong value; the message names the file.
void take_options_of_programs(CLI::App& command, const std::vector<std::string>& names);

}  // namespace mend::jobs
