#include "store/snapshot/snapshot.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

namespace {

using mend::Bytes;
using mend::find_damage;
using mend::MemberOf;
using mend::Members;
using mend::Rank;
using mend::Version;
using mend::detail::PartMember;
using testing::HasSubstr;

/// A rank's data of several kinds and sizes, none of which fills its place in the snapshot.
struct Data {
  std::vector<double> field = std::vector<double>(5);
  std::vector<char> text = std::vector<char>(3);
  int step = 0;
  std::vector<int> nothing;

  Members members() {
    Members all;
    all["field"] = MemberOf<std::vector<double>>::make(field);
    all["text"] = MemberOf<std::vector<char>>::make(text);
    all["step"] = MemberOf<int>::make(step);
    all["nothing"] = MemberOf<std::vector<int>>::make(nothing);
    return all;
  }
  bool operator==(const Data&) const = default;
};

Data filled() {
  Data data;
  std::iota(data.field.begin(), data.field.end(), 1.5);
  data.text = {'a', 'b', 'c'};
  data.step = 42;
  return data;
}

Bytes snapshot_of(Data data) {
  Bytes snapshot;
  pack(data.members(), Rank{3}, Version{7}, snapshot);
  return snapshot;
}

std::optional<std::string> damage_of(const Bytes& snapshot) { return find_damage(snapshot, Rank{3}, Version{7}); }
std::optional<std::string> unpack(const Bytes& snapshot, const Members& members) {
  return unpack(snapshot, Rank{3}, Version{7}, members);
}

TEST(Snapshot, gives_back_what_was_packed) {
  const Bytes snapshot = snapshot_of(filled());
  EXPECT_EQ(damage_of(snapshot), std::nullopt);
  Data back;
  EXPECT_EQ(unpack(snapshot, back.members()), std::nullopt);
  EXPECT_EQ(back, filled());
}

TEST(Snapshot, of_no_members_is_sound) {
  Bytes snapshot;
  mend::pack({}, Rank{3}, Version{7}, snapshot);
  EXPECT_EQ(damage_of(snapshot), std::nullopt);
  EXPECT_EQ(unpack(snapshot, {}), std::nullopt);
}

TEST(Snapshot, packed_into_used_memory_is_as_if_it_were_fresh) {
  Bytes reused = snapshot_of(filled());
  std::fill(reused.begin(), reused.end(), std::byte{0xff});
  reused.resize(reused.size() * 2, std::byte{0xff});
  Data data = filled();
  pack(data.members(), Rank{3}, Version{7}, reused);
  EXPECT_EQ(reused, snapshot_of(filled()));
}

TEST(Snapshot, with_any_bit_flipped_is_found_damaged) {
  Bytes snapshot = snapshot_of(filled());
  for (std::size_t byte = 0; byte < snapshot.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::byte flip{static_cast<unsigned char>(1U << bit)};
      snapshot[byte] ^= flip;
      ASSERT_TRUE(damage_of(snapshot)) << "byte " << byte << ", bit " << bit;
      Data back;
      ASSERT_EQ(unpack(snapshot, back.members()), damage_of(snapshot)) << "byte " << byte << ", bit " << bit;
      snapshot[byte] ^= flip;
    }
  }
  EXPECT_EQ(damage_of(snapshot), std::nullopt);
}

TEST(Snapshot, of_any_other_length_is_found_damaged) {
  const Bytes whole = snapshot_of(filled());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Bytes cut = whole;
    cut.resize(length);
    ASSERT_TRUE(damage_of(cut)) << "cut to " << length;
  }
  Bytes longer = whole;
  longer.push_back(std::byte{});
  EXPECT_TRUE(damage_of(longer));
}

TEST(Snapshot, names_the_member_that_is_damaged) {
  Bytes snapshot = snapshot_of(filled());
  const double needle = filled().field[3];
  const auto* bytes = reinterpret_cast<const std::byte*>(&needle);
  const auto at = std::search(snapshot.begin(), snapshot.end(), bytes, bytes + sizeof needle);
  ASSERT_NE(at, snapshot.end());
  *at ^= std::byte{1};
  EXPECT_EQ(damage_of(snapshot), "member 'field' is corrupt");
}

