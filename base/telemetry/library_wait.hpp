// Records where mend itself waits in the MPI library: in agreements, when it makes communicators, in the exchange of a
// commit. The control thread reads it to find a process that the library has forgotten there
// (detector/stall/stuck_process.hpp).
//
// A turn is the position of a process in the sequence of agreements that all processes take part in:
//
//   stage                                 steps
//   0: the body of epoch 0                1: in its first ballot, 2: after it, 3: in the second ballot, ...
//   1: the recovery that ends epoch 0     1: in its first agreement, 2: after it, ...
//   2: the body of epoch 1                ...
//
// All members of an agreement reach it with the same turn, so the process with the lowest turn of a job is behind the
// others.

#pragma once

#include "base/ids.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace mend {

struct Turn {
  std::uint32_t stage = 0;
  std::uint32_t step = 0;

  /// Returns true if the process has begun an agreement and has not received its result.
  bool is_in_agreement() const { return step % 2 == 1; }
  auto operator<=>(const Turn&) const = default;
};

struct LibraryWait {
  bool waits = false;
  std::chrono::milliseconds allowance{};  ///< time that the wait may take although nothing is wrong
  Turn turn;
};

/// Returns the wait of the main thread. Any thread. Local.
LibraryWait current_library_wait();

/// Returns how often the library has looked for messages while the main thread waited. Any thread. Local.
std::uint64_t library_rounds();
/// Counts one look of the library for messages. Main thread. Local.
void note_library_round();

/// Begins the body of `epoch`, or the recovery that ends it. Main thread. Local.
void begin_body_turns(Epoch epoch);
void begin_recovery_turns(Epoch epoch);
/// Begins that recovery at this step, for a process that comes in the middle of it. Main thread. Local.
void join_recovery_turns(Epoch epoch, std::uint32_t step);

/// Marks the main thread as waiting in the library during its lifetime.
class InLibrary {
 public:
  enum class Step { other, agreement };

  explicit InLibrary(Step step = Step::other, std::chrono::milliseconds allowance = {});
  ~InLibrary();
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;

  /// Returns the time that a message of this size may take on a slow network that is shared by many.
  static std::chrono::milliseconds time_for(std::size_t bytes);

 private:
  Step step_;
  std::int64_t before_;
};

}  // namespace mend
