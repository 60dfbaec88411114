#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mend {

/// Returns the 64-bit XXH3 hash of the bytes, computed with the widest vector instructions of the processor.
std::uint64_t hash_of(std::span<const std::byte> bytes);

}  // namespace mend