TEST(Snapshot, of_another_rank_or_version_is_not_taken_for_the_right_one) {
  const Bytes snapshot = snapshot_of(filled());
  EXPECT_EQ(find_damage(snapshot, Rank{2}, Version{7}), "it is rank 3's at version 7");
  EXPECT_EQ(find_damage(snapshot, Rank{3}, Version{8}), "it is rank 3's at version 7");
  Data back;
  EXPECT_EQ(unpack(snapshot, Rank{2}, Version{7}, back.members()), "it is rank 3's at version 7");
  EXPECT_EQ(back, Data{});
}

TEST(Snapshot, that_is_no_snapshot_at_all_is_found_out) {
  for (std::size_t length : {0U, 1U, 8U, 63U, 64U, 1000U})
    EXPECT_TRUE(damage_of(Bytes(length, std::byte{'x'}))) << length;
}

std::string refusal(const Bytes& snapshot, const Members& members) {
  try {
    unpack(snapshot, members);
  } catch (const mend::UsageError& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Snapshot, is_not_given_to_a_member_of_another_shape) {
  const Bytes snapshot = snapshot_of(filled());
  std::array<int, 1> one{};
  Members members;
  members["step"] = MemberOf<std::array<int, 1>>::make(one);
  Data back;
  members["field"] = MemberOf<std::vector<double>>::make(back.field);
  EXPECT_THAT(refusal(snapshot, members),
              HasSubstr("member 'step' is protected as array of 4 bytes [1] but was committed as value of 4 bytes"));
  EXPECT_EQ(back, Data{});
}

TEST(Snapshot, gives_containers_the_size_they_had) {
  const Bytes snapshot = snapshot_of(filled());
  Data other;
  other.field.resize(100);
  other.text.clear();
  other.nothing = {1, 2, 3};
  unpack(snapshot, other.members());
  EXPECT_EQ(other, filled());
}

TEST(Snapshot, is_not_given_to_a_member_it_does_not_know) {
  const Bytes snapshot = snapshot_of(filled());
  int unheard_of = 0;
  Members members;
  members["unheard of"] = MemberOf<int>::make(unheard_of);
  EXPECT_THAT(refusal(snapshot, members),
              HasSubstr("'unheard of' is protected now but was not when version 7 was committed"));
}

TEST(Snapshot, may_have_more_members_than_are_asked_for) {
  Data back;
  Members one;
  one["step"] = MemberOf<int>::make(back.step);
  unpack(snapshot_of(filled()), one);
  EXPECT_EQ(back.step, 42);
  EXPECT_EQ(back.text, Data{}.text);
}

TEST(Snapshot, keeps_members_apart_whose_names_share_a_beginning) {
  int a = 1;
  int ab = 2;
  const auto members = [&] {
    Members both;
    both["a"] = MemberOf<int>::make(a);
    both["ab"] = MemberOf<int>::make(ab);
    both[std::string(1000, 'x')] = MemberOf<int>::make(ab);
    return both;
  };
  Bytes snapshot;
  pack(members(), Rank{0}, Version{1}, snapshot);
  a = ab = 0;
  unpack(snapshot, Rank{0}, Version{1}, members());
  EXPECT_EQ(a, 1);
  EXPECT_EQ(ab, 2);
}

/// Has many pages, so that it is copied past the caches, and lies at different places of an array.
TEST(Snapshot, gives_back_what_is_large_wherever_it_lies) {
  constexpr std::size_t large = 3 * (std::size_t{1} << 20) + 12345;
  for (const std::size_t begin : {0, 1, 17, 63}) {
    std::vector<char> all(large + 200, 'x');
    for (std::size_t i = 0; i < large; ++i) all[begin + i] = static_cast<char>(i % 251);
    const std::vector<char> then = all;
    std::span<char> part = std::span(all).subspan(begin, large);
    Members members;
    members["part"] = MemberOf<std::span<char>>::make(part);
    Bytes snapshot;
    pack(members, Rank{3}, Version{7}, snapshot);
    EXPECT_EQ(damage_of(snapshot), std::nullopt);
    std::fill(part.begin(), part.end(), 'y');
    EXPECT_EQ(unpack(snapshot, members), std::nullopt);
    EXPECT_EQ(all, then) << "at " << begin;
    snapshot[snapshot.size() - 100] ^= std::byte{1};
    EXPECT_EQ(unpack(snapshot, members), "member 'part' is corrupt");
  }
}

/// A vector as one in the memory of a device would be: its bytes pass through a buffer.
class InPieces final : public mend::Member {
 public:
  explicit InPieces(std::vector<char>& data) : data_(data), plain_(MemberOf<std::vector<char>>::make(data)) {}

  std::string shape() const override { return plain_->shape(); }
  mend::ByteCount size() const override { return data_.size(); }
  void pack(std::span<std::byte>) const override { ADD_FAILURE() << "packed as a whole"; }
  void unpack(std::span<const std::byte>) override { ADD_FAILURE() << "unpacked as a whole"; }
  bool pack_pieces(const TakePiece& take) const override {
    for_each_piece([&](std::span<char> piece) {
      std::memcpy(buffer_.data(), piece.data(), piece.size());
      take(std::as_bytes(std::span(buffer_)).first(piece.size()));
      std::fill(buffer_.begin(), buffer_.end(), 'z');
      return true;
    });
    return true;
  }
  bool unpack_pieces(mend::ByteCount bytes, const FillPiece& fill) override {
    EXPECT_EQ(bytes, data_.size());
    for_each_piece([&](std::span<char> piece) {
      if (!fill(std::as_writable_bytes(std::span(buffer_)).first(piece.size()))) return false;
      std::memcpy(piece.data(), buffer_.data(), piece.size());
      return true;
    });
    return true;
  }

 private:
  void for_each_piece(const std::function<bool(std::span<char>)>& visit) const {
    for (std::span<char> left(data_); !left.empty();) {
      const std::span<char> piece = left.first(std::min<std::size_t>(left.size(), bytes_of_pieces));
      if (!visit(piece)) return;
      left = left.subspan(piece.size());
    }
  }

  std::vector<char>& data_;
  std::unique_ptr<mend::Member> plain_;
  mutable std::vector<char> buffer_ = std::vector<char>(bytes_of_pieces);
};

TEST(Snapshot, of_pieces_is_as_if_they_lay_in_memory) {
  constexpr std::size_t piece = mend::Member::bytes_of_pieces;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, 3 * piece + 777, 50 * piece}) {
    std::vector<char> data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i % 251);
    const auto as_part = [&](std::unique_ptr<mend::Member> member) -> std::unique_ptr<mend::Member> {
      return std::make_unique<PartMember>(mend::ArrayMember{std::move(member), {"int8", {size}, {0}, {size}}});
    };
    Members plain;
    plain["data"] = as_part(MemberOf<std::vector<char>>::make(data));
    Members pieces;
    pieces["data"] = as_part(std::make_unique<InPieces>(data));

    Bytes expected;
    Bytes snapshot;
    pack(plain, Rank{3}, Version{6}, expected);
    pack(pieces, Rank{3}, Version{6}, snapshot);
    ASSERT_EQ(snapshot, expected) << size;
    if (size > 0) data[size / 2] += 1;
    const auto changes = mend::pack(plain, Rank{3}, Version{7}, expected, true);
    EXPECT_EQ(mend::pack(pieces, Rank{3}, Version{7}, snapshot, true).ranges, changes.ranges) << size;
    ASSERT_EQ(snapshot, expected) << size;

    const std::vector<char> then = data;
    std::fill(data.begin(), data.end(), 'y');
    EXPECT_EQ(unpack(snapshot, pieces), std::nullopt) << size;
    EXPECT_EQ(data, then) << size;
    if (size == 0) continue;
    snapshot[snapshot.size() - 1 - (64 - size % 64) % 64] ^= std::byte{1};  // the last byte that is not padding
    EXPECT_EQ(unpack(snapshot, pieces), "member 'data' is corrupt") << size;
  }
}

