// Data between a device's memory and the host's, by way of pinned buffers.
//
// A device reads and writes memory of the host by itself where it cannot be paged out. Any other its driver copies once
// more, and nobody does anything else meanwhile. So there are two pinned buffers, in turns: while the device is at one,
// the host copies the other. Where the host sees a device's memory, or there is no device, nothing of this is used.

#pragma once

#include "base/ids.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
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

/// Memory that is only a device's.
template <class Space>
inline constexpr bool is_out_of_reach = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

/// One thread. The tests have a `Buffer` in the host's memory, and the `Device` there too.
template <class Device, class Buffer = PinnedSpace>
class Staging {
 public:
  explicit Staging(ByteCount bytes_of_buffer) : piece_(bytes_of_buffer) {
    for (auto& buffer : buffers_)
      buffer =
          Kokkos::View<std::byte*, Buffer>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "mend staging"), piece_);
  }

  /// Waits for what still writes into `from`, as any copy does.
  void to_host(BytesIn<std::byte, Device> from, std::span<std::byte> to) {
    Kokkos::fence();
    const auto begin = [&](ByteCount at) { copy(in_buffer(at, to.size()), part(from, at, to.size())); };
    if (!to.empty()) begin(0);
    for (ByteCount at = 0; at < to.size(); at += piece_) {
      queue_.fence();
      if (at + piece_ < to.size()) begin(at + piece_);
      std::memcpy(to.data() + at, in_buffer(at, to.size()).data(), length(at, to.size()));
    }
  }

  void to_device(std::span<const std::byte> from, BytesIn<std::byte, Device> to) {
    Kokkos::fence();
    for (ByteCount at = 0; at < from.size(); at += piece_) {
      std::memcpy(in_buffer(at, from.size()).data(), from.data() + at, length(at, from.size()));
      queue_.fence();  // the other buffer may be filled next
      copy(part(to, at, from.size()), in_buffer(at, from.size()));
    }
    queue_.fence();
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

/// The process's own for that device memory, until Kokkos is finalised.
template <class Device>
Staging<Device>& staging() {
  static std::optional<Staging<Device>> one;
  if (!one) {
    one.emplace(ByteCount{4} << 20);
    Kokkos::push_finalize_hook([] { one.reset(); });
  }
  return *one;
}

}  // namespace mend::detail
