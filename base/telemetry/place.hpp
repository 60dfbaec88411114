// Which of mend's collective calls the application's thread is in, and since when. The control thread reads it, to tell
// of ranks that wait for others (detector/stall/stall_watch.hpp).
//
// The note is one atomic word, so that a call costs no more than two stores and two looks at the clock. Of calls inside
// a call, the outermost counts: it is what the application has called.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mend {

/// The numbers are bytes on the wire.
enum class Place : std::uint8_t {
  none,        ///< in none of mend's calls: in the application's own code, or its own MPI calls
  commit,      ///< also commit_async, finish_commit and finish_disk
  restore,     ///< of every kind
  agree,       ///< Session::agree
  commit_due,  ///< when it measures
  split,
  dup,
  cart,
  derive,
  finish,       ///< the body has returned
  recovery,     ///< the body was left, or is to be repaired, because of a failure
  end,          ///< the job is to end because of an error here
  spare,        ///< waits for a rank
  interrupted,  ///< has met a failure, and is in the body since
};
inline constexpr Place last_place = Place::interrupted;

/// Where a process is that is in `place`: "in commit()", "at the end of the body".
std::string_view describe(Place place);

struct CurrentPlace {
  Place place = Place::none;
  std::chrono::microseconds since{};  ///< on Clock
  std::optional<Rank> rank{};         ///< that this process plays
};

/// Any thread. Local.
CurrentPlace current_place();

/// This process plays `rank` from now on, as the application numbers it; or none. Main thread. Local.
void note_rank(std::optional<Rank> rank);

/// The application's thread has met a failure: from now on it is on its way to a recovery, and interrupted until it has
/// come there. Main thread. Local.
void note_failure();
/// The recovery is over. Main thread. Local.
void forget_failure();

/// While it lives, the main thread is in `place`, unless it is in another already.
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