/// A snapshot packed over another one, and the changes that pack reports.
class PackedOver : public testing::Test {
 protected:
  static constexpr std::size_t pages = 10;
  static constexpr std::size_t per_page = mend::page_bytes / sizeof(double);

  PackedOver() { std::iota(field_.begin(), field_.end(), 0.5); }

  mend::Changes pack_over() {
    Members members;
    members["field"] = MemberOf<std::vector<double>>::make(field_);
    members["serialized"] = MemberOf<mend::Subset<int>>::make(others_);
    ++version_;
    return mend::pack(members, Rank{3}, Version{version_}, snapshot_, version_ > 1);
  }
  /// The snapshot must equal one packed into fresh memory.
  void expect_as_if_fresh() {
    EXPECT_EQ(find_damage(snapshot_, Rank{3}, Version{version_}), std::nullopt);
    const Bytes packed = snapshot_;
    const auto version = version_;
    snapshot_.assign(snapshot_.size(), std::byte{0x77});
    version_ = 0;
    pack_over();
    Bytes fresh = snapshot_;
    snapshot_ = packed;
    version_ = version;
    // Their headers differ, because their versions do.
    EXPECT_TRUE(std::equal(fresh.begin() + 64, fresh.end(), packed.begin() + 64, packed.end()));
  }

