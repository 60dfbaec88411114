#include "base/log.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>

namespace mend::log {
namespace {

// What spdlog calls a level is not shown.
constexpr auto debug_level = spdlog::level::trace;
constexpr auto info_level = spdlog::level::debug;
constexpr auto notice_level = spdlog::level::info;

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

void set_level(std::string_view level) {
  using Entry = std::pair<std::string_view, spdlog::level::level_enum>;
  static constexpr std::array<Entry, 6> levels{{{"debug", debug_level},
                                                {"info", info_level},
                                                {"notice", notice_level},
                                                {"warn", spdlog::level::warn},
                                                {"error", spdlog::level::err},
                                                {"off", spdlog::level::off}}};
  for (const auto& [name, value] : levels) {
    if (name == level) return logger().set_level(value);
  }
  throw UsageError(fmt::format("'{}' is not a log level: use debug, info, notice, warn, error or off", level));
}

void set_speaker(ProcessId self) { logger().set_pattern(fmt::format("mend[{}] %H:%M:%S.%f: %v", self.value)); }

void debug(std::string_view text) { logger().log(debug_level, text); }
void info(std::string_view text) { logger().log(info_level, text); }
void notice(std::string_view text) { logger().log(notice_level, "note: {}", text); }
void warn(std::string_view text) { logger().warn(text); }
void error(std::string_view text) { logger().error(text); }

bool debugging() { return logger().should_log(debug_level); }

}  // namespace mend::log
