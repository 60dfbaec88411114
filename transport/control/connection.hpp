// A line between two processes of a job, one of which has come to the other's door: for a newcomer, before it is in any
// communicator or epoch.
//
// Messages arrive whole and in order, or the line ends; and the line ends as soon as the process at its other end is
// gone. So whoever waits at a line never waits for nobody.

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
  /// Calls at `door` and shows its key. Throws EnvironmentError when nobody is there.
  static std::unique_ptr<Connection> dial(const ControlAddress& door);
  /// The other side sees the end of the line.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Whether the other side is gone. What it has sent before can still be taken.
  bool ended() const;
  /// Has `listener` called when the line ends, in a thread of the line's, or at once if it has. An empty one stops
  /// that: when this returns, no call is under way.
  void on_end(std::function<void()> listener);

  /// Sends a message; to nobody when the line has ended.
  void send(std::span<const std::byte> message);
  /// Asks the other side for a sign of life: as long as that process runs, its line answers by itself. Any thread.
  /// Never blocks; does nothing while a message is being sent.
  void ask();
  /// When the other side was last heard of: it has called, sent a message, or answered.
  Clock::time_point heard() const;
  /// How the thread is called that answers.
  static constexpr const char* thread_name = "mend-line";

  /// The next message, if one has come. Never blocks.
  std::optional<std::vector<std::byte>> poll();
  /// The next message; nothing when the line ends before.
  std::optional<std::vector<std::byte>> wait();

 private:
  friend class Listener;
  class Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Where newcomers call. Nothing is done between calls of poll(): who comes then waits at the door.
class Listener {
 public:
  /// Listens at `host`, an address of this machine. Throws EnvironmentError when it cannot.
  explicit Listener(Ipv4 host);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const ControlAddress& address() const;

  /// A line to somebody who has come and shown the key, if there is one. Others are turned away. Never blocks.
  std::unique_ptr<Connection> poll();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "127.0.0.1:4321:KEY", and back. Throws UsageError for what is no such thing.
std::string to_string(const ControlAddress& address);
ControlAddress parse_address(std::string_view text);

}  // namespace mend::transport
