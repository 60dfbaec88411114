#pragma once

#include "detector/message.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mend::detector {

/// Returns the size of `message` on the wire: 8 bytes; with a list of processes 12, and 8 for each run in it.
ByteCount wire_size(const Message& message);

/// Appends `message` to `bytes`. Sender and receiver must have the same byte order.
void write(const Message& message, std::vector<std::byte>& bytes);

/// Returns `message`, or several messages with the same meaning if its list is too long for one.
std::vector<Message> split(const Message& message);

/// Reads a message. Throws EnvironmentError for bytes that write() cannot have made.
Message read(std::span<const std::byte> bytes);

}  // namespace mend::detector
