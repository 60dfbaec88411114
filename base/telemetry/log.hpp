// The messages of mend to the user: on standard error, one line per event, with the process that reports it.

#pragma once

#include "base/ids.hpp"
#include "base/log_level.hpp"

#include <string>
#include <string_view>

namespace mend::log {

/// Selects which lines are written; by default, notice and above. Local.
void set_level(LogLevel level);

/// Puts the number of this process into every later line. Local.
void set_speaker(ProcessId self);

void debug(std::string_view text);
void info(std::string_view text);
/// Events of the job that need no action: "note: ...".
void notice(std::string_view text);
void warn(std::string_view text);
void error(std::string_view text);

/// Returns true if debug lines are written. Ask before composing an expensive one.
bool debugging();

}  // namespace mend::log
