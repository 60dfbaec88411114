// Files of options (TOML): the user's, which MEND_CONFIG or --mend-config names, and the site's, /etc/mend.toml. Their
// table [mend], or all that is outside of tables, has the options of programs; their table [mend.run] has those of
// `mend run`.

#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace mend {

/// The file in which a site sets options for all jobs, unless --mend-site-config names another.
inline constexpr const char* usual_site_file = "/etc/mend.toml";

/// Returns false if `file` stands for no file of the site: "none", or the usual one if it is not there. Local.
bool is_site_file(const std::string& file);

/// Whose options are read from a file.
enum class OptionTable {
  programs,  ///< those of a program
  launcher,  ///< those of mend run
};

/// Returns the options in one table of `file`. `said`: the option that names the file, for messages. Throws
/// CLI::ValidationError if the file cannot be read, is no TOML, has a table [mend.NAME] that is not known, or has
/// tables, but nothing for mend. Local.
std::vector<CLI::ConfigItem> options_in_file(const std::string& said, const std::string& file, OptionTable table);

}  // namespace mend
