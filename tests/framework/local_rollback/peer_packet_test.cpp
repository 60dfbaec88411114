#include "framework/local_rollback/peer_packet.hpp"

#include <gmock/gmock.h>

namespace mend {
namespace {

PeerPacket full_packet() {
  PeerPacket packet;
  packet.state = {.phase = 1,
                  .standing = PeerState::Standing::replays,
                  .refuses = true,
                  .receives_from_any = true,
                  .version = Version{7},
                  .steps = 3,
                  .kept = 2,
                  .logged = std::uint64_t{5} << 40U,
                  .log_limit = 1000,
                  .log_of_setup = 11,
                  .log_pacing = {12, 13, 2},
                  .next_number = 14,
                  .begun = {15, 16},
                  .again = {{1, 17}, {2, 18}},
                  .nodes = {4, 4, 9, 9}};
  packet.recipes = {{1, {0, 1, 2, 3}, {{2, 0}, {3, 1}}, {{1, 2}, {0, 1}, {}, {}, {}}},
                    {7, {2, 0}, {{2}}, {{}, {}, {1, 2}, {1, 0}, {{1, 1, 0, 5, 0}, {0, 0, 0}}}}};
  packet.receipts = {1, {{{2, -3, 4, 5}}, {{6, 7, 8, 9}, {10, 11, 12, ~std::uint64_t{0}}}}};
  return packet;
}

TEST(PeerPacket, is_the_same_after_it_was_sent) {
  EXPECT_EQ(PeerPacket::from(full_packet().words()), full_packet());
  EXPECT_EQ(PeerPacket::from(PeerPacket{}.words()), PeerPacket{});
}

TEST(PeerPacketDeathTest, that_breaks_off_or_claims_a_long_list_ends_the_process) {
  std::vector<std::uint64_t> words = PeerPacket{}.words();
  words.back() = 1;  // the number of phases
  EXPECT_DEATH(PeerPacket::from(words), "a packet has all words of its lists");
  words.pop_back();
  EXPECT_DEATH(PeerPacket::from(words), "a packet has all words of its parts");
}

}  // namespace
}  // namespace mend
