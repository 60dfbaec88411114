#include "store/combination.hpp"

#include <gmock/gmock.h>

namespace {

using mend::ByteRange;
using mend::Changes;
using mend::Rank;
using mend::Sizes;
using mend::stale_ranges;
using mend::Stripe;
using testing::ElementsAre;
using testing::IsEmpty;

const Stripe copies{{Rank{1}}, {Rank{0}, Rank{2}}};
const Stripe group{{Rank{1}, Rank{2}}, {Rank{0}}};
const Sizes sizes{1000, 1280, 700};  // pieces of 640 bytes

Changes only(std::vector<ByteRange> ranges) { return {false, std::move(ranges)}; }

TEST(Pieces, are_as_long_as_the_longest_snapshot_of_the_group_needs) {
  EXPECT_EQ(kept_bytes(group, sizes), 640U);
  EXPECT_EQ(kept_bytes(Stripe{{Rank{0}, Rank{2}}, {Rank{1}}}, sizes), 640U) << "a keeper's counts too";
  EXPECT_EQ(kept_bytes(copies, sizes), 1280U);
}

TEST(Encode, leaves_out_what_short_snapshots_do_not_have) {
  const auto whole = encode(group, 0, sizes);
  ASSERT_EQ(whole.sources.size(), 2U);
  EXPECT_EQ(whole.sources[1].offset, 640U);
  EXPECT_EQ(whole.sources[1].length, 60U);
  const auto end = encode(group, 0, sizes, {100, 200});
  ASSERT_EQ(end.sources.size(), 1U);
  EXPECT_EQ(end.sources[0].offset, 100U);
  EXPECT_EQ(end.sources[0].length, 100U);
  EXPECT_EQ(end.whole, 640U);
}

TEST(StaleRanges, are_all_when_anybody_packed_anew) {
  std::vector<Changes> changes{only({}), only({}), only({})};
  EXPECT_THAT(stale_ranges(group, sizes, changes), IsEmpty());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    auto one_new = changes;
    one_new[rank].everything = true;
    EXPECT_THAT(stale_ranges(group, sizes, one_new), ElementsAre(ByteRange{0, 640}));
    EXPECT_THAT(stale_ranges(copies, sizes, one_new), ElementsAre(ByteRange{0, 1280}));
  }
}

TEST(StaleRanges, of_a_copy_are_what_has_changed) {
  const std::vector<Changes> changes{only({{0, 64}}), only({{0, 64}, {500, 600}}), only({})};
  EXPECT_THAT(stale_ranges(copies, sizes, changes), ElementsAre(ByteRange{0, 64}, ByteRange{500, 600}));
}

TEST(StaleRanges, of_a_parity_are_where_any_of_its_pieces_has_changed) {
  // Piece 0 of rank 1 is its bytes 0 to 640; piece 1 of rank 2 begins at its byte 640.
  const std::vector<Changes> changes{only({{0, 1000}}), only({{0, 64}, {600, 700}, {900, 1000}}), only({{0, 10}, {650, 700}})};
  EXPECT_THAT(stale_ranges(group, sizes, changes), ElementsAre(ByteRange{0, 64}, ByteRange{600, 640}));
}

}  // namespace
