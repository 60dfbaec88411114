#pragma once

#include "agreement/message.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mend::agreement {

/// Returns the size of `message` on the wire: 12 bytes for a bare one, 20 with a value of one word, 36 with a range of
/// agreements returned from as well. Sets take 8 bytes a run.
ByteCount wire_size(const Message& message);

/// Appends `message` to `bytes`. Sender and receiver must have the same byte order.
void write(const Message& message, std::vector<std::byte>& bytes);

/// Reads a message that was sent in a group of `members` members with `operations` operations. Throws EnvironmentError
/// for bytes that write() cannot have made there, so the message names members of the group only.
Message read(std::span<const std::byte> bytes, std::uint32_t members,
             std::size_t operations = static_cast<std::size_t>(Operation::first_user));

}  // namespace mend::agreement
