// The collective call of mend that the application's thread is in, and since when. The control thread reads it to
// report ranks that wait for others (detector/stall/stall_watch.hpp).
//
// It is one atomic word, so that a call costs only two stores and two readings of the clock. Of nested calls, the
// outermost counts, because the application has called it.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mend {

/// The place of a process. The numbers are bytes on the wire.
enum class Place : std::uint8_t {
  none,        ///< in no call of mend: in the application's own code, or its own MPI calls
  commit,      ///< also commit_async, finish_commit and finish_disk
  restore,     ///< of every kind
  agree,       ///< Session::agree
  commit_due,  ///< when it measures
  split,
  dup,
  cart,
  derive,
  finish,       ///< the body has returned
  recovery,     ///< the body was left, or will be repaired, because of a failure
  end,          ///< the job will end because of an error of this process
  spare,        ///< it waits for a rank
  interrupted,  ///< it has met a failure, and has been in the body since then
};
inline constexpr Place last_place = Place::interrupted;

/// Returns the text for a process in `place`: "in commit()", "at the end of the body".
std::string_view describe(Place place);

struct CurrentPlace {
  Place place = Place::none;
  std::chrono::microseconds since{};  ///< on Clock
  std::optional<Rank> rank{};         ///< the rank that this process holds
};

/// Returns the place of the main thread. Any thread. Local.
CurrentPlace current_place();

/// Notes that this process holds `rank` from now on, as the application numbers it; or no rank. Main thread. Local.
void note_rank(std::optional<Rank> rank);

/// Notes that the application's thread has met a failure. It is interrupted until it reaches the recovery. Main thread.
/// Local.
void note_failure();
/// Notes the end of the recovery. Main thread. Local.
void forget_failure();

/// Marks the main thread as being in `place` during its lifetime, unless it is in another place already.
class AtPlace {
 public:
  explicit AtPlace(Place place);
  ~AtPlace();
  AtPlace(const AtPlace&) = delete;
  AtPlace& operator=(const AtPlace&) = delete;

 private:
  bool is_outermost_;
};

}  // namespace mend
