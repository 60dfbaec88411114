// A tracer for timelines: what each process did, when, for how long.
//
// Off, a span costs one branch. On, spans are kept in memory and written at exit in the Chrome trace event format,
// which chrome://tracing and Perfetto open; one file per process, merged by loading them together (the process
// number is the `pid` of every event, times are wall-clock microseconds).

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace mend::trace {

/// Starts recording in this process. `file` is written by stop(). Local.
void start(const std::filesystem::path& file, ProcessId self);

/// Writes what was recorded and stops. A file that cannot be written costs a warning. Without a start, does nothing.
/// Local.
void stop();

namespace detail {
extern bool on;
void record_span(std::string_view name, WallClock::time_point begin, WallClock::time_point end);
void record_instant(std::string_view name);
}  // namespace detail

inline bool is_on() { return detail::on; }

/// Marks a moment.
inline void instant(std::string_view name) {
  if (detail::on) [[unlikely]] {
    detail::record_instant(name);
  }
}

/// Records a time that has passed.
inline void record(std::string_view name, WallClock::time_point begin, WallClock::time_point end) {
  if (detail::on) [[unlikely]] {
    detail::record_span(name, begin, end);
  }
}

/// Records the time from its construction to its destruction. `name` must outlive it (a literal).
class Span {
 public:
  explicit Span(std::string_view name) : name_(name) {
    if (detail::on) [[unlikely]] {
      begin_ = WallClock::now();
    }
  }
  ~Span() {
    if (detail::on && begin_ != WallClock::time_point{}) [[unlikely]] {
      detail::record_span(name_, begin_, WallClock::now());
    }
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  std::string_view name_;
  WallClock::time_point begin_{};
};

}  // namespace mend::trace
