// The control network: small messages between processes over sockets, at any time, whatever MPI is doing.
//
// Each process listens at one door and connects to the doors of those it has something to say to, when it has. A
// connection carries one process's messages to another, and the receipts for them back:
//
//     connector                                   door
//         HELLO  who I am, whom I want, the door's key   -->
//                                       <--  WELCOME  the connector's own key, how many messages have come so far
//         MESSAGE n, MESSAGE n+1, ...   -->
//                                       <--  RECEIPT n+1
//
// A message is kept until its receipt has come, and sent again over a new connection when the old one breaks: between
// two living processes each arrives once and in order, whatever happens to connections. A pulse is less: it arrives at
// most once, and is not sent again.
//
// Strangers
// ---------
// Every process has drawn a random key for its own door and told it to the members of its job, over MPI. Who connects
// must show the key of the door; the door answers with the connector's. So neither talks to a stranger - not to one
// that has come to listen where a dead process did either, and whoever that is learns a key that opens nothing any
// more. What does not begin with the right HELLO is cut off and counted. Keys go over the wire as they are: this keeps
// out strangers, port scanners and other users of the machine, not somebody who reads the network's traffic.
//
// A broken connection is reported and proves nothing: networks cut connections. Whoever is told must find out.
//
// Used by one thread, but for post().

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "transport/control/interfaces.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace mend::transport {

/// Where a process listens, and what opens its door. Sent over MPI as it is.
struct ControlAddress {
  Ipv4 host;
  std::uint16_t port = 0;
  std::array<std::byte, 16> key{};
};

class ControlNetwork {
 public:
  /// What was refused or mended since the beginning.
  struct Counters {
    std::uint64_t strangers = 0;  ///< connections that showed no valid HELLO
    std::uint64_t garbage = 0;    ///< connections on which a member said what makes no sense
    std::uint64_t broken = 0;     ///< connections that were open and ended
    std::uint64_t sent = 0;       ///< messages and pulses, those sent again too
    std::uint64_t received = 0;   ///< messages and pulses
  };

  struct Listener {
    std::function<void(ProcessId from, std::span<const std::byte> bytes)> arrived;
    std::function<void(ProcessId peer)> broken;  ///< an open connection with `peer` has ended, or it has refused one
  };

  /// Listens at `host`, an address of this machine, at a port of the system's choice. A connection that takes longer
  /// than `patience` to come about, or on which the kernel has sent something in vain, is made anew by retry(): the
  /// kernel itself waits ever longer before it tries again. Throws EnvironmentError when it cannot listen.
  ControlNetwork(ProcessId self, Ipv4 host, Clock::duration patience, Listener listener);
  ~ControlNetwork();
  ControlNetwork(const ControlNetwork&) = delete;
  ControlNetwork& operator=(const ControlNetwork&) = delete;

  const ControlAddress& address() const;

  /// Where the others are; nobody else can be reached, or is let in. Nobody is let in before.
  void meet(std::map<ProcessId, ControlAddress> peers);

  /// The longest message that it carries: a list of the dead of a very large job.
  static constexpr ByteCount longest_message = 1024 * 1024;

  /// Sends a message, without blocking. Throws UsageError for more than longest_message bytes, or to one not met.
  void send(ProcessId to, std::span<const std::byte> bytes);
  /// Sends a pulse, without blocking; the last one takes the place of one that could not go out yet.
  void pulse(ProcessId to, std::span<const std::byte> bytes);
  /// Connects anew where that is wanted. To be called now and then.
  void retry();
  /// `peer` is held dead: drops what waits for it, and its connections. Should it live, it may connect again.
  void drop(ProcessId peer);

  /// Waits until something has come, or for `deadline`, and deals with it.
  void run_one_until(Clock::time_point deadline);
  /// Deals with all that has come already; never blocks.
  void drain();
  /// Has `work` done in run_one_until() or drain(). May be called by any thread.
  void post(std::function<void()> work);

  const Counters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mend::transport
