// Man pages and shell completions, generated from the command line's own description, so that they agree with --help.

#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace mend::jobs {

/// The man page (section 1) of `mend` or of one of its subcommands, in roff. `name`: "mend", or "mend-run". Pure.
std::string man_page(const CLI::App& app, const std::string& name, const std::string& version);

/// A script that completes the subcommands of `mend` and their options. Pure.
std::string bash_completion(const CLI::App& mend);
std::string zsh_completion(const CLI::App& mend);

}  // namespace mend::jobs
