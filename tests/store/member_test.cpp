#include "store/member.hpp"

#include "base/error.hpp"
#include "base/telemetry/resident_bytes.hpp"
#include "tests/store/member_of.hpp"
#include "tests/support/sanitized.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <complex>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace {

using mend::Member;
using mend::MemberOf;
using mend::Protectable;

std::vector<std::byte> packed(const Member& member) {
  std::vector<std::byte> bytes(member.size());
  member.pack(bytes);
  return bytes;
}

/// Copies the data of `from` to `to` through its bytes.
template <class T>
void carry_over(T& from, T& to) {
  const auto source = member_of(from);
  const auto target = member_of(to);
  ASSERT_EQ(source->shape(), target->shape());
  target->unpack(packed(*source));
}

struct Particle {
  double position[3];
  std::int32_t kind;
  bool operator==(const Particle&) const = default;
};

enum class Phase : std::uint8_t { heating, cooling };

TEST(Members, may_be_plain_values) {
  double from = 1.5;
  double to = 0;
  carry_over(from, to);
  EXPECT_EQ(to, 1.5);

  Phase phase = Phase::cooling;
  Phase other = Phase::heating;
  carry_over(phase, other);
  EXPECT_EQ(other, Phase::cooling);

  bool yes = true;
  bool unknown = false;
  carry_over(yes, unknown);
  EXPECT_TRUE(unknown);
}

TEST(Members, may_be_structures_without_pointers) {
  Particle from{{1, 2, 3}, 4};
  Particle to{};
  carry_over(from, to);
  EXPECT_EQ(to, from);
}

TEST(Members, may_be_vectors_arrays_and_spans) {
  std::vector<std::complex<float>> from{{1, 2}, {3, 4}};
  std::vector<std::complex<float>> to(2);
  carry_over(from, to);
  EXPECT_EQ(to, from);

  std::array<int, 3> three{1, 2, 3};
  std::array<int, 3> others{};
  carry_over(three, others);
  EXPECT_EQ(others, three);

  Particle particles[2]{{{1, 1, 1}, 1}, {{2, 2, 2}, 2}};
  Particle empty[2]{};
  carry_over(particles, empty);
  EXPECT_EQ(empty[1], particles[1]);

  std::vector<double> whole{1, 2, 3, 4};
  std::vector<double> target(4);
  std::span<double> middle(whole.data() + 1, 2);
  std::span<double> place(target.data() + 2, 2);
  carry_over(middle, place);
  EXPECT_EQ(target, (std::vector<double>{0, 0, 2, 3}));
}

TEST(Members, may_be_containers_that_change_their_size) {
  std::vector<double> from{1, 2, 3};
  std::vector<double> to{9, 9, 9, 9, 9, 9};
  const auto source = member_of(from);
  const auto target = member_of(to);
  target->unpack(packed(*source));
  EXPECT_EQ(to, from);
  from.assign(1000, 7.0);  // may move its elements
  target->unpack(packed(*source));
  EXPECT_EQ(to, from);
  from.clear();
  target->unpack(packed(*source));
  EXPECT_TRUE(to.empty());

  std::string text = "a sentence that does not fit into the string itself";
  std::string other;
  carry_over(text, other);
  EXPECT_EQ(other, text);
}

TEST(Members, may_be_some_ranges_of_an_array) {
  std::vector<int> from(10);
  std::iota(from.begin(), from.end(), 0);
  std::vector<int> to(10, -1);
  auto source = mend::subset(from, {{1, 3}, {5, 5}, {8, 10}});
  auto target = mend::subset(to, {{1, 3}, {5, 5}, {8, 10}});
  carry_over(source, target);
  EXPECT_EQ(to, (std::vector<int>{-1, 1, 2, -1, -1, -1, -1, -1, 8, 9}));
  auto others = mend::subset(to, {{1, 3}, {8, 9}});
  EXPECT_NE(member_of(source)->shape(), member_of(others)->shape());
  EXPECT_THROW(mend::subset(from, {{0, 11}}), mend::UsageError);
  EXPECT_THROW(mend::subset(from, {{3, 2}}), mend::UsageError);
}

/// A type that cannot be copied as bytes: a list of names.
struct Names {
  std::vector<std::string> all;
  bool operator==(const Names&) const = default;
};

/// Has so large a text that its memory returns to the kernel when it is freed.
struct Verbose {
  static constexpr std::size_t text_bytes = std::size_t{64} << 20;
};

}  // namespace

template <>
struct mend::Serializer<Verbose> {
  static std::vector<std::byte> write(const Verbose&) {
    return std::vector<std::byte>(Verbose::text_bytes, std::byte{1});
  }
  static void read(Verbose&, std::span<const std::byte>) {}
};

