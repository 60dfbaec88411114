#include "transport/collectives.hpp"

#include "tests/support/world.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using support::world_rank;
using support::world_size;

TEST(LowestRankWith, is_the_first_that_has_it_on_every_rank) {
  for (int first = 0; first < world_size(); ++first) {
    EXPECT_EQ(mend::lowest_rank_with(MPI_COMM_WORLD, world_rank() >= first), first);
  }
  EXPECT_EQ(mend::lowest_rank_with(MPI_COMM_WORLD, false), std::nullopt);
}

TEST(GatherPadded, has_everyones_values_at_one_length) {
  const auto own = static_cast<std::size_t>(world_rank());
  const auto gathered = mend::gather_padded(MPI_COMM_WORLD, std::vector<std::uint64_t>(own, own), std::uint64_t{77});
  ASSERT_EQ(gathered.length, static_cast<std::size_t>(world_size() - 1));
  for (int rank = 0; rank < world_size(); ++rank) {
    const auto of_rank = gathered.of(rank);
    for (std::size_t i = 0; i < gathered.length; ++i) {
      EXPECT_EQ(of_rank[i], i < static_cast<std::size_t>(rank) ? static_cast<std::uint64_t>(rank) : 77U);
    }
  }
}

TEST(GatherTexts, has_everyones_text_with_padding_behind_it) {
  const auto texts = mend::gather_texts(MPI_COMM_WORLD, std::string(static_cast<std::size_t>(world_rank()), 'x'), '.');
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(world_size()));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    EXPECT_EQ(texts[rank], std::string(rank, 'x') + std::string(texts.size() - 1 - rank, '.'));
  }
}

TEST(BroadcastBytes, gives_all_ranks_the_bytes_of_one_whatever_they_had) {
  const int root = world_size() - 1;
  std::string text =
      world_rank() == root ? "from the last rank" : std::string(static_cast<std::size_t>(world_rank()), 'x');
  mend::broadcast_bytes(MPI_COMM_WORLD, root, text);
  EXPECT_EQ(text, "from the last rank");
  std::string nothing = world_rank() == root ? "" : "something";
  mend::broadcast_bytes(MPI_COMM_WORLD, root, nothing);
  EXPECT_TRUE(nothing.empty());
}

TEST(ShrinkUntilAgreed, tries_again_until_nobody_has_failed) {
  int attempts = 0;
  const mend::Communicator living = mend::shrink_until_agreed(MPI_COMM_WORLD, [&](MPI_Comm shrunk) {
    int size = 0;
    MPI_Comm_size(shrunk, &size);
    EXPECT_EQ(size, world_size());
    return ++attempts > 1 || world_rank() != world_size() - 1;  // the first time, the last rank fails
  });
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(living.size(), world_size());
  const mend::Communicator none = mend::shrink_until_agreed(MPI_COMM_WORLD, [](MPI_Comm) { return false; });
  EXPECT_FALSE(none);
}

}  // namespace
