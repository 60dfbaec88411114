#include "base/telemetry/log.hpp"

#include "base/error.hpp"
#include "base/telemetry/user_text.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>

namespace mend::log {
namespace {

// spdlog's own level names are not shown.
constexpr auto debug_level = spdlog::level::trace;
constexpr auto info_level = spdlog::level::debug;
constexpr auto notice_level = spdlog::level::info;

struct Entry {
  std::string_view name;
  LogLevel level;
  spdlog::level::level_enum shown;
};

constexpr std::array<Entry, 6> levels{{{"debug", LogLevel::debug, debug_level},
                                       {"info", LogLevel::info, info_level},
                                       {"notice", LogLevel::notice, notice_level},
                                       {"warn", LogLevel::warn, spdlog::level::warn},
                                       {"error", LogLevel::error, spdlog::level::err},
                                       {"off", LogLevel::off, spdlog::level::off}}};

const Entry& entry_of(LogLevel level) { return *std::ranges::find(levels, level, &Entry::level); }

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("mend", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("mend: %v");
    made.set_level(notice_level);
    return made;
  }();
  return instance;
}

}  // namespace

void set_level(LogLevel level) { logger().set_level(entry_of(level).shown); }

void set_speaker(ProcessId self) { logger().set_pattern(fmt::format("mend[{}] %H:%M:%S.%f: %v", self.value)); }

void debug(std::string_view text) { logger().log(debug_level, printable(text)); }
void info(std::string_view text) { logger().log(info_level, printable(text)); }
void notice(std::string_view text) { logger().log(notice_level, "note: {}", printable(text)); }
void warn(std::string_view text) { logger().warn(printable(text)); }
void error(std::string_view text) { logger().error(printable(text)); }

bool debugging() { return logger().should_log(debug_level); }

}  // namespace mend::log

namespace mend {

LogLevel parse_log_level(std::string_view text) {
  for (const log::Entry& entry : log::levels) {
    if (entry.name == text) return entry.level;
  }
  throw UsageError(fmt::format("'{}' is not a log level: use debug, info, notice, warn, error or off", text));
}

std::string to_string(LogLevel level) { return std::string(log::entry_of(level).name); }

}  // namespace mend
