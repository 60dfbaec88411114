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
  std::int64_t begin_us = 0;  ///< wall-clock time
  std::int64_t length_us = 0;
  nlohmann::json notes{};          ///< numbers by name; null if there are none
  int launch = 1;                  ///< of the job
  std::int64_t epochs_before = 0;  ///< in the launches before that; included in the numbers of epochs

  std::int64_t end_us() const { return begin_us + length_us; }
  std::optional<std::int64_t> note(const char* which) const;
};

/// The process and the launch that a trace file belongs to.
struct TraceFile {
  std::uint32_t process = 0;
  int launch = 1;
};
/// Returns the description of a file from its first event; nothing for all other events.
std::optional<TraceFile> file_named_by(const nlohmann::json& event);

/// Returns true if `path` is a folder, or a file that begins like a trace. Local.
bool is_trace(const std::filesystem::path& path);

/// The raw events of a trace file, or of all process-*.json in a folder. For an empty file in a folder, returns the
/// first event that it should have. Local. Throws UsageError if there are none, or if a file is not a trace.
nlohmann::json read_trace(const std::filesystem::path& path);

/// The events in the text of a complete trace file, or of one that ends anywhere. Discarded if it is neither. Throws
/// UsageError, which names `file`, if it is nested too deep.
nlohmann::json events_in(const std::string& text, const std::string& file);

/// Joins the launches of a job that was launched anew (mend run --relaunch). The numbers of processes and epochs of
/// each launch continue those of the launch before it, so that they are unique in the job.
nlohmann::json joined_launches(nlohmann::json events);

/// The events of mend, ordered by beginning. Other events are left out.
std::vector<TraceEvent> parsed(const nlohmann::json& events);

}  // namespace mend::jobs
