#include "base/place.hpp"

#include <atomic>

namespace mend {
namespace {

constexpr int place_bits = 8;
constexpr int no_rank = -1;

std::atomic<std::uint64_t> note{0};  // the place, and above it the microseconds
std::atomic<int> rank_now{no_rank};

Place place_in(std::uint64_t word) { return static_cast<Place>(word & ((1U << place_bits) - 1)); }

void write_down(Place place) {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
  note.store(static_cast<std::uint64_t>(now.count()) << place_bits | static_cast<std::uint64_t>(place),
             std::memory_order_relaxed);
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
  }
  return "?";
}

CurrentPlace current_place() {
  const std::uint64_t word = note.load(std::memory_order_relaxed);
  const int rank = rank_now.load(std::memory_order_relaxed);
  return {place_in(word), std::chrono::microseconds(word >> place_bits),
          rank == no_rank ? std::nullopt : std::optional(Rank{rank})};
}

void note_rank(std::optional<Rank> rank) { rank_now.store(rank ? rank->value : no_rank, std::memory_order_relaxed); }

AtPlace::AtPlace(Place place) : is_outermost_(place_in(note.load(std::memory_order_relaxed)) == Place::none) {
  if (is_outermost_) write_down(place);
}

AtPlace::~AtPlace() {
  if (is_outermost_) write_down(Place::none);
}

}  // namespace mend
