// A connection between two processes of a job, made by one process to the listener of the other. Newcomers use it
// before they are in any communicator or epoch.
//
// Messages arrive whole and in order, or the connection ends. It also ends as soon as the process at the other end is
// gone. So a process that waits at a connection never waits for a dead one.

#pragma once

#include "base/clock.hpp"
#include "transport/control/control_network.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend::transport {

class Connection {
 public:
  /// Connects to the listener at `address`, and sends its key. Throws EnvironmentError if nothing listens
  /// there.
  static std::unique_ptr<Connection> dial(const ControlAddress& address);
  /// Ends the connection; the other side notices.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Returns true if the other side is gone. Messages that it has sent before can still be received.
  bool ended() const;
  /// Calls `listener` when the connection ends, in a thread of the connection, or at once if it has ended. An empty
  /// function removes the listener; no call of it is under way when this returns.
  void on_end(std::function<void()> listener);

  /// Sends a message. Does nothing if the connection has ended.
  void send(std::span<const std::byte> message);
  /// Asks the other side for a sign of life. While that process runs, its connection answers by itself. Does nothing
  /// while a message is being sent. Any thread. Never blocks.
  void ask();
  /// Returns when the other side last connected, sent a message, or answered.
  Clock::time_point heard() const;
  /// The name of the thread that answers questions.
  static constexpr const char* thread_name = "mend-connection";

  /// Returns the next message if one has arrived. Never blocks.
  std::optional<std::vector<std::byte>> poll();
  /// Waits for the next message. Returns nothing if the connection ends first.
  std::optional<std::vector<std::byte>> wait();

 private:
  friend class Listener;
  class Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The listener to which newcomers connect. A process that connects between two calls of poll() waits for the next one.
class Listener {
 public:
  /// Listens at `host`, an address of this machine. Throws EnvironmentError if it cannot.
  explicit Listener(Ipv4 host);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const ControlAddress& address() const;

  /// Returns a connection to a process that has sent the key, if there is one. Closes all others. Never blocks. Throws
  /// EnvironmentError if this process lacks something to accept a connection, such as a descriptor; the caller can be
  /// accepted later.
  std::unique_ptr<Connection> poll();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Convert an address to the text "127.0.0.1:4321:KEY" and back. Throw UsageError for any other text.
std::string to_string(const ControlAddress& address);
ControlAddress parse_address(std::string_view text);

}  // namespace mend::transport
