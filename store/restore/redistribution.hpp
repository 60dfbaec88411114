// Arrays for other ranks than had them when they were committed: fewer, because some have died and nobody took their
// place, or more.
//
// What each rank has of an array is known (store/array_part.hpp), of then and of now; so is who keeps a copy of whose
// snapshot. From that every rank computes the same plan: who sends which box of elements to whom. What a rank keeps
// itself, it does not ask for; all else is asked of all who keep it, in turn, so that many serve those who need much
// (the idea of ReStore: Hespe, Huebner, Sanders, Stamatakis: ReStore, in-memory replicated storage for rapid recovery
// in fault-tolerant algorithms, FTXS 2022).

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
  Rank owner;  ///< a rank of then; the others are of now
  Rank to;
  std::string name;
  Overlap what;  ///< the owner's part first, then that of `to`
  bool operator==(const Transfer&) const = default;
};

/// By rank of then: whose copies of its snapshot are whole, as ranks of now. None may be empty.
using Keepers = std::vector<std::vector<Rank>>;

/// All that is to be sent. `stored`: the parts by rank of then, `wanted`: by rank of now. What is larger than `slab` is
/// asked of several keepers if there are. Pure: every rank computes the same. Throws UsageError when some rank wants an
/// array that there was not, or another one of that name, or elements that were no rank's.
std::vector<Transfer> plan_redistribution(const std::vector<Parts>& stored, const Keepers& keepers,
                                          const std::vector<Parts>& wanted, ByteCount slab = ByteCount{256} << 10);

/// The snapshot of a rank of then, which this process keeps.
using FindSnapshot = std::function<std::span<const std::byte>(Rank owner)>;

/// Fills those of `members` that are parts of arrays, out of the snapshots of ranks of then. Collective over `comm`.
/// Throws what plan_redistribution throws, on all ranks alike; ProcessFailure, EnvironmentError. Returns the names of
/// all arrays that there are.
std::set<std::string, std::less<>> redistribute(MPI_Comm comm, const Keepers& keepers, const FindSnapshot& find,
                                                const Members& members);

}  // namespace mend
