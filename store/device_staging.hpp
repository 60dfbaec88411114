// Copies data between device memory and host memory through pinned buffers.
// A device transfers pinned host memory directly. For pageable memory the driver makes an additional copy, during which
// nothing else proceeds. So there are two pinned buffers: while the device transfers one of them, the host copies the
// other. Memory that the host can access is not staged.

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

/// True if the host cannot access the memory space.
template <class Space>
inline constexpr bool is_out_of_reach = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

/// For use by one thread. In the tests, `Buffer` and `Device` are both host memory.
template <class Device, class Buffer = PinnedSpace>
class Staging {
 public:
  explicit Staging(ByteCount bytes_of_buffer) : piece_(bytes_of_buffer) {
    for (auto& buffer : buffers_)
      buffer =
          Kokkos::View<std::byte*, Buffer>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "mend staging"), piece_);
  }

  /// Waits for kernels that write to `from`, as any copy does.
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
      queue_.fence();  // the other buffer is filled next
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

/// The process's staging buffers for this device memory. They exist until Kokkos is finalised.
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