  std::vector<double> field_ = std::vector<double>(pages * per_page + 5);
  std::vector<int> numbers_ = {1, 2, 3, 4};
  mend::Subset<int> others_ = mend::subset(numbers_, {{0, 2}, {3, 4}});
  Bytes snapshot_;
  std::uint64_t version_ = 0;
};

TEST_F(PackedOver, nothing_is_all_new) { EXPECT_TRUE(pack_over().everything); }

TEST_F(PackedOver, damaged_hashes_all_is_new) {
  pack_over();
  const mend::WrittenSince nothing{{"field", {}}, {"serialized", {}}};
  const auto hashes = mend::members_of(snapshot_).front().data.data() - snapshot_.data() - 8;  // the last, or padding
  for (const std::ptrdiff_t at : {hashes - 64, std::ptrdiff_t{40}, std::ptrdiff_t{60}}) {
    snapshot_[static_cast<std::size_t>(at)] ^= std::byte{1};
    Members members;
    members["field"] = MemberOf<std::vector<double>>::make(field_);
    members["serialized"] = MemberOf<mend::Subset<int>>::make(others_);
    EXPECT_TRUE(mend::pack(members, Rank{3}, Version{++version_}, snapshot_, true, nothing).everything) << at;
    EXPECT_EQ(find_damage(snapshot_, Rank{3}, Version{version_}), std::nullopt) << at;
  }
}

TEST_F(PackedOver, the_same_only_header_directory_and_hashes_are_new) {
  pack_over();
  const auto changes = pack_over();
  EXPECT_FALSE(changes.everything);
  ASSERT_EQ(changes.ranges.size(), 1U);
  EXPECT_EQ(changes.ranges.front().begin, 0U);
  EXPECT_LT(changes.ranges.front().end, 1000U);
  expect_as_if_fresh();
}

TEST_F(PackedOver, what_has_changed_is_told_of_page_by_page) {
  pack_over();
  const auto data = pack_over().ranges.front().end;
  for (std::size_t page = 0; page < pages; ++page) {
    field_[page * per_page + page] += 1;
    const auto changes = pack_over();
    ASSERT_FALSE(changes.everything);
    const mend::ByteRange expected{data + page * mend::page_bytes, data + (page + 1) * mend::page_bytes};
    if (page == 0) {
      EXPECT_EQ(changes.ranges, (std::vector<mend::ByteRange>{{0, expected.end}}));
    } else {
      EXPECT_EQ(changes.ranges, (std::vector<mend::ByteRange>{{0, data}, expected}));
    }
    expect_as_if_fresh();
  }
  field_.back() = -1;
  numbers_[3] = -1;
  EXPECT_EQ(pack_over().ranges.size(), 2U) << "neighbours are told of together";
  expect_as_if_fresh();
}

TEST_F(PackedOver, what_is_damaged_it_stays_so_and_is_found) {
  pack_over();
  snapshot_[snapshot_.size() / 2] ^= std::byte{4};
  EXPECT_FALSE(pack_over().everything);
  EXPECT_TRUE(find_damage(snapshot_, Rank{3}, Version{version_}));
}

TEST_F(PackedOver, another_directory_everything_is_new) {
  pack_over();
  field_.push_back(1);
  EXPECT_TRUE(pack_over().everything);
  expect_as_if_fresh();
  field_.resize(3);
  EXPECT_TRUE(pack_over().everything);
  expect_as_if_fresh();
}

}  // namespace
