// What detectors say to each other, and what goes out of a core.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"
#include "transport/fingerprint.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace mend::detector {

/// Moments, as time since one that the owner of a core chooses, for itself alone: no two processes compare theirs.
using Time = std::chrono::nanoseconds;

struct Message {
  enum class Kind : std::uint8_t {
    heartbeat,     ///< I live; from an emitter to its observer
    new_observer,  ///< I observe you from now on
    deaths,        ///< these are dead; pass it on (BCASTMSG of the paper)
    fence,         ///< you are held dead: stop
  };

  Kind kind = Kind::heartbeat;
  Epoch epoch;
  // Of `deaths` alone.
  ProcessId source;  ///< who began the broadcast
  ProcessSet dead;   ///< whom `source` knew to be dead when it did, beyond those the epoch began without

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
  std::vector<Send> sends;  ///< in this order: those that matter most come first
  ProcessSet died;          ///< newly known to be dead
  bool fenced = false;      ///< others hold this process dead: it must stop and touch nothing any more

  void clear() {
    sends.clear();
    died.clear();
    fenced = false;
  }
};

}  // namespace mend::detector
