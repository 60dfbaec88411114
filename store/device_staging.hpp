// Copies data between device memory and host memory through pinned buffers.
// A device transfers pinned host memory directly. For pageable memory the driver makes an additional copy, during which
// nothing else proceeds. So there are two pinned buffers: while the device transfers one of them, the host copies the
// other. Memory that the host can access is not staged.

#pragma once

#include "base/ids.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace mend::detail {

#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using PinnedSpace = Kokkos::SharedHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using PinnedSpace = Kokkos::CudaHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

template <class Byte, class Space>
using BytesIn = Kokkos::View<Byte*, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// True if the host cannot access the memory space.
template <class Space>
inline constexpr bool is_out_of_reach = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

/// For use by one thread. In the tests, `Buffer` and `Device` may both be host memory.
template <class Device, class Buffer = PinnedSpace>
class Staging {
 public:
  explicit Staging(ByteCount bytes_of_buffer) : piece_(bytes_of_buffer) {
    for (auto& buffer : buffers_)
      buffer =
          Kokkos::View<std::byte*, Buffer>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "mend staging"), piece_);
  }

  /// Passes the bytes to `take` piece by piece, while the next piece is transferred. Waits for kernels that write to
  /// `from`, as any copy does.
  template <std::invocable<std::span<const std::byte>> Take>
  void to_host(const BytesIn<std::byte, Device>& from, Take&& take) {
    Kokkos::fence();
    const ByteCount whole = from.size();
    const auto begin = [&](ByteCount at) { copy(in_buffer(at, whole), part(from, at, whole)); };
    if (whole > 0) begin(0);
    for (ByteCount at = 0; at < whole; at += piece_) {
      queue_.fence();
      if (at + piece_ < whole) begin(at + piece_);
      take(std::span<const std::byte>(in_buffer(at, whole).data(), length(at, whole)));
    }
  }
  void to_host(const BytesIn<std::byte, Device>& from, std::span<std::byte> to) {
    to_host(from, [to](std::span<const std::byte> piece) mutable {
      std::memcpy(to.data(), piece.data(), piece.size());
      to = to.subspan(piece.size());
    });
  }

  /// Calls `fill` to write the bytes piece by piece, while the previous piece is transferred. If `fill` returns false,
  /// stops and returns false.
  template <std::invocable<std::span<std::byte>> Fill>
  bool to_device(Fill&& fill, const BytesIn<std::byte, Device>& to) {
    Kokkos::fence();
    bool goes_on = true;
    for (ByteCount at = 0; at < to.size() && goes_on; at += piece_) {
      goes_on = fill(std::span<std::byte>(in_buffer(at, to.size()).data(), length(at, to.size())));
      queue_.fence();  // the other buffer is filled next
      if (goes_on) copy(part(to, at, to.size()), in_buffer(at, to.size()));
    }
    queue_.fence();
    return goes_on;
  }
  void to_device(std::span<const std::byte> from, const BytesIn<std::byte, Device>& to) {
    to_device(
        [from](std::span<std::byte> piece) mutable {
          std::memcpy(piece.data(), from.data(), piece.size());
          from = from.subspan(piece.size());
          return true;
        },
        to);
  }

 private:
  using Queue = typename Device::execution_space;

  ByteCount length(ByteCount at, ByteCount whole) const { return std::min(piece_, whole - at); }
  BytesIn<std::byte, Device> part(const BytesIn<std::byte, Device>& bytes, ByteCount at, ByteCount whole) const {
    return BytesIn<std::byte, Device>(bytes.data() + at, length(at, whole));
  }
  BytesIn<std::byte, Buffer> in_buffer(ByteCount at, ByteCount whole) const {
    return BytesIn<std::byte, Buffer>(buffers_[at / piece_ % 2].data(), length(at, whole));
  }
  template <class To, class From>
  void copy(const To& to, const From& from) {
    Kokkos::deep_copy(queue_, to, from);
  }

  ByteCount piece_;
  Queue queue_;
  std::array<Kokkos::View<std::byte*, Buffer>, 2> buffers_;
};

/// Returns the process's staging buffers for this device memory. They exist until Kokkos is finalised.
template <class Device>
Staging<Device>& staging() {
  static std::optional<Staging<Device>> one;
  if (!one) {
    one.emplace(ByteCount{2} << 20);
    Kokkos::push_finalize_hook([] { one.reset(); });
  }
  return *one;
}

}  // namespace mend::detail
