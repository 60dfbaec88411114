// The messages of the failure detectors, and the actions of a core.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mend::detector {

/// Times, counted from a moment that the owner of a core chooses for itself. Times of different processes are not
/// comparable.
using Time = std::chrono::nanoseconds;

/// A time that is never reached.
inline constexpr Time never = Time::max();

/// delta must be greater than eta plus the longest time that a message takes.
struct Timing {
  Time eta;    ///< between two heartbeats
  Time delta;  ///< the silence after which the emitter is suspected
};

struct Message {
  enum class Kind : std::uint8_t {
    heartbeat,     ///< I live; from an emitter to its observer
    new_observer,  ///< I observe you from now on
    deaths,        ///< these are dead; pass it on (BCASTMSG of the paper)
    fence,         ///< you were declared dead: stop
    inquiry,       ///< these are silent: do you hear me?
    answer,        ///< to an inquiry: yes
    withdrawal,    ///< of an inquiry: the silent process has been heard of
  };

  Kind kind = Kind::heartbeat;
  Epoch epoch;
  ProcessId source;  ///< of `deaths`: the process that began the broadcast
  /// Of `deaths`: the members of the epoch that `source` knew to be dead when it began the broadcast. Of `heartbeat`:
  /// the members that the sender knows to be dead. Of `inquiry`, `answer` and `withdrawal`: the process that it is
  /// about.
  ProcessSet dead;

  bool operator==(const Message&) const = default;
};

/// "DEATHS({2}, from 3)", for transcripts.
std::string to_string(const Message& message);

void add_to(transport::Fingerprint& print, const ProcessSet& set);
void add_to(transport::Fingerprint& print, const Message& message);

/// The actions that a core asks of its owner.
struct Actions {
  struct Send {
    ProcessId to;
    Message message;
  };
  std::vector<Send> sends;  ///< in this order: the most important ones come first
  ProcessSet died;          ///< newly known to be dead
  ProcessSet suspected;     ///< silent for too long: the owner makes sure, and calls witness() of the core
  ProcessSet found_silent;  ///< the part of `died` that this process declared dead for their silence
  bool fenced = false;      ///< others have declared this process dead: it must stop and touch nothing any more
  bool cut_off = false;     ///< this process hears too few of the others: it must stop too

  void clear() {
    sends.clear();
    died.clear();
    suspected.clear();
    found_silent.clear();
    fenced = cut_off = false;
  }
};

}  // namespace mend::detector
