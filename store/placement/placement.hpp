// The stripes of a job. They determine which ranks keep the redundancy of which snapshots.
//
// With copies, a stripe is one rank's snapshot and the ranks that hold copies of it. With groups, it is one piece of
// the snapshot of each of several members, and the other members of the group, which keep its parity. In a group of n
// that keeps m parities there are n stripes, each beginning at another member, so that work and memory are evenly
// distributed:
//
//   group 0 1 2 3, xor:4      holder  owners, whose pieces 0, 1, 2 these are
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
  std::vector<Rank> owners;   ///< piece i is from the snapshot of owners[i], which is cut into as many pieces as there
                              ///< are owners
  std::vector<Rank> holders;  ///< holders[j] keeps parity j; if there is one owner, a copy of its snapshot
  bool operator==(const Stripe&) const = default;
};

/// Returns the stripes of a job whose rank r runs on `nodes[r]`. Pure: the same on every rank.
///
/// As far as there are enough nodes, the copies of a snapshot are on other nodes than its owner and than each other,
/// and each rank holds as few copies as that allows. The members of a group are on different nodes unless a node has
/// more ranks than there are groups. If there is one rank, its stripe has no holders.
std::vector<Stripe> place(const Redundancy& redundancy, std::span<const NodeId> nodes);

/// Returns the ranks whose data is lost if the ranks of `dead` lose all their snapshots and parities. Pure.
std::set<Rank> lost_with(const std::set<Rank>& dead, std::span<const Stripe> stripes);

}  // namespace mend
