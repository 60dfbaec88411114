#include "base/telemetry/trace.hpp"

#include "base/launch.hpp"
#include "base/telemetry/json_text.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/microseconds.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace mend::trace {
namespace detail {
std::atomic<bool> on = false;
std::atomic<bool> messages = false;
}  // namespace detail

namespace {

using nlohmann::json;

struct Recorder {
  std::mutex mutex;
  std::filesystem::path file;
  ProcessId self;
  int descriptor = -1;
  bool complete = true;
  std::mutex pending_mutex;  // held only briefly, unlike the other mutex
  std::string pending;

  /// A part of an event would spoil all that are written after it.
  void write(const std::string& text) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written == static_cast<ssize_t>(text.size())) return;
    complete = false;
    if (written <= 0) return;
    const off_t before = ::lseek(descriptor, -written, SEEK_CUR);
    [[maybe_unused]] const int cut = ::ftruncate(descriptor, before);
  }
};

Recorder& recorder() {
  static Recorder instance;
  return instance;
}

void note_event(json event, const Notes& notes) {
  for (const auto& [name, value] : notes) event["args"][std::string(name)] = value;
  Recorder& r = recorder();
  const std::lock_guard lock(r.pending_mutex);
  event["cat"] = "mend";
  event["pid"] = r.self.value;
  event["tid"] = 0;
  r.pending += ",\n" + json_text(event);
}

std::string take_pending() {
  Recorder& r = recorder();
  const std::lock_guard lock(r.pending_mutex);
  return std::exchange(r.pending, {});
}

void write_pending() {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  if (is_on()) r.write(take_pending());
}

json instant_now(std::string_view name) {
  return {{"name", name}, {"ph", "i"}, {"s", "p"}, {"ts", in_microseconds(WallClock::now()).count()}};
}

}  // namespace

void start(const std::filesystem::path& file, ProcessId self, bool messages) {
  stop();
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  r.file = file;
  {
    const std::lock_guard also(r.pending_mutex);
    r.self = self;
    r.pending.clear();
  }
  r.descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  r.complete = true;
  const json name{{"name", "process_name"},
                  {"ph", "M"},
                  {"pid", self.value},
                  {"args", {{"name", fmt::format("process {}", self.value)}, {"launch", launch::number()}}}};
  r.write(fmt::format("{}{}", begin_of_file, json_text(name)));
  detail::on = true;
  detail::messages = messages;
}

void stop() {
  Recorder& r = recorder();
  const std::lock_guard lock(r.mutex);
  if (!is_on()) return;
  detail::on = detail::messages = false;
  r.write(take_pending() + "\n]}\n");
  r.complete = ::close(r.descriptor) == 0 && r.complete;
  if (!r.complete) log::warn(fmt::format("cannot write the trace to {}", r.file.string()));
}

void detail::record_span(std::string_view name, WallClock::time_point begin, WallClock::time_point end,
                         const Notes& notes) {
  const auto start_us = in_microseconds(begin).count();
  const auto duration_us =
      std::max<std::int64_t>(in_microseconds(end).count() - start_us, 0);  // clocks may be set back
  note_event({{"name", name}, {"ph", "X"}, {"ts", start_us}, {"dur", duration_us}}, notes);
  write_pending();
}

void detail::record_instant(std::string_view name, const Notes& notes) {
  record_instant_later(name, notes);
  write_pending();
}

void detail::record_instant_later(std::string_view name, const Notes& notes) { note_event(instant_now(name), notes); }

}  // namespace mend::trace
