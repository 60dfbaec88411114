#include "base/telemetry/trace.hpp"

#include "base/telemetry/log.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <mutex>
#include <vector>

namespace mend::trace {
namespace detail {
bool on = false;
}

namespace {

struct Event {
  std::string name;
  std::int64_t begin_us;
  std::int64_t duration_us;  // negative: an instant
};

struct Recorder {
  std::mutex mutex;
  std::filesystem::path file;
  ProcessId self;
  std::vector<Event> events;
};

Recorder& recorder() {
  static Recorder instance;
  return instance;
}

std::int64_t microseconds(WallClock::time_point moment) {
  return std::chrono::duration_cast<std::chrono::microseconds>(moment.time_since_epoch()).count();
}

nlohmann::json to_json(const Event& event, ProcessId self) {
  nlohmann::json json{{"name", event.name}, {"cat", "mend"}, {"pid", self.value}, {"tid", 0}, {"ts", event.begin_us}};
  if (event.duration_us < 0) {
    json["ph"] = "i";
    json["s"] = "p";
  } else {
    json["ph"] = "X";
    json["dur"] = event.duration_us;
  }
  return json;
}

}  // namespace

void start(const std::filesystem::path& file, ProcessId self) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  r.file = file;
  r.self = self;
  r.events.clear();
  detail::on = true;
}

void stop() {
  if (!detail::on) return;
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  detail::on = false;
  nlohmann::json events = nlohmann::json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", r.self.value},
                    {"args", {{"name", fmt::format("process {}", r.self.value)}}}});
  for (const Event& event : r.events) events.push_back(to_json(event, r.self));
  std::ofstream out(r.file);
  out << nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump() << '\n';
  out.close();
  if (!out) log::warn(fmt::format("cannot write the trace to {}", r.file.string()));
}

void detail::record_span(std::string_view name, WallClock::time_point begin, WallClock::time_point end) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  const auto start_us = microseconds(begin);
  r.events.push_back({std::string(name), start_us, microseconds(end) - start_us});
}

void detail::record_instant(std::string_view name) {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  r.events.push_back({std::string(name), microseconds(WallClock::now()), -1});
}

}  // namespace mend::trace
