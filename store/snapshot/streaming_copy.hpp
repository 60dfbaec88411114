#pragma once

#include "base/ids.hpp"

#include <cstddef>
#include <span>

namespace mend {

/// What has so many bytes does not stay in the caches anyhow.
inline constexpr ByteCount beyond_caches = ByteCount{1} << 20;

/// Copies bytes, which may not overlap, past the caches: the memory that is overwritten is not read first, as a plain
/// store does. For a part of something large, whose copy is not read again soon. Where the processor cannot do that, a
/// plain copy.
void copy_past_caches(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace mend
