#include "jobs/report/trace_files.hpp"

#include "base/error.hpp"
#include "base/telemetry/trace.hpp"
#include "jobs/report/shallow_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

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
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    std::error_code ignored;
    const bool is_named_so = file.filename().string().starts_with("process-") && file.extension() == ".json";
    if (is_named_so && entry->is_regular_file(ignored)) files.push_back(file);
  }
  if (error) throw UsageError(fmt::format("the trace {} cannot be read", folder.string()));
  std::ranges::sort(files);
  return files;
}

/// Returns the integer in `field` of an object if it is from 0 to `most`, so that additions do not overflow.
std::optional<std::int64_t> small_integer(const json& object, const char* field, std::int64_t most = 1'000'000'000) {
  const auto found = object.is_object() ? object.find(field) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<std::int64_t>();
  return value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

/// Marks the events of a file whose first event says that they are of a later launch.
void mark_launch(json& events) {
  std::optional<std::int64_t> launch;
  for (const json& event : events) {
    if (event.is_object() && event.contains("args")) launch = small_integer(event["args"], "launch");
    if (launch) break;
  }
  if (launch.value_or(1) <= 1) return;
  for (json& event : events)
    if (event.is_object()) event["launch"] = *launch;
}

/// Returns the event with which the file should begin, from its name: process-3.json, process-3-launch-2.json.
json first_event_of(const fs::path& file) {
  unsigned process = 0;
  unsigned launch = 1;
  if (std::sscanf(file.filename().c_str(), "process-%9u-launch-%9u", &process, &launch) < 1) return json::array();
  return {{{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"launch", launch}}}}};
}

json read_file(const fs::path& file) {
  const std::string content = content_of(file);
  if (trace::begin_of_file.starts_with(content)) return first_event_of(file);  // killed before it wrote anything
  json events = events_in(content, file.string());
  if (events.is_discarded()) throw UsageError(fmt::format("{} is not a trace: it has no trace events", file.string()));
  if (events.empty()) events = first_event_of(file);
  mark_launch(events);
  return events;
}

std::int64_t launch_of(const json& event) {
  return std::max<std::int64_t>(small_integer(event, "launch").value_or(1), 1);
}

/// The numbers of processes and epochs of a launch, from the highest numbers in its events.
struct Numbers {
  std::int64_t processes = 0;
  std::int64_t epochs = 0;

  static constexpr std::array process_notes{"process", "from", "to"};

  void include(const json& event) {
    const json notes = event.value("args", json());
    processes = std::max(processes, small_integer(notes, "processes").value_or(0));
    processes = std::max(processes, small_integer(event, "pid").value_or(-1) + 1);
    for (const char* note : process_notes) processes = std::max(processes, small_integer(notes, note).value_or(-1) + 1);
    epochs = std::max(epochs, small_integer(notes, "epoch").value_or(-1) + 1);
  }

  /// Adds these numbers to those of `event`.
  void add_to(json& event) const {
    const auto shift = [](json& object, const char* field, std::int64_t by) {
      if (const auto value = small_integer(object, field)) object[field] = *value + by;
    };
    shift(event, "pid", processes);
    event["epochs_before"] = epochs;
    if (!event.contains("args")) return;
    json& notes = event["args"];
    for (const char* note : process_notes) shift(notes, note, processes);
    shift(notes, "epoch", epochs);
  }
};

bool is_event(const json& event) {
  constexpr std::int64_t most_us = std::int64_t{1} << 53;  // 285 years; the page's numbers are exact up to there
  return event.is_object() && event.contains("name") && event["name"].is_string() && small_integer(event, "pid") &&
         small_integer(event, "ts", most_us) && (!event.contains("dur") || small_integer(event, "dur", most_us));
}

}  // namespace

std::optional<std::int64_t> TraceEvent::note(const char* which) const {
  if (!notes.is_object()) return std::nullopt;
  const auto found = notes.find(which);
  if (found == notes.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<TraceFile> file_named_by(const json& event) {
  if (!event.is_object() || !event.contains("name") || event["name"] != json("process_name")) return std::nullopt;
  const auto process = small_integer(event, "pid");
  const auto launch = small_integer(event.value("args", json()), "launch");
  if (!process) return std::nullopt;
  return TraceFile{static_cast<std::uint32_t>(*process), static_cast<int>(launch.value_or(1))};
}

bool is_trace(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return true;
  std::ifstream in(path);
  std::string beginning(512, '\0');
  in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning.find("\"traceEvents\"") != std::string::npos;
}

json events_in(const std::string& text, const std::string& file) {
  json document = parse_shallow(text, file);
  struct Mended {
    std::size_t kept;  // of the text
    const char* end;
  };
  for (const auto& [kept, end] : {Mended{text.size(), "}"}, Mended{text.find_last_not_of(", \n") + 1, "]}"},
                                  Mended{text.rfind(",\n"), "]}"},      // the last event is cut off
                                  Mended{text.find('[') + 1, "]}"}}) {  // the first one is
    if (!document.is_discarded()) break;
    document = parse_shallow(text.substr(0, kept) + end, file);
  }
  if (!document.is_object() || !document.contains("traceEvents") || !document.at("traceEvents").is_array())
    return json(json::value_t::discarded);
  return document.at("traceEvents");
}

json read_trace(const fs::path& path) {
  if (!fs::is_directory(path)) return read_file(path);
  const std::vector<fs::path> files = files_in(path);
  if (files.empty()) throw UsageError(fmt::format("{} has no traces: no process-*.json", path.string()));
  json events = json::array();
  for (const fs::path& file : files) {
    for (json& event : read_file(file)) events.push_back(std::move(event));
  }
  if (std::ranges::none_of(events, is_event)) {
    throw UsageError(fmt::format(
        "the traces in {} are empty: the processes were killed before they wrote anything, or the disk was full",
        path.string()));
  }
  return events;
}

json joined_launches(json events) {
  std::map<std::int64_t, Numbers> used;
  for (const json& event : events)
    if (event.is_object()) used[launch_of(event)].include(event);
  if (used.size() < 2) return events;
  Numbers before;
  for (Numbers& numbers : used | std::views::values) {
    const Numbers own = std::exchange(numbers, before);
    before.processes += own.processes;
    before.epochs += own.epochs;
  }
  for (json& event : events)
    if (event.is_object()) used.at(launch_of(event)).add_to(event);
  return events;
}

std::vector<TraceEvent> parsed(const json& events) {
  std::vector<TraceEvent> found;
  found.reserve(events.size());
  for (const json& event : events) {
    if (!is_event(event)) continue;
    found.push_back({event.at("name").get<std::string>(), event.at("pid").get<std::uint32_t>(),
                     event.at("ts").get<std::int64_t>(), event.value("dur", std::int64_t{0}),
                     event.value("args", json()), static_cast<int>(launch_of(event)),
                     small_integer(event, "epochs_before").value_or(0)});
  }
  std::ranges::stable_sort(found, {}, &TraceEvent::begin_us);
  return found;
}

}  // namespace mend::jobs
