// The traces of a job (--mend-trace): a file for each process in Chrome's trace event format, as
// base/telemetry/trace.hpp writes it. The file of a process that was killed has no end.

#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mend::jobs {

struct TraceEvent {
  std::string name;
  std::uint32_t process = 0;
  std::int64_t begin_us = 0;  ///< wall clock
  std::int64_t length_us = 0;
  nlohmann::json notes;  ///< numbers by name; null when there are none

  std::int64_t end_us() const { return begin_us + length_us; }
  std::optional<std::int64_t> note(const char* which) const;
};

/// Returns true if `path` is a folder, or a file that begins as a trace does. Local.
bool is_trace(const std::filesystem::path& path);

/// The events of a trace file, or of all process-*.json in a folder, as they are written. Local. Throws UsageError when
/// there are none, or a file is no trace.
nlohmann::json read_trace(const std::filesystem::path& path);

/// Of `text`, what a whole trace file has, or one that breaks off anywhere. Discarded when it is neither.
nlohmann::json events_in(const std::string& text);

/// What the events say, in the order of their beginnings; what is no event of mend is left out.
std::vector<TraceEvent> parsed(const nlohmann::json& events);

}  // namespace mend::jobs
