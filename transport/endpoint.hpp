// How the protocols talk.
//
// A protocol core (an agreement, a detector) knows nothing of networks: it says "send these bytes to that process"
// and is told "these bytes came from that process" or "that process is dead". An Endpoint is one process's end of
// whatever carries this: MPI point-to-point, sockets, or a simulated network. What the bytes mean is not its
// business.
//
// What a core may rely on, whichever endpoint it has:
//   - messages between two living processes arrive once, whole, and in the order they were sent;
//   - send() never blocks, whoever has died;
//   - a process reported dead is dead for good: nothing of it arrives afterwards, and sends to it vanish;
//   - every process that dies is reported to every living process that goes on polling.

#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace mend::transport {

/// A message has arrived. `bytes` is valid until the next poll() of the same endpoint.
struct Arrival {
  ProcessId from;
  std::span<const std::byte> bytes;
};

/// A process is dead.
struct Death {
  ProcessId process;
};

using Event = std::variant<Arrival, Death>;

/// One process's end of a network of processes. Used by one thread.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  virtual ProcessId self() const = 0;

  /// Sends `bytes` to `to`, without blocking; they are copied before this returns. To a dead process: nothing
  /// happens. Throws UsageError for a process this endpoint does not reach, or for more than max_message bytes.
  virtual void send(ProcessId to, std::span<const std::byte> bytes) = 0;

  /// The next thing that has happened, if any; never blocks.
  virtual std::optional<Event> poll() = 0;
};

/// The longest message an endpoint carries: control messages are small, bulk data goes another way.
inline constexpr ByteCount max_message = 64 * 1024;

}  // namespace mend::transport
