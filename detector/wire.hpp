#pragma once

#include "detector/message.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mend::detector {

/// How many bytes `message` takes on the wire: 8; one with a list of processes 12, and 8 for each run in it.
ByteCount wire_size(const Message& message);

/// Appends `message` to `bytes`. Between machines of one byte order.
void write(const Message& message, std::vector<std::byte>& bytes);

/// `message`, or, when its list is longer than one message can be, several that bring the receiver the same together.
std::vector<Message> split(const Message& message);

/// Reads a message back. Throws EnvironmentError for bytes that write() has not made.
Message read(std::span<const std::byte> bytes);

}  // namespace mend::detector
