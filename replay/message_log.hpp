// The interface of a log of messages. Logged messages can be sent again, and are recognised when they are.
// framework/local_rollback/messages/logged_messages.hpp sends and receives the messages, and reports each of them to
// the log. There are two implementations: sender_log.hpp keeps messages until the next commit of all ranks, and
// region_log.hpp keeps them for as many regions of the program as the program wants.

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

/// A message that differs from the one that was sent, or was reported as sent, before the failure.
struct Difference {
  Channel channel;
  /// The number of the message, from 1. If a content differs, it is that of this message or of one before it.
  std::uint64_t number = 0;
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
  /// Returns true if the receiver certainly needs the next message of any channel, so that it may be sent before
  /// begin_send().
  virtual bool needs_all() const { return false; }
  virtual Copy begin_send(const Channel& channel, std::size_t size) = 0;
  /// Records that the copy of begin_send() is filled. The message counts as sent.
  virtual void end_send(const Channel& channel, std::span<const std::byte> copy) = 0;
  /// Records that the next message of `channel` was received. `by_request`: true if the call can be repeated and
  /// then does not receive this message again.
  virtual void receive(const Channel& channel, std::span<const std::byte> bytes, bool by_request) = 0;
  /// Records that a probe has found the next message of `channel`: this rank may do something because of it before it
  /// is received.
  virtual void found(const Channel& /*channel*/) {}

  /// Returns the hash over several messages. `before`: the hash over all messages but the last. `content`: the hash of
  /// the last message. Pure.
  static std::uint64_t chained(std::uint64_t before, std::uint64_t content);
};

}  // namespace mend::replay
