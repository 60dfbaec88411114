// The diskless store: commit and restore of protected data in the memory of the job itself.
//
// Picture a rank's protected members packed into one block of bytes, a snapshot. A commit packs a new one, hands a
// copy to a partner rank (on another node where there is one), and asks everyone: did it work? Only when all say yes
// is the new version published, and only then is the version before the last forgotten. So at any moment, whoever
// dies, there is one complete published version among the living, as long as no rank dies together with its partner.
//
//   rank          0        1        2        3
//   own          [0]      [1]      [2]      [3]
//   held for      3        0        1        2          holder of rank r: r+1, wrapping round
//
// After a failure, newcomers hold nothing. restore() finds the newest version of which every rank's snapshot is
// still somewhere, brings each newcomer its own, rebuilds the copies that died with the dead, and unpacks.

#pragma once

#include "agreement/ballot.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "store/member.hpp"
#include "store/restore_plan.hpp"
#include "store/snapshot.hpp"

#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// What commits and restores have cost this process so far.
struct StoreStatistics {
  std::uint64_t commits = 0;
  std::uint64_t restores = 0;
  ByteCount snapshot_bytes = 0;  ///< the newest snapshot of this rank
  ByteCount memory_bytes = 0;    ///< all buffers of the store in this process
  Seconds commit_time{};         ///< summed over commits
  Seconds restore_time{};
};

class Store {
 public:
  Store() = default;

  /// Protects `object` under `name`: commits save it, restores fill it. Local. The object must outlive the body of
  /// mend::run (a View is kept alive by the store). Protecting a name again replaces the object, as re-entering the
  /// body does. Throws UsageError for an empty name.
  template <class T>
    requires Protectable<std::remove_cvref_t<T>>
  void protect(std::string_view name, T&& object) {
    using Object = std::remove_cvref_t<T>;
    static_assert(std::is_lvalue_reference_v<T> || detail::refers_to_its_data<Object>,
                  "protect an object that lives as long as the body, not a temporary");
    protect(name, MemberOf<Object>::make(object));
  }
  void protect(std::string_view name, std::unique_ptr<Member> member);

  /// Saves every protected member of every rank as a new version. Collective over the session's ranks. When it
  /// returns, the version survives the death of any rank whose holder lives, on every rank; when it throws
  /// ProcessFailure, the commit has happened on no rank. Returns the new version.
  Version commit();

  /// Fills the protected members from the newest version that every rank can have, and makes it redundant again.
  /// Collective over the session's ranks. Returns that version, or Version{0} when nothing was ever committed (the
  /// members are then left alone). Throws DataLoss on every rank when a committed version existed but some rank's
  /// snapshot is gone, and UsageError when a member's shape is not the committed one.
  Version restore();

  /// The newest version committed or restored; Version{0} before the first.
  Version version() const { return published_; }

  const StoreStatistics& statistics() const { return statistics_; }

  // --- for the framework -------------------------------------------------------------------------------------

  /// Starts an epoch: the ranks of `comm` (whose errors are thrown) decide by `ballot`, and `nodes[r]` is where rank
  /// r runs. Local. Both must outlive the epoch.
  void begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch);
  /// Forgets the protected members, keeps the snapshots. Local.
  void forget_members() { members_.clear(); }

 private:
  /// The two snapshots this process has of one rank: the published one and the one before or in the making.
  struct Shelf {
    std::array<Snapshot, 2> slots;
    Snapshot& slot_for(Version version) { return slots[version.value % 2]; }
  };

  void meet_for(agreement::Motion motion);
  bool holds_for(Rank owner) const;
  void exchange_copies(Version version);
  void publish(Version version);
  void forget_damaged();
  std::vector<Holding> gather_inventory();
  void fetch(const RestorePlan& plan);
  void forget_all_but(Version version);
  void catch_up_with_survivors();
  void update_memory_statistics();

  MPI_Comm comm_ = MPI_COMM_NULL;
  agreement::Ballot* ballot_ = nullptr;
  Rank self_{};
  std::vector<std::optional<Rank>> holders_;  // by owner
  bool ranks_may_differ_ = false;             // a newcomer may not know the published version yet
  Version published_{};
  Members members_;
  std::map<Rank, Shelf> shelves_;  // by owner: this rank's own, and those it holds for others
  StoreStatistics statistics_;
};

}  // namespace mend
