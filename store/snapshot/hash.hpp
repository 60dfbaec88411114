#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mend {

/// XXH3 of the bytes, 64 bits, by the widest vector instructions that the processor has.
std::uint64_t hash_of(std::span<const std::byte> bytes);

}  // namespace mend
