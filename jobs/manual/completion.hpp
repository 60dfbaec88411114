// Completions for shells, generated from the command line's own description: commands, options, and the words that
// options take.

#pragma once

#include "jobs/manual/description.hpp"

#include <string>

namespace mend::jobs {

/// A script that completes `mend`, its commands, and after a program's name the options of mend that it takes
/// (`of_programs`, --mend-...). Pure.
std::string bash_completion(const Description& mend, const Description& of_programs);
std::string zsh_completion(const Description& mend, const Description& of_programs);

}  // namespace mend::jobs
