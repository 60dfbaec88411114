#include "replay/clusters/clusters.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mend::replay {
namespace {

using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

Clusters from_file(const std::string& text, int ranks) {
  return clusters_from(read_cluster_lines(text, "f"), ranks, "f");
}

TEST(ClustersOfRanks, are_blocks_of_almost_equal_size) {
  EXPECT_THAT(blocks_of_ranks(4, 2), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(blocks_of_ranks(7, 3), ElementsAre(0, 0, 0, 1, 1, 2, 2));
  EXPECT_THAT(blocks_of_ranks(3, 1), ElementsAre(0, 0, 0));
  EXPECT_EQ(blocks_of_ranks(3, 3), single_ranks(3));
}

TEST(ClustersOfRanks, are_refused_if_there_are_none_or_more_than_ranks) {
  for (const int count : {0, 4}) EXPECT_THROW(blocks_of_ranks(3, count), UsageError);
}

TEST(ClustersOfRanks, are_those_of_a_node) {
  const std::vector<NodeId> nodes{{7}, {3}, {7}, {4}};
  EXPECT_THAT(ranks_of_nodes(nodes), ElementsAre(0, 1, 0, 2));
}

TEST(ClustersOfRanks, are_read_from_lines) {
  EXPECT_THAT(from_file("# two\n 3 , 1-2 # and\n\n0\n", 4), ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(to_string(from_file("0-2,5\r\n3,4", 6)), "0-2,5 | 3-4");
}

class BadLines : public testing::TestWithParam<std::pair<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(
    ClustersOfRanks, BadLines,
    testing::Values(std::pair{"", "f names no rank: give a line for each cluster"},
                    std::pair{"0\n1,x\n", "f, line 2: 'x' is neither a rank nor a range of ranks, as in \"0-3, 8\""},
                    std::pair{"0,,1", "f, line 1: '' is neither a rank nor a range of ranks, as in \"0-3, 8\""},
                    std::pair{"2-0", "f, line 1: '2-0' is neither a rank nor a range of ranks, as in \"0-3, 8\""},
                    std::pair{"0-2\n2", "f, line 2: rank 2 is already in line 1"},
                    std::pair{"0-3", "f names rank 3, but the job has the ranks 0 to 2"},
                    std::pair{"0,2", "f does not name rank 1: each rank is in one cluster"}));

TEST_P(BadLines, are_refused_in_a_sentence) {
  EXPECT_THAT([] { from_file(GetParam().first, 3); }, ThrowsMessage<UsageError>(StrEq(GetParam().second)));
}

TEST(LivesOfACluster, that_differ_send_those_back_that_have_one) {
  const Clusters clusters{0, 0, 0, 1, 1, 2};
  const auto rolls_back = [&](const std::vector<Life>& lives) { return survivors_that_roll_back(lives, clusters); };
  EXPECT_THAT(rolls_back({3, 3, 3, 0, 0, 5}), ElementsAre(false, false, false, false, false, false));
  EXPECT_THAT(rolls_back({3, {}, 3, 0, 0, {}}), ElementsAre(true, false, true, false, false, false));
  EXPECT_THAT(rolls_back({3, 3, 3, 1, 2, 5}), ElementsAre(false, false, false, true, true, false));
  EXPECT_THAT(rolls_back({{}, {}, {}, {}, {}, {}}), ElementsAre(false, false, false, false, false, false));
}

}  // namespace
}  // namespace mend::replay
