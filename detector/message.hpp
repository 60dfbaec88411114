// What detectors say to each other, and what goes out of a core.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "transport/simulated/fingerprint.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mend::detector {

/// Moments, as time since one that the owner of a core chooses, for itself alone: no two processes compare theirs.
using Time = std::chrono::nanoseconds;

/// A moment that does not come.
inline constexpr Time never = Time::max();

/// delta must be greater than eta plus the longest time that a message takes.
struct Timing {
  Time eta;    ///< between two heartbeats
  Time delta;  ///< without one, after which the emitter is suspected
};

struct Message {
  enum class Kind : std::uint8_t {
    heartbeat,     ///< I live; from an emitter to its observer
    new_observer,  ///< I observe you from now on
    deaths,        ///< these are dead; pass it on (BCASTMSG of the paper)
    fence,         ///< you are held dead: stop
    inquiry,       ///< these are silent: do you hear me?
    answer,        ///< to an inquiry: yes
    withdrawal,    ///< of an inquiry: they have been heard of
  };

  Kind kind = Kind::heartbeat;
  Epoch epoch;
  ProcessId source;  ///< of `deaths`: who began the broadcast
  /// Of `deaths`: the processes that `source` knew to be dead when it began the broadcast, beyond those that the epoch
  /// began without. Of `heartbeat`: those that the sender knows to be dead. Of `inquiry`, `answer` and `withdrawal`:
  /// the process that it is about.
  ProcessSet dead;

  bool operator==(const Message&) const = default;
};

/// "DEATHS({2}, from 3)", for transcripts.
std::string to_string(const Message& message);

void add_to(transport::Fingerprint& print, const ProcessSet& set);
void add_to(transport::Fingerprint& print, const Message& message);

/// What a core asks its owner to do.
struct Actions {
  struct Send {
    ProcessId to;
    Message message;
  };
  std::vector<Send> sends;  ///< in this order: the most important come first
  ProcessSet died;          ///< newly known to be dead
  ProcessSet suspected;     ///< silent for too long: the owner finds out, and tells the core as a witness
  ProcessSet found_silent;  ///< of those that died: by this process, which held them dead for their silence
  bool fenced = false;      ///< others hold this process dead: it must stop and touch nothing any more
  bool cut_off = false;     ///< this process hears too few of the others: it must stop likewise

  void clear() {
    sends.clear();
    died.clear();
    suspected.clear();
    found_silent.clear();
    fenced = cut_off = false;
  }
};

}  // namespace mend::detector
