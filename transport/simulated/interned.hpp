// The local states of processes and the messages of an exploration, each stored once and numbered.

#pragma once

#include "transport/simulated/fingerprint.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace mend::transport {

/// Node: see Explorable and TimedExplorable.
template <class Node>
class Interned {
 public:
  using Message = typename Node::Message;

  /// Returns the number of this local state of `process`; a new number if the state was not known.
  std::uint32_t number_of(std::size_t process, const Node& node) {
    Fingerprint print;
    print.add(process);
    node.add_to(print);
    const auto [at, fresh] = node_numbers_.emplace(print, static_cast<std::uint32_t>(nodes_.size()));
    if (fresh) nodes_.push_back(node);
    return at->second;
  }

  /// Returns the number of a message; a new number if the message was not known. Throws std::length_error if no numbers
  /// are left.
  std::uint16_t number_of(const Message& message) {
    Fingerprint print;
    Node::add_to_print(print, message);
    const auto [at, fresh] = message_numbers_.emplace(print, static_cast<std::uint16_t>(messages_.size()));
    if (fresh) {
      if (messages_.size() == 0xffff) throw std::length_error("too many different messages for the explorer");
      messages_.push_back(message);
    }
    return at->second;
  }

  const Node& node(std::uint32_t number) const { return nodes_[number]; }
  const Message& message(std::uint16_t number) const { return messages_[number]; }
  std::size_t nodes() const { return nodes_.size(); }

 private:
  std::vector<Node> nodes_;
  std::unordered_map<Fingerprint, std::uint32_t, FingerprintHash> node_numbers_;
  std::vector<Message> messages_;
  std::unordered_map<Fingerprint, std::uint16_t, FingerprintHash> message_numbers_;
};

}  // namespace mend::transport
