#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <span>

namespace mend {

/// Data of this size does not stay in the caches.
inline constexpr ByteCount beyond_caches = ByteCount{1} << 20;

/// Copies bytes past the caches: the destination is not read before it is overwritten, as a plain store does. The spans
/// must not overlap. For large data whose copy is not read again soon. Copies plainly if the processor has no such
/// instructions.
void copy_past_caches(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace mend