template <>
struct mend::Serializer<Names> {
  static std::vector<std::byte> write(const Names& names) {
    std::vector<std::byte> bytes;
    for (const std::string& name : names.all) {
      for (const char* c = name.c_str(); c <= name.c_str() + name.size(); ++c)
        bytes.push_back(static_cast<std::byte>(*c));
    }
    return bytes;
  }
  static void read(Names& names, std::span<const std::byte> bytes) {
    names.all.clear();
    const char* text = reinterpret_cast<const char*>(bytes.data());
    for (std::size_t at = 0; at < bytes.size(); at += names.all.back().size() + 1) names.all.emplace_back(text + at);
  }
};

namespace {

TEST(Members, may_be_of_a_type_with_a_serializer) {
  Names from{{"pressure", "", "temperature"}};
  Names to{{"velocity"}};
  const auto source = member_of(from);
  member_of(to)->unpack(packed(*source));
  EXPECT_EQ(to, from);
  from.all.emplace_back("density");
  member_of(to)->unpack(packed(*source));
  EXPECT_EQ(to, from);
}

TEST(Members, with_a_serializer_free_their_text_when_it_is_packed_or_not_wanted) {
  if (support::sanitized) GTEST_SKIP() << "sanitizers keep memory that was freed";
  Verbose object;
  const auto member = member_of(object);
  std::vector<std::byte> place(Verbose::text_bytes);
  const std::uint64_t before = mend::resident_bytes(::getpid());
  const auto has_text = [&] { return mend::resident_bytes(::getpid()) > before + Verbose::text_bytes / 2; };
  EXPECT_EQ(member->size(), Verbose::text_bytes);
  EXPECT_TRUE(has_text());
  member->pack(place);
  EXPECT_FALSE(has_text());
  EXPECT_EQ(place.back(), std::byte{1});
  EXPECT_EQ(member->size(), Verbose::text_bytes);
  EXPECT_TRUE(has_text());
  member->end_pack();
  EXPECT_FALSE(has_text());
}

TEST(Members, may_be_empty) {
  std::vector<double> nothing;
  std::vector<double> also_nothing;
  carry_over(nothing, also_nothing);
  EXPECT_EQ(member_of(nothing)->size(), 0U);
}

TEST(Members, that_are_parts_are_the_vector_and_not_its_present_memory) {
  std::vector<int> u{1, 2};
  std::vector<int> next{3, 4};
  auto part = mend::part(u, {4}, {2});
  const auto member = MemberOf<mend::ArrayMember>::make(part);
  std::swap(u, next);
  EXPECT_EQ(packed(*member), std::vector<std::byte>({std::byte{3}, {}, {}, {}, std::byte{4}, {}, {}, {}}));
  const std::vector<std::byte> bytes = packed(*member);
  u.assign({7, 8, 9});
  EXPECT_THROW(packed(*member), mend::UsageError);
  member->unpack(bytes);
  EXPECT_EQ(u, std::vector({3, 4}));
}

TEST(Members, of_different_shapes_say_so) {
  std::vector<double> ten(10);
  std::vector<double> eleven(11);
  std::vector<float> floats(10);
  double one = 0;
  std::array<double, 1> array_of_one{};
  std::span<double> first_ten(ten);
  std::span<double> all_eleven(eleven);
  EXPECT_NE(member_of(first_ten)->shape(), member_of(all_eleven)->shape());
  EXPECT_NE(member_of(first_ten)->shape(), member_of(ten)->shape());
  EXPECT_NE(member_of(ten)->shape(), member_of(floats)->shape());
  EXPECT_NE(member_of(one)->shape(), member_of(array_of_one)->shape());
  EXPECT_EQ(member_of(first_ten)->shape(), "array of 8 bytes [10]");
}

TEST(Members, are_read_where_they_lie_when_they_are_packed) {
  int value = 1;
  const auto member = member_of(value);
  value = 2;
  int copy = 0;
  MemberOf<int>::make(copy)->unpack(packed(*member));
  EXPECT_EQ(copy, 2);
}

struct HoldsMemory {
  std::vector<int> inside;
};

static_assert(Protectable<int> && Protectable<Particle> && Protectable<std::span<double>> &&
              Protectable<std::vector<int>>);
static_assert(Protectable<Names> && Protectable<std::string> && Protectable<mend::Subset<int>>);
static_assert(!Protectable<int*>, "a pointer is no data");
static_assert(!Protectable<HoldsMemory>, "bytes of a vector inside mean nothing elsewhere");
static_assert(!Protectable<std::vector<bool>>, "its bits lie nowhere");
static_assert(!Protectable<std::vector<int*>>);

}  // namespace
