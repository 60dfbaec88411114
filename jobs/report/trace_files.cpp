#include "jobs/report/trace_files.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace mend::jobs {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw UsageError(fmt::format("the trace {} cannot be read", file.string()));
  return text;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    if (file.filename().string().starts_with("process-") && file.extension() == ".json") files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

json parse(const std::string& text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

json read_file(const fs::path& file) {
  const std::string content = content_of(file);
  if (content.empty()) return json::array();  // killed before it wrote anything
  json events = events_in(content);
  if (events.is_discarded()) throw UsageError(fmt::format("{} is not a trace: it has no trace events", file.string()));
  return events;
}

/// Returns true if the field is an integer, or if it may be missing and is.
bool has_integer(const json& event, const char* key, bool may_miss = false) {
  const auto field = event.find(key);
  return field == event.end() ? may_miss : field->is_number_integer();
}

bool is_event(const json& event) {
  return event.is_object() && event.contains("name") && event["name"].is_string() && has_integer(event, "pid") &&
         has_integer(event, "ts") && has_integer(event, "dur", /*may_miss=*/true);
}

}  // namespace

std::optional<std::int64_t> TraceEvent::note(const char* which) const {
  if (!notes.is_object()) return std::nullopt;
  const auto found = notes.find(which);
  if (found == notes.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool is_trace(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return true;
  std::ifstream in(path);
  std::string beginning(512, '\0');
  in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning.find("\"traceEvents\"") != std::string::npos;
}

json events_in(const std::string& text) {
  const std::string whole_events = text.substr(0, text.find_last_not_of(", \n") + 1);
  const std::string whole_lines = text.substr(0, text.rfind(",\n"));
  json document = parse(text);
  for (const std::string& mended : {text + "}", whole_events + "]}", whole_lines + "]}"})
    if (document.is_discarded()) document = parse(mended);
  if (!document.is_object() || !document.contains("traceEvents") || !document.at("traceEvents").is_array())
    return json(json::value_t::discarded);
  return document.at("traceEvents");
}

json read_trace(const fs::path& path) {
  if (!fs::is_directory(path)) return read_file(path);
  json events = json::array();
  for (const fs::path& file : files_in(path)) {
    for (json& event : read_file(file)) events.push_back(std::move(event));
  }
  if (events.empty()) throw UsageError(fmt::format("{} has no traces: no process-*.json", path.string()));
  return events;
}

std::vector<TraceEvent> parsed(const json& events) {
  std::vector<TraceEvent> found;
  found.reserve(events.size());
  for (const json& event : events) {
    if (!is_event(event)) continue;
    found.push_back({event.at("name").get<std::string>(), event.at("pid").get<std::uint32_t>(),
                     event.at("ts").get<std::int64_t>(), event.value("dur", std::int64_t{0}),
                     event.value("args", json())});
  }
  std::ranges::stable_sort(found, {}, &TraceEvent::begin_us);
  return found;
}

}  // namespace mend::jobs
