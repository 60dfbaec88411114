#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mend {

/// The least importance of the lines that mend writes (--mend-log). Each level includes the levels below it in this
/// list.
enum class LogLevel : std::uint8_t {
  debug,
  info,
  notice,  ///< events of the job that need no action: deaths, recoveries, versions on disk
  warn,
  error,
  off,
};

/// Returns the level named "debug", "info", "notice", "warn", "error" or "off". Throws UsageError for any other word.
/// Local.
LogLevel parse_log_level(std::string_view text);
/// Returns the name as parse_log_level takes it. Local.
std::string to_string(LogLevel level);

}  // namespace mend
