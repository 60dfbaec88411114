// Restores arrays to another number of ranks than at the commit: fewer, because ranks have died and were not replaced,
// or more.
//
// Here, an owner is a rank of the job that committed the version; all other ranks are present ranks. Each owner's part
// of an array is known (store/array_part.hpp), and so are each present rank's part and the holders of each owner's
// snapshot. From these facts every rank computes the same plan: which rank sends which box of elements to which rank. A
// rank takes the boxes that it keeps itself without a message. The other boxes are divided among all holders, so that
// many ranks send to a rank that needs many elements (the idea of ReStore: Hespe, Huebner, Sanders, Stamatakis:
// ReStore, in-memory replicated storage for rapid recovery in fault-tolerant algorithms, FTXS 2022).

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/part_boxes.hpp"
#include "store/snapshot/snapshot.hpp"

#include <mpi.h>

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// A box of elements of member `name`: `from` has it in the snapshot of `owner`, and `to` needs it.
struct Transfer {
  Rank from;
  Rank owner;
  Rank to;
  std::string name;
  Overlap what;  ///< the owner's part first, then that of `to`
  bool operator==(const Transfer&) const = default;
};

/// By owner: the present ranks that have an undamaged copy of its snapshot. None may be empty.
using Holders = std::vector<std::vector<Rank>>;

/// Returns all transfers. `stored`: the parts by owner; `wanted`: the parts by present rank. Boxes larger than `slab`
/// are divided among the holders. Pure: every rank computes the same. Throws UsageError if a rank wants an array that
/// was not committed, another array of the same name, or elements that belonged to no owner.
std::vector<Transfer> plan_redistribution(const std::vector<Parts>& stored, const Holders& holders,
                                          const std::vector<Parts>& wanted, ByteCount slab = ByteCount{256} << 10);

/// Returns the snapshot of `owner`, which this process keeps.
using FindSnapshot = std::function<std::span<const std::byte>(Rank owner)>;

/// Fills the members that are parts of arrays from the owners' snapshots. Returns the names of all committed arrays;
/// nothing, and fills no member, if data for this rank came damaged. Collective over `comm`. Throws ProcessFailure,
/// EnvironmentError, and, on all ranks alike, the errors of plan_redistribution.
std::optional<std::set<std::string, std::less<>>> redistribute(MPI_Comm comm, const Holders& holders,
                                                               const FindSnapshot& find, const Members& members);

}  // namespace mend
