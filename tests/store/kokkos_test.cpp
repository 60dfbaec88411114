// Views of every rank and layout pass through a snapshot unchanged.

#include "store/kokkos.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using Kokkos::ALL;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using Kokkos::LayoutStride;
using mend::MemberOf;

using Between = std::pair<std::size_t, std::size_t>;

/// A contiguous View of the same extents, in the same memory. Its order defines the numbers of the elements here.
template <class View, std::size_t... I>
auto in_order(const View& view, std::index_sequence<I...>) {
  return Kokkos::View<typename View::non_const_data_type, LayoutRight, typename View::memory_space>("in order",
                                                                                                    view.extent(I)...);
}
template <class View>
auto in_order(const View& view) {
  return in_order(view, std::make_index_sequence<View::rank_dynamic>{});
}

template <class View>
std::vector<double> values_of(const View& view) {
  const auto there = in_order(view);
  Kokkos::deep_copy(there, view);
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
  return {here.data(), here.data() + here.size()};
}

/// Sets element number i to first + i.
template <class View>
void fill(const View& view, double first) {
  const auto there = in_order(view);
  const auto here = Kokkos::create_mirror_view(Kokkos::HostSpace(), there);
  for (std::size_t i = 0; i < here.size(); ++i) here.data()[i] = first + static_cast<double>(i);
  Kokkos::deep_copy(there, here);
  Kokkos::deep_copy(view, there);
}

template <class From, class To>
void expect_carried_over(From from, To to) {
  fill(from, 100);
  fill(to, -1000);
  const auto source = MemberOf<From>::make(from);
  const auto target = MemberOf<To>::make(to);
  ASSERT_EQ(source->shape(), target->shape());
  std::vector<std::byte> bytes(source->size());
  source->pack(bytes);
  target->unpack(bytes);
  EXPECT_EQ(values_of(to), values_of(from)) << source->shape();
}

/// Packs into a snapshot and restores into a View of the same kind, for each layout.
template <class Data, class Space, class... Extents>
void expect_whole_views_survive_in(Extents... extents) {
  using Left = Kokkos::View<Data, LayoutLeft, Space>;
  using Right = Kokkos::View<Data, LayoutRight, Space>;
  expect_carried_over(Left("from", extents...), Left("to", extents...));
  expect_carried_over(Right("from", extents...), Right("to", extents...));
}

/// The memory that kernels use by default: that of the device if Kokkos was built for one.
using Default = Kokkos::DefaultExecutionSpace::memory_space;

/// The same in every memory space of this Kokkos.
template <class Data, class... Extents>
void expect_whole_views_survive(Extents... extents) {
  expect_whole_views_survive_in<Data, Kokkos::HostSpace>(extents...);
  expect_whole_views_survive_in<Data, Default>(extents...);
#if defined(KOKKOS_HAS_SHARED_SPACE)
  expect_whole_views_survive_in<Data, Kokkos::SharedSpace>(extents...);
#endif
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
  expect_whole_views_survive_in<Data, Kokkos::SharedHostPinnedSpace>(extents...);
#endif
}

TEST(Views, of_every_rank_survive) {
  expect_whole_views_survive<double>();
  expect_whole_views_survive<double*>(7);
  expect_whole_views_survive<double**>(7, 5);
  expect_whole_views_survive<double***>(4, 3, 5);
  expect_whole_views_survive<double****>(4, 3, 2, 5);
  expect_whole_views_survive<double*****>(2, 3, 2, 3, 2);
  expect_whole_views_survive<double********>(2, 1, 2, 1, 2, 1, 2, 3);
}

TEST(Views, with_extents_known_at_compile_time_survive) {
  expect_whole_views_survive<double[4]>();
  expect_whole_views_survive<double[4][3]>();
  expect_whole_views_survive<double* [3]>(5);
  expect_whole_views_survive<double** [3][2]>(5, 4);
}

