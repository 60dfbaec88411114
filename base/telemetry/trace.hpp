// A tracer for timelines: the events of each process, with their times.
//
// Switched off, a span costs one branch. Switched on, each event is written at once, by one system call, so that the
// file of a process that is killed holds its events until then. The format is Chrome's trace events, which Perfetto
// opens. There is one file per process (the process number is the `pid` of every event, times are wall-clock
// microseconds); a job that was launched anew has one for each launch, which says its number. `mend report` makes a
// page of all files of a job, or one file for Perfetto. The events are:
//
//   event              is a     with                    meaning
//   epoch              moment   epoch, rank, processes  an epoch has begun; without a rank, the process is a spare;
//                                                       the first one has the number of processes, spares included
//   commit             span     version                 the process has made its part of a version
//                               version, bytes          it has voted on that version, and the version is complete
//   restore            span     version                 it has restored its data from this version
//   disk               span                             it writes a version to disk
//   recovery           span     epoch                   from the body to the body, or to waiting as a spare
//   interrupt, agree,  spans    epoch                   the phases of the recovery
//   rebuild
//   step               moment                           commit_due() was asked, with local rollback
//   rollback           moment   epoch, stays, back,     under local rollback, a recovery has ended: the process stays
//                               version, kept, logged,  and keeps what it has computed since that version (so many
//                               resent, resent_bytes    steps), or goes back with its cluster; bytes in its log; what
//                                                       it sends again
//   logged             moment   bytes, retained         under local rollback, it has begun a commit: bytes in its log,
//                                                       and in the copies that it keeps for its cluster
//   clusters           moment   count, logged_permille, under local rollback, the clusters that were chosen by traffic:
//                               back_permille           the share of bytes that is logged, and of ranks that go back
//                                                       when one dies
//   silent, dead       moments  process                 it has found that process silent; it knows that it is dead
//   message            moment   from or to, of          a message of the agreement (0) or of the detector (1)
//   finished           moment                           the job has ended in this process

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace mend::trace {

/// The beginning of each file.
inline constexpr std::string_view begin_of_file = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";

/// A number attached to an event. The name is a literal.
using Note = std::pair<std::string_view, std::int64_t>;
using Notes = std::vector<Note>;

/// Starts recording in this process, into `file`. Messages of agreements and detection are recorded only if `messages`.
/// Local.
void start(const std::filesystem::path& file, ProcessId self, bool messages = false);

/// Ends the recording. Prints a warning if the file could not be written. Does nothing without a start. Local.
void stop();

namespace detail {
extern std::atomic<bool> on;
extern std::atomic<bool> messages;
void record_span(std::string_view name, WallClock::time_point begin, WallClock::time_point end, const Notes& notes);
void record_instant(std::string_view name, const Notes& notes);
void record_instant_later(std::string_view name, const Notes& notes);
}  // namespace detail

inline bool is_on() { return detail::on.load(std::memory_order_relaxed); }

/// Marks a moment.
inline void instant(std::string_view name, std::initializer_list<Note> notes = {}) {
  if (is_on()) [[unlikely]] {
    detail::record_instant(name, notes);
  }
}

inline void instant(std::string_view name, const Notes& notes) {
  if (is_on()) [[unlikely]] {
    detail::record_instant(name, notes);
  }
}

/// The same in a thread that must not wait for a disk. Written with the next event that another thread marks, or at the
/// end.
inline void instant_later(std::string_view name, std::initializer_list<Note> notes = {}) {
  if (is_on()) [[unlikely]] {
    detail::record_instant_later(name, notes);
  }
}

/// The protocol that a message belongs to.
enum class Of { agreement, detector };

/// Marks that a message goes to another process, or has arrived from one, if messages are recorded. Written later.
inline void message_to(ProcessId to, Of of) {
  if (detail::messages.load(std::memory_order_relaxed)) [[unlikely]] {
    instant_later("message", {{"to", to.value}, {"of", static_cast<std::int64_t>(of)}});
  }
}
inline void message_from(ProcessId from, Of of) {
  if (detail::messages.load(std::memory_order_relaxed)) [[unlikely]] {
    instant_later("message", {{"from", from.value}, {"of", static_cast<std::int64_t>(of)}});
  }
}

/// Records a time span that has passed.
inline void record(std::string_view name, WallClock::time_point begin, WallClock::time_point end,
                   std::initializer_list<Note> notes = {}) {
  if (is_on()) [[unlikely]] {
    detail::record_span(name, begin, end, notes);
  }
}

/// Records the time from its construction to its destruction. `name` must outlive the span (a literal).
class Span {
 public:
  explicit Span(std::string_view name) : name_(name) {
    if (is_on()) [[unlikely]] {
      begin_ = WallClock::now();
    }
  }
  ~Span() {
    if (is_on() && begin_ != WallClock::time_point{}) [[unlikely]] {
      detail::record_span(name_, begin_, WallClock::now(), notes_);
    }
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  void note(std::string_view name, std::uint64_t value) {
    if (is_on()) [[unlikely]] {
      notes_.emplace_back(name, static_cast<std::int64_t>(value));
    }
  }

 private:
  std::string_view name_;
  WallClock::time_point begin_{};
  Notes notes_;
};

}  // namespace mend::trace
