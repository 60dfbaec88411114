// Runs a StallWatch in the control thread: gives it the time, the place of this process and the messages of the others,
// and carries out its actions.

#pragma once

#include "base/telemetry/activity.hpp"
#include "detector/stall/own_stack.hpp"
#include "detector/stall/stall_watch.hpp"

#include <functional>
#include <span>

namespace mend::detector {

class StallTeller {
 public:
  struct Owner {
    std::function<void(ProcessId to, std::span<const std::byte> bytes)> send;
    std::function<void()> hold_nobody_dead;                       ///< from now on, because a debugger stops processes
    std::function<void(ProcessId process, Time held)> hold_dead;  ///< declares a process dead that is stuck in MPI
  };

  StallTeller(ProcessId self, const StallLimits& limits, Owner owner);

  void enter(const ProcessSet& members) { watch_.enter(members); }
  void died(const ProcessSet& gone) { watch_.died(gone); }
  /// Throws EnvironmentError for invalid bytes.
  void arrived(ProcessId from, std::span<const std::byte> bytes, Time now);
  void tick(Time now);
  Time next_deadline() const { return watch_.next_deadline(); }

 private:
  Whereabouts whereabouts(Time now);
  void look(const Activity& activity, Time now);
  bool polls_now(Time now);
  bool is_polling() const;
  void perform();
  void say_stack(Time now);
  [[noreturn]] void leave() const;

  ProcessId self_;
  Owner owner_;
  StallWatch watch_;
  StallActions actions_;
  OwnStack stack_;
  bool takes_stack_ = false;
  std::uint64_t moves_ = ~std::uint64_t{0};  // of the application's thread, as of the last look
  Time moved_at_{0};
  Time looked_at_{0};
  Time still_{0};  // time without a move in which this thread could run
  std::uint64_t rounds_ = 0;
  Time silent_{0};  // the same without a round of the library
  std::uint64_t polls_ = 0;
  Time polled_at_{0};  // when a poll was seen last
  Time polled_{0};     // the part of still_ in which the thread polled, and did not compute
  Time computed_{0};   // time without a move since the last look that saw it poll
};

}  // namespace mend::detector
