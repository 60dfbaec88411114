// The store behind its public face (store/store.hpp), as the framework drives it from epoch to epoch.
//
// Picture a rank's protected members packed into one block of bytes, a snapshot. A commit packs a new one, has other
// ranks keep a copy of it, or parities of its pieces (store/redundancy.hpp), and asks everyone: did it work? Only when
// all say yes is the new version published, and only then may the oldest one be overwritten. So at any moment, whoever
// dies, there is one complete published version among the living, as long as no more die than the redundancy survives.
//
//   rank          0        1        2        3          redundancy: partner
//   own          [0]      [1]      [2]      [3]
//   held for      3        0        1        2          holder of rank r: r+1, wrapping round
//
// After a failure, newcomers hold nothing. restore() finds the newest version at which every rank's snapshot is still
// somewhere or can be rebuilt, brings each newcomer its own, unpacks, and makes again what died with the dead.
//
// Members may have redundancies of their own: those that have the same one are a group
// (store/placement/member_group.hpp), and each group has snapshots of its own. Versions are common to all groups: each
// is published, and restored, in all or in none.
//
// A snapshot is packed over the one that had its slot before, and only pages that differ from that are copied and sent.
// That needs both sides to have that older one as it was committed, so the first commits after a failure are whole.

#pragma once

#include "agreement/ballot.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "store/array_agreement.hpp"
#include "store/commit_point.hpp"
#include "store/disk/disk_tier.hpp"
#include "store/epoch_ranks.hpp"
#include "store/member.hpp"
#include "store/placement/member_groups.hpp"
#include "store/protected_members.hpp"
#include "store/redundancy.hpp"
#include "store/restore/restorer.hpp"
#include "store/store.hpp"
#include "store/versions/known_versions.hpp"
#include "store/versions/held_versions.hpp"

#include <mpi.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mend {

class StoreEngine final : public Store {
 public:
  /// How members are made redundant that do not say so themselves, and how many versions are kept (2 or more). The same
  /// on all ranks. `disk`: where every N-th commit is written to disk, too. `how` commits find what has changed.
  explicit StoreEngine(Redundancy redundancy = {}, int versions = 2,
                       const std::optional<DiskOptions>& disk = std::nullopt, FindChanges how = FindChanges::by_hash)
      : redundancy_(redundancy), groups_(redundancy, versions, how) {
    if (disk) disk_ = std::make_unique<DiskTier>(*disk);
  }

  // What the application calls: store/store.hpp.
  using Store::protect;
  using Store::replace;
  using Store::restore;
  using Store::restore_from;
  void protect(std::string_view name, std::unique_ptr<Member> member) override {
    protect(name, std::move(member), redundancy_);
  }
  void protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) override;
  void replace(std::string_view name, std::unique_ptr<Member> member) override;
  void unprotect(std::string_view name) override;
  Version commit() override;
  void commit_async() override;
  Version finish_commit() override;
  void finish_disk() override;
  Version restore() override;
  Version restore(Version wanted) override;
  Version restore_from(Rank from) override;
  Version restore_others() override;
  Version version() const override { return versions_.published(); }
  KeptVersions versions() const override;
  Origin restored_from() const override { return origin_; }
  const StoreStatistics& statistics() const override { return statistics_; }

  // What the framework calls.

  /// Whether restore() would bring back what the last commit or restore of this epoch has left, to the ranks that have
  /// committed it. Not so after a recovery and before the first of them, nor when some ranks have other data
  /// (restore_others, restore_from, or a restore that was refused). The same on all ranks. Local.
  bool has_version() const { return versions_.can_go_back(ranks_.count()); }
  /// Starts an epoch: the ranks of `comm` (whose errors are thrown) decide by `ballot`, and `nodes[r]` is where rank
  /// r runs. Local. `comm` and `ballot` must outlive the epoch.
  void begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch);
  /// Has `listener` called whenever a commit has been published. Local.
  void on_commit(std::function<void()> listener) { commit_listener_ = std::move(listener); }
  /// This rank was told that there is version `announced`, or a newer one: should nobody else know of any, it is lost.
  /// Local.
  void hear(Version announced) { versions_.hear(announced); }
  /// Of the blocks that this rank keeps of the newest version, its own and others'. Local.
  std::vector<ByteCount> block_sizes() const;
  /// The job is over: whoever commits or restores all the same gets agreement::Abandoned. Local.
  void end() {
    end_epoch();
    ranks_.ballot = nullptr;
    if (disk_) disk_->wait();
  }
  /// Before the job ends for want of ranks: writes the newest version that can be had to disk, of all ranks that have
  /// committed it; if there is a disk, and it is not there yet. Collective over the ranks that are left. Throws
  /// ProcessFailure.
  void save_what_is_left();
  /// Forgets all snapshots, so that nobody is given anything of them. Local; on all ranks.
  void forget_everything() {
    groups_.forget_newer(Version{});
    versions_.forget_memory();
  }
  /// Forgets the protected members, keeps the snapshots. Local.
  void forget_members();
  /// Throws UsageError if an object was protected too late to be given what was restored of its name. Local.
  void require_restored() const { members_.require_restored(); }

  /// Holds version(): commits after it are provisional until commit_and_let_go() or let_go(). A failure takes them
  /// back, and none of them is written to disk. Holds may be nested; an inner hold is part of the outer one. Local; on
  /// all ranks.
  void hold();
  void let_go();
  /// Returns true if any version is held. Local.
  bool holds() const { return held_.any(); }
  /// Makes the last commit of the innermost hold and ends that hold. Collective.
  Version commit_and_let_go();
  /// Ends the innermost hold and discards its commits. Their versions no longer exist; members keep their values.
  /// Collective.
  void drop_provisional();

  /// Lets go of a commit that is under way, and with it of the epoch's communicator. Local; before that is freed.
  void end_epoch();

 private:
  /// Whether a restore fills the members of this rank, or leaves them alone.
  enum class Fills { members, nothing };

  agreement::Remarks meet_for(agreement::Motion motion, agreement::Remarks mine);
  std::exception_ptr prepare_members();
  template <class Work>
  auto whole(Work work);
  Version restore_version(std::optional<Version> wanted, Fills what);
  Restorer restorer() { return {ranks_, versions_, members_.all(), groups_, disk_.get()}; }
  Version has_gone_back_to(Restorer::Restored restored, Fills what, Stopwatch watch);
  void take_back_provisional(Version version);
  void note_sizes();

  Redundancy redundancy_;
  EpochRanks ranks_;
  bool is_first_epoch_ = true;
  KnownVersions versions_;
  HeldVersions held_;
  ProtectedMembers members_;  // of all groups
  MemberGroups groups_;
  ArrayAgreement arrays_;
  std::optional<CommitUnderWay> commit_;
  StoreStatistics statistics_;
  std::unique_ptr<DiskTier> disk_;  // if there is one
  Origin origin_ = Origin::nowhere;
  std::function<void()> commit_listener_;
};

}  // namespace mend
