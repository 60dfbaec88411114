// Kokkos Views as members: any rank, layout and memory space.
//
// A contiguous View is copied directly. Any other View (a strided subview, padding) goes through a contiguous copy in
// its own memory space, so that one large transfer crosses to the host for any layout. If the host cannot access the
// memory, the transfer goes through pinned buffers (store/device_staging.hpp).

#pragma once

#include "store/member.hpp"
#include "store/device_staging.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>

namespace mend {
namespace detail {

template <class View>
class ViewMember final : public Member {
 public:
  explicit ViewMember(const View& view) : view_(view) {}

  std::string shape() const override {
    std::array<std::size_t, View::rank == 0 ? 1 : View::rank> extents{};
    for (std::size_t i = 0; i < View::rank; ++i) extents[i] = view_.extent(i);
    return shape_text(layout_name(), sizeof(Value), {extents.data(), View::rank});
  }

  ByteCount size() const override { return view_.size() * sizeof(Value); }

  void pack(std::span<std::byte> to) const override {
    read([&](const auto& bytes) { take_out(bytes, to); });
  }

  std::span<const std::byte> contiguous() const override {
    if (!std::is_same_v<Memory, Kokkos::HostSpace> || !lies_as_packed()) return {};
    Kokkos::fence();  // wait for kernels that write to the View, as a copy would
    return {reinterpret_cast<const std::byte*>(view_.data()), size()};
  }

  bool pack_pieces(const TakePiece& take) const override {
    if constexpr (is_out_of_reach<Memory>) read([&](const auto& bytes) { staging<Memory>().to_host(bytes, take); });
    return is_out_of_reach<Memory>;
  }

  void unpack(std::span<const std::byte> from) override {
    write([&](const auto& bytes) {
      put_in(from, bytes);
      return true;
    });
  }

  std::span<std::byte> place_for(ByteCount) override {
    if (!std::is_same_v<Memory, Kokkos::HostSpace> || !lies_as_packed()) return {};
    Kokkos::fence();
    return {reinterpret_cast<std::byte*>(view_.data()), size()};
  }

  bool unpack_pieces(ByteCount, const FillPiece& fill) override {
    if constexpr (is_out_of_reach<Memory>)
      write([&](const auto& bytes) { return staging<Memory>().to_device(fill, bytes); });
    return is_out_of_reach<Memory>;
  }

  const void* address() const override { return view_.data(); }

 private:
  using Value = typename View::non_const_value_type;
  using Memory = typename View::memory_space;
  using Layout = typename View::array_layout;
  /// The order of the elements in a snapshot depends on the type alone, not on whether this View has gaps.
  using PackedLayout = std::conditional_t<std::is_same_v<Layout, Kokkos::LayoutLeft>, Layout, Kokkos::LayoutRight>;
  using Packed = Kokkos::View<typename View::non_const_data_type, PackedLayout, Memory>;

  static_assert(!std::is_const_v<typename View::value_type>,
                "a protected View must be writable: restore writes into it");
  static_assert(std::is_trivially_copyable_v<Value>, "a protected View must hold plain values");

  static const char* layout_name() {
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>)
      return "View, layout right,";
    else if constexpr (std::is_same_v<Layout, Kokkos::LayoutLeft>)
      return "View, layout left,";
    else
      return "View, strided,";
  }

  /// Passes the elements to `take` in the order of a snapshot, either in place or in a copy.
  template <class Take>
  void read(const Take& take) const {
    if (view_.size() == 0) return;
    if (lies_as_packed()) return take(bytes_of(view_));
    const Packed packed = make_packed();
    Kokkos::deep_copy(packed, view_);
    take(bytes_of(packed));
  }
  /// Calls `fill` to write the elements in that order. `fill` returns true if it has written all of them.
  template <class Fill>
  void write(const Fill& fill) const {
    if (view_.size() == 0) return;
    if (lies_as_packed()) {
      fill(bytes_of(view_));
      return;
    }
    const Packed packed = make_packed();
    if (fill(bytes_of(packed))) Kokkos::deep_copy(view_, packed);
  }

  static void take_out(const BytesIn<std::byte, Memory>& from, std::span<std::byte> to) {
    if constexpr (is_out_of_reach<Memory>)
      staging<Memory>().to_host(from, to);
    else
      Kokkos::deep_copy(BytesIn<std::byte, Kokkos::HostSpace>(to.data(), to.size()), from);
  }
  static void put_in(std::span<const std::byte> from, const BytesIn<std::byte, Memory>& to) {
    if constexpr (is_out_of_reach<Memory>)
      staging<Memory>().to_device(from, to);
    else
      Kokkos::deep_copy(to, BytesIn<const std::byte, Kokkos::HostSpace>(from.data(), from.size()));
  }
  template <class AnyView>
  static BytesIn<std::byte, Memory> bytes_of(const AnyView& view) {
    return BytesIn<std::byte, Memory>(reinterpret_cast<std::byte*>(view.data()), view.size() * sizeof(Value));
  }

  /// Returns true if the elements are contiguous and in the order of a snapshot. Contiguous strides may have any order.
  bool lies_as_packed() const { return view_.span_is_contiguous() && std::is_same_v<Layout, PackedLayout>; }

  Packed make_packed() const { return make_packed(std::make_index_sequence<View::rank_dynamic>{}); }
  template <std::size_t... I>
  Packed make_packed(std::index_sequence<I...>) const {
    return Packed(Kokkos::view_alloc(Kokkos::WithoutInitializing, "mend packed"), view_.extent(I)...);
  }

  View view_;  // shares ownership, so a protected View stays valid
};

}  // namespace detail

template <class Data, class... Properties>
struct MemberOf<Kokkos::View<Data, Properties...>> {
  using View = Kokkos::View<Data, Properties...>;
  static std::unique_ptr<Member> make(View& view) { return std::make_unique<detail::ViewMember<View>>(view); }
};

/// This rank's part of an array that all ranks share (see store/member.hpp). The View has as many axes as the array, or
/// its elements, in their order, are those of a part of `extents`. On disk the last axis is the fastest, so a View of
/// layout left has its axes in reverse order there, as Fortran arrays have.
template <class Data, class... Properties>
ArrayMember part(Kokkos::View<Data, Properties...> view, Extents whole, Extents offset, Extents extents) {
  using View = Kokkos::View<Data, Properties...>;
  return {MemberOf<View>::make(view),
          {detail::element_name<typename View::non_const_value_type>(), std::move(extents), std::move(offset),
           std::move(whole)}};
}
template <class Data, class... Properties>
ArrayMember part(Kokkos::View<Data, Properties...> view, Extents whole, Extents offset) {
  using View = Kokkos::View<Data, Properties...>;
  Extents extents;
  for (std::size_t axis = 0; axis < View::rank; ++axis) extents.push_back(view.extent(axis));
  if constexpr (std::is_same_v<typename View::array_layout, Kokkos::LayoutLeft>) {
    for (Extents* axes : {&whole, &offset, &extents}) std::reverse(axes->begin(), axes->end());
  }
  return part(view, std::move(whole), std::move(offset), std::move(extents));
}

}  // namespace mend
