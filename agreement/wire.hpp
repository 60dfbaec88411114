#pragma once

#include "agreement/message.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace mend::agreement {

/// How many bytes `message` takes on the wire: 12 for a bare one, 20 with a value of one word, 36 with a range of
/// agreements returned from; sets take 8 bytes a run.
ByteCount wire_size(const Message& message);

/// Appends `message` to `bytes`. Between machines of one byte order.
void write(const Message& message, std::vector<std::byte>& bytes);

/// Reads a message back. Throws EnvironmentError for bytes that write() has not made.
Message read(std::span<const std::byte> bytes);

}  // namespace mend::agreement
