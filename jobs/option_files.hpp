// What the files of options have for mend run: the table [mend.run] of the user's file and of the site's.

#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace mend::jobs {

/// Gives `command` the options that files set and that neither its command line nor the environment has set: first
/// those of the user's file, which MEND_CONFIG or the --mend-config of the `program` names, then those of the site's
/// (MEND_SITE_CONFIG, --mend-site-config, /etc/mend.toml). An option that excludes one that is set is left out. Call it
/// after parsing. Local. Throws CLI::ParseError for a file that cannot be read, an option that `command` does not have
/// or that belongs to one job (not configurable), and a wrong value; the message names the file.
void take_options_from_files(CLI::App& command, const std::vector<std::string>& program);

}  // namespace mend::jobs
