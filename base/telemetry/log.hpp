// What mend says to people: on standard error, one line per event, with who says it.

#pragma once

#include "base/ids.hpp"
#include "base/log_level.hpp"

#include <string>
#include <string_view>

namespace mend::log {

/// Chooses which lines are written; notice and above by default. Local.
void set_level(LogLevel level);

/// Has every later line say which process speaks. Local.
void set_speaker(ProcessId self);

void debug(std::string_view text);
void info(std::string_view text);
/// What happens to the job and needs nobody's help: "note: ...".
void notice(std::string_view text);
void warn(std::string_view text);
void error(std::string_view text);

/// Whether debug lines are wanted; ask before composing a dear one.
bool debugging();

}  // namespace mend::log
