// The inquiry: makes sure that a silent process is dead.
//
// Silence proves nothing: a cut network looks the same from both sides. So when a process of another machine has been
// silent for half of delta, its observer asks all processes (INQUIRY), and has the other half to receive the answers:
//
//   - If any message of the silent process arrives, no process is dead.
//   - If more than half of all processes answer, and the silent one does not, it is declared dead when delta is over.
//     Two sides of a cut network cannot both have more than half. Exactly half is enough for the side with the lowest
//     process. Processes that are certain to be dead, because the runtime or the kernel has reported it, do not count.
//     Processes that were declared dead because they are silent or stuck count until all have agreed on that and
//     entered the next epoch.
//   - If too few have answered delta after that, this process is cut off. It must stop; the others continue without it
//     if they are more than half.
//
// After a cut, the messages of different processes do not arrive at the same time. So a quarter of delta must pass
// after enough answers have arrived before a process is declared dead; or the time in which connections are made anew
// (an eighth of delta, and eta), if that is longer.
//
// When a machine is lost, all its processes fall silent at once. If one process is declared dead, all processes of its
// machine that have not answered within delta are declared dead too. So a lost machine is known after one and a half
// delta, however many processes ran there.
//
// Every process that receives an inquiry answers it, unless it considers the asker dead. A process that has answered,
// and learns within delta neither of the death nor of a WITHDRAWAL, asks as well: not to judge the silent process,
// which it has not observed, but to learn whether it is cut off itself. So all processes that are cut off together find
// that out together. A process asks about one other at a time.
//
// Any two majorities have a member in common. That member may answer two processes that ask about each other; if both
// are then declared dead, the one that learns this from a lower number ends (detector/ring.hpp).

#pragma once

#include "detector/broadcast.hpp"

#include <optional>
#include <vector>

namespace mend::detector {

class Inquiry {
 public:
  explicit Inquiry(ProcessId self) : self_(self) {}

  /// Begins an epoch and drops earlier inquiries. `nodes`: the machine of each process.
  void begin(const Membership& membership, const std::vector<NodeId>& nodes);

  /// Returns the process about which this one is asking, as its observer.
  std::optional<ProcessId> about() const;
  /// Asks all processes that are not in `dead` about `silent`. Not to be called during an inquiry of this process.
  void open(ProcessId silent, const ProcessSet& dead, Time now, Actions& actions);
  /// Delta is over for the process that this one is asking about.
  void suspect(Time now);

  /// This process could not run for a long time. Asks all processes not in `dead`, so that a process that considers it
  /// dead reports that.
  void ask_after_itself(const ProcessSet& dead, Actions& actions) const;

  /// A message came from `process`.
  void heard(ProcessId process, const ProcessSet& dead, Actions& actions);
  /// Takes an inquiry, an answer or a withdrawal from `from`, which was not declared dead.
  void receive(ProcessId from, const Message& message, Time delta, Time now, Actions& actions);

  /// Returns the processes to declare dead now. `dead`: those declared dead before; `certain`: those that are dead for
  /// certain. Sets actions.cut_off if this process is cut off.
  ProcessSet conclude(const ProcessSet& dead, const ProcessSet& certain, const Timing& timing, Time now,
                      Actions& actions);

  /// The time that this process was kept from running does not count.
  void be_patient(Time late);

  Time next_deadline(const Timing& timing) const;

 private:
  struct Open {
    ProcessId silent;
    ProcessId observer;  // may be this process
    Time begun;
    Time suspected;       // the time since which it is suspected
    ProcessSet answered;  // includes this process
    Time enough;          // the time since which enough processes have answered
    bool judged = false;
  };
  /// The inquiry of another process, until it is settled.
  struct Followed {
    ProcessId silent;
    ProcessId observer;
    Time until;
  };

  void ask(ProcessId silent, ProcessId observer, const ProcessSet& dead, Time now, Time suspected, Actions& actions);
  void tell_all(Message::Kind kind, ProcessId source, ProcessId silent, const ProcessSet& dead, Actions& actions) const;
  ProcessSet silent_machine() const;
  Time verdict(const Timing& timing) const;
  Time end(const Timing& timing) const;
  bool is_quorum(const ProcessSet& present, const ProcessSet& gone) const;

  ProcessId self_;
  Membership membership_;
  std::vector<NodeId> nodes_;
  std::optional<Open> open_;
  std::optional<Followed> followed_;
};

}  // namespace mend::detector
