// The communication of the protocols.
//
// A protocol core (an agreement, a detector) does not know the network. It sends bytes to a process, receives bytes
// with the process that sent them, and receives reports of deaths. An Endpoint is one process's end of the network that
// carries this: MPI point-to-point, sockets, or a simulated network. It does not interpret the bytes.
//
// A core may rely on the following with any endpoint:
//   - messages between two living processes arrive once, whole, and in the order in which they were sent;
//   - send() never blocks, even if processes have died;
//   - a process reported dead stays dead: none of its messages arrives afterwards, and messages to it are dropped;
//   - every death is reported to every living process that continues to poll.

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

/// A process has died.
struct Death {
  ProcessId process;
};

using Event = std::variant<Arrival, Death>;

/// One process's end of a network of processes. Used by one thread.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  virtual ProcessId self() const = 0;

  /// Sends `bytes` to `to`, without blocking. The bytes are copied before this returns. Does nothing if `to` is dead.
  /// Throws UsageError for a process that this endpoint does not reach, or for more than max_message bytes.
  virtual void send(ProcessId to, std::span<const std::byte> bytes) = 0;

  /// Returns the next event, if there is any. Never blocks.
  virtual std::optional<Event> poll() = 0;
};

/// The size limit of a message. Control messages are small; bulk data is sent in another way.
inline constexpr ByteCount max_message = ByteCount{64} * 1024;

}  // namespace mend::transport