TEST(Views, without_elements_survive) {
  expect_whole_views_survive<double*>(0);
  expect_whole_views_survive<double**>(0, 5);
  expect_whole_views_survive<double***>(4, 0, 5);
}

template <class Layout>
void expect_parts_survive() {
  using Cube = Kokkos::View<double***, Layout>;
  const Cube from("from", 6, 7, 8);
  const Cube to("to", 6, 7, 8);
  const auto inside = [](const Cube& cube) {
    return Kokkos::subview(cube, Between(1, 5), Between(1, 6), Between(1, 7));
  };
  expect_carried_over(inside(from), inside(to));
  const auto first_plane = [](const Cube& cube) { return Kokkos::subview(cube, 2, ALL, ALL); };
  expect_carried_over(first_plane(from), first_plane(to));
  const auto last_plane = [](const Cube& cube) { return Kokkos::subview(cube, ALL, ALL, 3); };
  expect_carried_over(last_plane(from), last_plane(to));
  const auto line = [](const Cube& cube) { return Kokkos::subview(cube, 1, ALL, 3); };
  expect_carried_over(line(from), line(to));
  const auto point = [](const Cube& cube) { return Kokkos::subview(cube, 1, 2, 3); };
  expect_carried_over(point(from), point(to));
}

TEST(Parts, of_views_survive) {
  expect_parts_survive<LayoutLeft>();
  expect_parts_survive<LayoutRight>();
}

TEST(Parts, are_restored_without_touching_what_lies_around_them) {
  const Kokkos::View<double**, LayoutRight> whole("whole", 4, 4);
  Kokkos::deep_copy(whole, 7.0);
  auto inside = Kokkos::subview(whole, Between(1, 3), Between(1, 3));
  fill(inside, 1);
  const auto member = MemberOf<decltype(inside)>::make(inside);
  std::vector<std::byte> bytes(member->size());
  member->pack(bytes);
  Kokkos::deep_copy(whole, 9.0);
  member->unpack(bytes);
  const std::vector<double> all = values_of(whole);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const bool is_inside = i >= 1 && i < 3 && j >= 1 && j < 3;
      EXPECT_EQ(all[4 * i + j], is_inside ? 1.0 + 2.0 * static_cast<double>(i - 1) + static_cast<double>(j - 1) : 9.0);
    }
  }
}

/// Every byte crosses, and no other byte changes.
template <class Device, class Buffer>
void expect_any_size_is_carried_over() {
  constexpr std::size_t buffer = 16;
  mend::detail::Staging<Device, Buffer> staging(buffer);
  for (const std::size_t size : {0, 1, 15, 16, 17, 31, 32, 33, 48, 100}) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i + 1);
    const Kokkos::View<std::byte*, Device> device("device", size + 1);
    const auto all = [&] { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device); };
    const auto last = all();
    last(size) = std::byte{0xee};
    Kokkos::deep_copy(device, last);
    const mend::detail::BytesIn<std::byte, Device> there(device.data(), size);
    staging.to_device(data, there);
    const auto now = all();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), now.data())) << size;
    EXPECT_EQ(now(size), std::byte{0xee}) << size;

    std::vector<std::byte> back(size + 1, std::byte{0xdd});
    staging.to_host(there, std::span(back).first(size));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), back.begin())) << size;
    EXPECT_EQ(back.back(), std::byte{0xdd}) << size;
  }
}

TEST(Staging, carries_any_size_over_both_ways) {
  expect_any_size_is_carried_over<Kokkos::HostSpace, Kokkos::HostSpace>();  // host memory stands for device memory
  expect_any_size_is_carried_over<Default, mend::detail::PinnedSpace>();
}

void multiply_numbers(const Kokkos::View<double*>& view, double factor) {
  Kokkos::parallel_for(
      view.extent(0), KOKKOS_LAMBDA(std::size_t i) { view(i) = static_cast<double>(i) * factor; });
}

std::size_t count_others(const Kokkos::View<double*>& view, double factor) {
  std::size_t others = 0;
  Kokkos::parallel_reduce(
      view.extent(0),
      KOKKOS_LAMBDA(std::size_t i, std::size_t & sum) { sum += view(i) == static_cast<double>(i) * factor ? 0 : 1; },
      others);
  return others;
}

