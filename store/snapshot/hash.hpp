#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mend {

/// The XXH3 hash of the bytes, 64 bits, computed with the widest vector instructions of the processor.
std::uint64_t hash_of(std::span<const std::byte> bytes);

}  // namespace mend
