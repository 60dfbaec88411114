#pragma once

#include "agreement/message.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mend::agreement {

/// How many bytes `message` takes on the wire: 12 for a bare one, 20 with a value of one word, 36 with a range of
/// agreements returned from; sets take 8 bytes a run.
ByteCount wire_size(const Message& message);

/// Appends `message` to `bytes`. Between machines of one byte order.
void write(const Message& message, std::vector<std::byte>& bytes);

/// Reads a message back that was sent in a group of `members` members with this many operations. Throws
/// EnvironmentError for bytes that write() has not made there: what it returns names members of the group only.
Message read(std::span<const std::byte> bytes, std::uint32_t members,
             std::size_t operations = static_cast<std::size_t>(Operation::first_user));

}  // namespace mend::agreement
