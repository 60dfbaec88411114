// The interface of a log of messages, which can be sent again, and are recognised when they are. It is told of each by
// framework/local_rollback/messages/logged_messages.hpp, which sends and receives. Two keep such logs: sender_log.hpp,
// until the next commit of all ranks, and region_log.hpp, for as many regions of the program as it wants.

#pragma once

#include "replay/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mend::replay {

/// A message that is sent again. The bytes stay where they are for now.
struct Resent {
  Channel channel;
  std::span<const std::byte> bytes;
};

/// A message that is not what was sent, or is said to have been sent, before the failure.
struct Difference {
  Channel channel;
  std::uint64_t number = 0;  ///< of the message, from 1
  enum class What : std::uint8_t { content, more, fewer } what = What::content;
};

/// Returns 64 bits that depend on all bytes.
using Hash = std::uint64_t (*)(std::span<const std::byte>);

class MessageLog {
 public:
  virtual ~MessageLog() = default;

  /// Memory for a copy of a message of `size` bytes, and whether the receiver needs it.
  struct Copy {
    std::span<std::byte> bytes;
    bool needed = true;
  };
  virtual Copy begin_send(const Channel& channel, std::size_t size) = 0;
  /// The copy of begin_send() is filled: the message counts as sent.
  virtual void end_send(const Channel& channel, std::span<const std::byte> copy) = 0;
  /// The next message of `channel` was received: `by_request` if it was by a call that can be repeated, and then leaves
  /// this message alone.
  virtual void receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request) = 0;

  /// The hash over several messages, of that over those before the last and of that of the last. Pure.
  static std::uint64_t chained(std::uint64_t before, std::uint64_t content);
};

}  // namespace mend::replay
