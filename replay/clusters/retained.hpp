// Copies of the messages within a cluster. They are not a log: no rank that rolls back needs them. But when a process
// of another cluster dies, messages under way are lost with the communicator, and are sent again from these copies. So
// a copy is kept until its receiver acknowledges it, or until the next commit.
//
// Pure: no MPI, no clock.

#pragma once

#include "replay/channel.hpp"
#include "replay/log_memory.hpp"
#include "replay/message_log.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <span>
#include <vector>

namespace mend::replay {

class Retained {
 public:
  /// Memory is returned in pieces of `piece` bytes.
  explicit Retained(std::size_t piece) : piece_(piece) {}

  /// Returns memory for a copy. keep() keeps the copy; otherwise the next drop_all() frees the memory.
  std::span<std::byte> take(std::size_t size);
  /// Records that the copy, in memory from take(), is message `number` of `channel`, counted from 0.
  void keep(const Channel& channel, std::uint64_t number, std::span<const std::byte> copy);
  /// Records that the first `count` messages of the channel were received.
  void received(const Channel& channel, std::uint64_t count);
  /// Returns true if no copy is kept.
  bool empty() const { return entries_.empty(); }
  /// Records that all messages were received.
  void drop_all(InUse in_use = {});
  /// Reuses the memory of copies that are not kept any more, but for the pieces in use.
  void reuse(InUse in_use);
  /// Returns the messages that are kept for `peer`, in the order in which they were sent.
  std::vector<Resent> of(int peer) const;
  /// Returns how many bytes of memory the copies take, also those that are not kept any more. An empty one takes some
  /// too.
  std::size_t bytes() const;

 private:
  struct Piece {
    LogMemory memory;
    std::size_t kept = 0;
  };
  struct Entry {
    std::uint64_t number;
    std::uint64_t order;
    std::span<const std::byte> bytes;
    Piece* piece;
  };

  std::size_t piece_;
  std::list<Piece> pieces_;  // entries point to them
  Piece* current_ = nullptr;
  std::map<Channel, std::deque<Entry>> entries_;
  std::uint64_t order_ = 0;
};

}  // namespace mend::replay
