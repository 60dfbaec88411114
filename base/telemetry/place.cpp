#include "base/telemetry/place.hpp"

#include "base/telemetry/activity.hpp"
#include "base/telemetry/job_board.hpp"
#include "base/telemetry/microseconds.hpp"
#include "base/telemetry/packed_word.hpp"

#include <atomic>

namespace mend {
namespace {

using PlaceAndTime = PackedWord<Place>;  // the time in microseconds
constexpr int no_rank = -1;

std::atomic<int> rank_now{no_rank};
std::atomic<std::int64_t> failure_met{0};  // in microseconds; 0: none

/// Holds a PlaceAndTime. mend run reads it too.
std::atomic<std::uint64_t>& note() { return board::mine().place; }

PlaceAndTime note_now() { return PlaceAndTime::from(note().load(std::memory_order_relaxed)); }

/// Returns true if `place` is where a process should be after it has met a failure.
bool has_come_to_recovery(Place place) {
  return place == Place::recovery || place == Place::finish || place == Place::end;
}

void write_down(Place place) {
  note_activity();
  const auto now = in_microseconds(Clock::now());
  note().store(PlaceAndTime{place, static_cast<std::uint64_t>(now.count())}.packed(), std::memory_order_relaxed);
}

}  // namespace

std::string_view describe(Place place) {
  switch (place) {
    case Place::none: return "in the body";
    case Place::commit: return "in commit()";
    case Place::restore: return "in restore()";
    case Place::agree: return "in agree()";
    case Place::commit_due: return "in commit_due()";
    case Place::split: return "in split()";
    case Place::dup: return "in dup()";
    case Place::cart: return "in cart()";
    case Place::derive: return "in derive()";
    case Place::finish: return "at the end of the body";
    case Place::recovery: return "in a recovery";
    case Place::end: return "at the end of the job";
    case Place::spare: return "waiting as a spare";
    case Place::interrupted: return "in the body, though it has met a failure";
  }
  return "?";
}

CurrentPlace current_place() {
  const PlaceAndTime word = note_now();
  const int rank = rank_now.load(std::memory_order_relaxed);
  CurrentPlace current{word.what, std::chrono::microseconds(word.number),
                       rank == no_rank ? std::nullopt : std::optional(Rank{rank})};
  const std::chrono::microseconds met{failure_met.load(std::memory_order_relaxed)};
  if (met.count() != 0 && current.rank && !has_come_to_recovery(current.place)) {
    current.place = Place::interrupted;
    current.since = met;
  }
  return current;
}

void note_failure() { failure_met.store(in_microseconds(Clock::now()).count(), std::memory_order_relaxed); }

void forget_failure() { failure_met.store(0, std::memory_order_relaxed); }

void note_rank(std::optional<Rank> rank) { rank_now.store(rank ? rank->value : no_rank, std::memory_order_relaxed); }

AtPlace::AtPlace(Place place) : is_outermost_(note_now().what == Place::none) {
  if (is_outermost_) write_down(place);
}

AtPlace::~AtPlace() {
  if (is_outermost_) write_down(Place::none);
}

}  // namespace mend
