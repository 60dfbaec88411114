#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mend {

/// How important a line has to be for mend to write it (--mend-log). Each level includes those below it in this list.
enum class LogLevel : std::uint8_t {
  debug,
  info,
  notice,  ///< what happens to the job and needs no action: deaths, recoveries, versions on disk
  warn,
  error,
  off,
};

/// "debug", "info", "notice", "warn", "error" or "off". Throws UsageError for any other word. Local.
LogLevel parse_log_level(std::string_view text);
/// As parse_log_level takes it. Local.
std::string to_string(LogLevel level);

}  // namespace mend
