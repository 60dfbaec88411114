#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <span>

namespace mend {

/// Data of this size does not stay in the caches.
inline constexpr ByteCount beyond_caches = ByteCount{1} << 20;

/// Copies bytes past the caches: unlike with plain stores, the destination is not read before it is overwritten. The
/// spans must not overlap. For large data whose copy is not read again soon. If the processor has no such instructions,
/// it copies plainly.
void copy_past_caches(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace mend
