#include "store/snapshot/streaming_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mend {

#ifdef __SSE2__

void copy_past_caches(std::span<const std::byte> from, std::span<std::byte> to) {
  constexpr std::size_t line = 64;  // a line must be written completely, otherwise it is read first
  const auto past_line = reinterpret_cast<std::uintptr_t>(to.data()) % line;
  const std::size_t head = std::min(from.size(), past_line == 0 ? 0 : line - past_line);
  const std::size_t lines = (from.size() - head) / line;
  const std::size_t tail = head + lines * line;
  if (head > 0) std::memcpy(to.data(), from.data(), head);
  auto* target = reinterpret_cast<__m128i*>(to.data() + head);
  const auto* source = reinterpret_cast<const __m128i*>(from.data() + head);
  for (std::size_t i = 0; i < lines; ++i, target += 4, source += 4) {
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  _mm_sfence();  // these stores are not ordered with others, and other processes must see them before later stores
  if (from.size() > tail) std::memcpy(to.data() + tail, from.data() + tail, from.size() - tail);
}

#else

void copy_past_caches(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

#endif

}  // namespace mend
