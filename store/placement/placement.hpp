// Who keeps what: the stripes of a job.
//
// With copies, a stripe is one rank's snapshot and the ranks that hold copies of it. With groups, it is one piece of
// the snapshot of each of several members, and the other members of the group, which keep its parity. In a group of
// n that keeps m parities there are n stripes, each beginning at another member, so that work and memory are even:
//
//   group 0 1 2 3, xor:4      keeper  owners, whose pieces 0, 1, 2 these are
//                    stripe 0    0       1   2   3
//                    stripe 1    1       2   3   0
//                    stripe 2    2       3   0   1
//                    stripe 3    3       0   1   2

#pragma once

#include "base/ids.hpp"
#include "store/redundancy.hpp"

#include <set>
#include <span>
#include <vector>

namespace mend {

struct Stripe {
  std::vector<Rank> owners;   ///< piece i is of owners[i]'s snapshot, cut into as many pieces as there are owners
  std::vector<Rank> keepers;  ///< keepers[j] keeps parity j; of a single owner's stripe, a copy
  bool operator==(const Stripe&) const = default;
};

/// The stripes of a job whose rank r runs on `nodes[r]`. Pure: the same on every rank.
///
/// Copies are on other nodes than their owner's, and each other's, as far as there are such; each rank holds as few as
/// that allows. The members of a group are on different nodes unless a node has more ranks than there are groups. A
/// single rank's stripe has no keepers.
std::vector<Stripe> place(const Redundancy& redundancy, std::span<const NodeId> nodes);

/// Whose data is lost when the ranks of `dead` lose all they have, snapshots and parities. Pure.
std::set<Rank> lost_with(const std::set<Rank>& dead, std::span<const Stripe> stripes);

}  // namespace mend
