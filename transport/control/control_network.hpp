// The control network: small messages between processes over sockets, independent of MPI.
//
// Each process has one listener, and connects to the listener of another process when it first has a message for it. A
// connection carries one process's messages to another, and the receipts for them back:
//
//     connector                                   listener
//         HELLO  own number, wanted number, listener's key   -->
//                                       <--  JOIN INFO  connector's own key, number of messages received so far
//         MESSAGE n, MESSAGE n+1, ...   -->
//                                       <--  RECEIPT n+1
//
// A message is kept until its receipt has arrived, and is sent again over a new connection if the old one breaks. So
// between two living processes each message arrives once and in order, even if connections break. A pulse arrives at
// most once, and is not sent again.
//
// Strangers
// ---------
// Every process draws a random key for its own listener and tells it to the members of its job, over MPI. A connector
// must send the key of the listener; the listener answers with the connector's key. So neither exchanges messages with
// a stranger, even if the stranger listens at the address of a dead process; the key that the stranger then learns is
// no longer in use. A connection that does not begin with the right HELLO is closed and counted. Keys are not
// encrypted: they keep out port scanners and other users of the machine, not a reader of the network's traffic.
//
// A broken connection is reported. It does not prove a death, because networks cut connections.
//
// All functions but post() are for one thread.

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

/// The address and the key of a process's listener. Sent over MPI as it is.
struct ControlAddress {
  Ipv4 host;
  std::uint16_t port = 0;
  std::array<std::byte, 16> key{};
};

class ControlNetwork {
 public:
  /// Counts of events since the beginning.
  struct Counters {
    std::uint64_t strangers = 0;  ///< connections that showed no valid HELLO
    std::uint64_t garbage = 0;    ///< connections on which a member sent an invalid message
    std::uint64_t broken = 0;     ///< connections that were open and ended
    std::uint64_t sent = 0;       ///< messages and pulses, including those sent again
    std::uint64_t received = 0;   ///< messages and pulses
  };

  struct Listener {
    std::function<void(ProcessId from, std::span<const std::byte> bytes)> arrived;
    std::function<void(ProcessId peer)> broken;  ///< an open connection with `peer` ended, or `peer` refused one
  };

  /// Listens at `host`, an address of this machine, at a port that the system chooses. retry() makes a connection anew
  /// if it takes longer than `patience` to be established, or if the kernel had to send something again: the kernel
  /// itself waits longer before each further try. Throws EnvironmentError if it cannot listen.
  ControlNetwork(ProcessId self, Ipv4 host, Clock::duration patience, Listener listener);
  ~ControlNetwork();
  ControlNetwork(const ControlNetwork&) = delete;
  ControlNetwork& operator=(const ControlNetwork&) = delete;

  const ControlAddress& address() const;

  /// Sets the addresses of the other processes. Only they can be reached, and only they can connect.
  void meet(std::map<ProcessId, ControlAddress> peers);

  /// The size limit of a message. A list of the dead of a very large job fits.
  static constexpr ByteCount longest_message = ByteCount{1024} * 1024;

  /// Sends a message, without blocking. Throws UsageError for more than longest_message bytes, or for an unknown
  /// process.
  void send(ProcessId to, std::span<const std::byte> bytes);
  /// Sends a pulse, without blocking. It replaces a pulse that has not been sent yet.
  void pulse(ProcessId to, std::span<const std::byte> bytes);
  /// Makes connections anew where necessary. To be called regularly.
  void retry();
  /// Call it when `peer` is declared dead. Drops its messages and connections. If it lives, it may connect again.
  void drop(ProcessId peer);

  /// Waits until something has arrived, or until `deadline`, and processes it.
  void run_one_until(Clock::time_point deadline);
  /// Processes all that has arrived. Never blocks.
  void drain();
  /// Returns false if something has closed the descriptors of this object, as a program does that closes all. Local.
  bool has_its_descriptors() const;
  /// Makes run_one_until() or drain() run `work`. Any thread.
  void post(std::function<void()> work);

  const Counters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mend::transport
