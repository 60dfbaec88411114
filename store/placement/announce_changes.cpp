#include "store/placement/announce_changes.hpp"

#include "transport/requests.hpp"

#include <cstdint>
#include <set>

namespace mend {
namespace {

constexpr int tag = 2;  // exchanges use other tags (store/placement/member_groups.cpp)

struct Announcement {
  std::uint64_t size = 0;
  std::uint64_t ranges = 0;  ///< the number of ranges that follow; 0: everything has changed
  std::uint64_t lacks_older_blocks = 0;
};

std::size_t index_of(Rank rank) { return static_cast<std::size_t>(rank.value); }

/// Returns all ranks that have a part in one of these stripes, except `self`.
std::set<Rank> peers_in(std::span<const Stripe> stripes, Rank self) {
  std::set<Rank> peers;
  for (const Stripe& stripe : stripes) {
    peers.insert(stripe.owners.begin(), stripe.owners.end());
    peers.insert(stripe.holders.begin(), stripe.holders.end());
  }
  peers.erase(self);
  return peers;
}

}  // namespace

std::vector<Changes> announce_changes(std::span<const Stripe> stripes, MPI_Comm comm, Changes mine, Sizes& sizes) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const Rank self{rank};
  const std::set<Rank> peers = peers_in(stripes, self);
  std::vector<Announcement> announced(sizes.size());
  std::vector<Changes> changes(sizes.size());
  announced[index_of(self)] = {sizes[index_of(self)], mine.everything ? 0 : mine.ranges.size(),
                               mine.lacks_older_blocks ? 1U : 0U};
  changes[index_of(self)] = std::move(mine);
  const Changes& own = changes[index_of(self)];

  Requests requests(comm);
  for (const Rank peer : peers) {
    requests.receive(std::as_writable_bytes(std::span(&announced[index_of(peer)], 1)), peer.value, tag);
    requests.send(std::as_bytes(std::span(&announced[index_of(self)], 1)), peer.value, tag);
  }
  requests.wait_all();
  for (const Rank peer : peers) {
    sizes[index_of(peer)] = announced[index_of(peer)].size;
    Changes& theirs = changes[index_of(peer)];
    theirs.ranges.resize(announced[index_of(peer)].ranges);
    theirs.everything = theirs.ranges.empty();
    theirs.lacks_older_blocks = announced[index_of(peer)].lacks_older_blocks != 0;
    if (!theirs.everything) requests.receive(std::as_writable_bytes(std::span(theirs.ranges)), peer.value, tag);
    if (!own.everything) requests.send(std::as_bytes(std::span(own.ranges)), peer.value, tag);
  }
  requests.wait_all();
  return changes;
}

}  // namespace mend