TEST(Staging, waits_for_kernels) {
  // Three pieces, the last one of a few bytes.
  Kokkos::View<double*> view("numbers", (std::size_t{9} << 20) / sizeof(double) + 1);
  const auto member = MemberOf<Kokkos::View<double*>>::make(view);
  std::vector<std::byte> bytes(member->size());
  for (int round = 1; round <= 5; ++round) {
    multiply_numbers(view, round);
    member->pack(bytes);
    multiply_numbers(view, -1);
    member->unpack(bytes);
    EXPECT_EQ(count_others(view, round), 0U) << round;
  }
}

/// A View with gaps and one without have the same type and shape, so each can be restored from a commit of the other.
template <class Layout>
void expect_gaps_do_not_matter() {
  using Plane = Kokkos::View<double**, Layout>;
  const Plane gapless("gapless", 3, 4);
  const Plane larger("larger", 5, 6);
  const Plane with_gaps = Kokkos::subview(larger, Between(1, 4), Between(1, 5));
  ASSERT_TRUE(gapless.span_is_contiguous());
  ASSERT_FALSE(with_gaps.span_is_contiguous());
  expect_carried_over(gapless, with_gaps);
  expect_carried_over(with_gaps, gapless);
}

TEST(Parts, and_whole_views_can_be_restored_from_each_other) {
  expect_gaps_do_not_matter<LayoutLeft>();
  expect_gaps_do_not_matter<LayoutRight>();
}

TEST(Parts, of_any_strides_can_be_restored_from_each_other) {
  using Strided = Kokkos::View<double**, LayoutStride>;
  const Strided by_rows("by rows", LayoutStride(3, 4, 4, 1));
  const Strided by_columns("by columns", LayoutStride(3, 1, 4, 3));
  expect_carried_over(by_rows, by_columns);
  expect_carried_over(by_columns, by_rows);
}

TEST(Views, of_different_shapes_say_so) {
  const auto shape = [](auto view) { return MemberOf<decltype(view)>::make(view)->shape(); };
  using Right = Kokkos::View<double**, LayoutRight>;
  using Left = Kokkos::View<double**, LayoutLeft>;
  EXPECT_NE(shape(Right("", 3, 4)), shape(Right("", 4, 3)));
  EXPECT_NE(shape(Right("", 3, 4)), shape(Left("", 3, 4)));
  EXPECT_NE(shape(Right("", 3, 4)), shape(Kokkos::View<float**, LayoutRight>("", 3, 4)));
  EXPECT_NE(shape(Right("", 3, 4)), shape(Kokkos::View<double*, LayoutRight>("", 12)));
}

TEST(Views, stay_alive_while_they_are_protected) {
  Kokkos::View<double*> view("kept", 5);
  fill(view, 1);
  const auto member = MemberOf<Kokkos::View<double*>>::make(view);
  view = {};
  std::vector<std::byte> bytes(member->size());
  member->pack(bytes);
  double last = 0;
  std::memcpy(&last, bytes.data() + 4 * sizeof last, sizeof last);
  EXPECT_EQ(last, 5);
}

struct Cell {
  double height;
  int kind;
};

TEST(Views, may_hold_structures) {
  Kokkos::View<Cell*> view("cells", 2);
  const auto host = Kokkos::create_mirror_view(view);
  host(1) = {2.5, 7};
  Kokkos::deep_copy(view, host);
  const auto member = MemberOf<Kokkos::View<Cell*>>::make(view);
  std::vector<std::byte> bytes(member->size());
  member->pack(bytes);
  host(1) = {};
  Kokkos::deep_copy(view, host);
  member->unpack(bytes);
  Kokkos::deep_copy(host, view);
  EXPECT_EQ(host(1).height, 2.5);
  EXPECT_EQ(host(1).kind, 7);
}

}  // namespace
