#include "store/placement/combination.hpp"

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

const Stripe copy_stripe{{Rank{1}}, {Rank{0}, Rank{2}}};
const Stripe parity_stripe{{Rank{1}, Rank{2}}, {Rank{0}}};
const Sizes snapshot_sizes{1000, 1280, 700};  // pieces of 640 bytes

Changes only(std::vector<ByteRange> ranges) { return {false, std::move(ranges)}; }

TEST(Pieces, are_as_long_as_the_longest_snapshot_of_the_group_needs) {
  EXPECT_EQ(kept_bytes(parity_stripe, snapshot_sizes), 640U);
  EXPECT_EQ(kept_bytes(Stripe{{Rank{0}, Rank{2}}, {Rank{1}}}, snapshot_sizes), 640U) << "a holder's counts too";
  EXPECT_EQ(kept_bytes(copy_stripe, snapshot_sizes), 1280U);
}

TEST(Encode, leaves_out_what_short_snapshots_do_not_have) {
  const auto whole = encode(parity_stripe, 0, snapshot_sizes);
  ASSERT_EQ(whole.sources.size(), 2U);
  EXPECT_EQ(whole.sources[1].offset, 640U);
  EXPECT_EQ(whole.sources[1].length, 60U);
  const auto end = encode(parity_stripe, 0, snapshot_sizes, {100, 200});
  ASSERT_EQ(end.sources.size(), 1U);
  EXPECT_EQ(end.sources[0].offset, 100U);
  EXPECT_EQ(end.sources[0].length, 100U);
  EXPECT_EQ(end.whole, 640U);
}

TEST(StaleRanges, of_a_parity_are_all_when_anybody_packed_anew) {
  const std::vector<Changes> changes{only({}), only({}), only({})};
  EXPECT_THAT(stale_ranges(parity_stripe, snapshot_sizes, changes), IsEmpty());
  for (std::size_t rank = 0; rank < 3; ++rank) {
    auto one_new = changes;
    one_new[rank].everything = true;
    EXPECT_THAT(stale_ranges(parity_stripe, snapshot_sizes, one_new), ElementsAre(ByteRange{0, 640}));
  }
}

TEST(StaleRanges, of_a_copy_are_all_when_its_owner_packed_anew_and_not_when_a_holder_did) {
  for (std::size_t rank = 0; rank < 3; ++rank) {
    std::vector<Changes> one_new{only({}), only({{0, 64}}), only({})};
    one_new[rank].everything = true;
    const ByteRange expected = rank == 1 ? ByteRange{0, 1280} : ByteRange{0, 64};
    EXPECT_THAT(stale_ranges(copy_stripe, snapshot_sizes, one_new), ElementsAre(expected)) << "rank " << rank;
  }
}

TEST(StaleRanges, are_all_when_a_holder_lacks_what_the_changes_apply_to) {
  for (std::size_t rank = 0; rank < 3; ++rank) {
    std::vector<Changes> one_lacks{only({}), only({{0, 64}}), only({})};
    one_lacks[rank].lacks_older_blocks = true;
    const ByteRange of_copy = rank == 1 ? ByteRange{0, 64} : ByteRange{0, 1280};  // rank 1 is the owner
    EXPECT_THAT(stale_ranges(copy_stripe, snapshot_sizes, one_lacks), ElementsAre(of_copy)) << "rank " << rank;
  }
  std::vector<Changes> holder_lacks{only({}), only({}), only({})};
  holder_lacks[0].lacks_older_blocks = true;
  EXPECT_THAT(stale_ranges(parity_stripe, snapshot_sizes, holder_lacks), ElementsAre(ByteRange{0, 640}));
}

TEST(StaleRanges, of_a_copy_are_what_has_changed) {
  const std::vector<Changes> changes{only({{0, 64}}), only({{0, 64}, {500, 600}}), only({})};
  EXPECT_THAT(stale_ranges(copy_stripe, snapshot_sizes, changes), ElementsAre(ByteRange{0, 64}, ByteRange{500, 600}));
}

TEST(StaleRanges, of_a_parity_are_the_pages_in_which_any_of_its_pieces_has_changed) {
  constexpr mend::ByteCount page = mend::page_bytes;
  const Sizes large{1000, 20 * page, 700};  // pieces of 10 pages
  // Piece 0 of rank 1 is its first 10 pages; piece 1 of rank 2 begins at its 11th.
  const std::vector<Changes> changes{only({{0, 1000}}),
                                     only({{page + 10, page + 20}, {5 * page, 6 * page}, {9 * page + 1, 15 * page}}),
                                     only({{0, 10}, {12 * page + 7, 13 * page + 1}})};
  EXPECT_THAT(stale_ranges(parity_stripe, large, changes),
              ElementsAre(ByteRange{page, 4 * page}, ByteRange{5 * page, 6 * page}, ByteRange{9 * page, 10 * page}));
  const std::vector<Changes> short_ones{only({}), only({{0, 64}}), only({})};
  EXPECT_THAT(stale_ranges(parity_stripe, snapshot_sizes, short_ones), ElementsAre(ByteRange{0, 640}));
}

TEST(Ranges, without_others_are_what_is_left) {
  const std::vector<ByteRange> ranges{{0, 10}, {20, 30}, {40, 50}, {60, 70}};
  EXPECT_THAT(mend::without(ranges, std::vector<ByteRange>{}), testing::ElementsAreArray(ranges));
  EXPECT_THAT(mend::without(ranges, ranges), IsEmpty());
  EXPECT_THAT(mend::without(ranges, std::vector<ByteRange>{{5, 25}, {27, 28}, {40, 45}, {66, 100}}),
              ElementsAre(ByteRange{0, 5}, ByteRange{25, 27}, ByteRange{28, 30}, ByteRange{45, 50}, ByteRange{60, 66}));
}

}  // namespace
