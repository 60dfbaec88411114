// The implementation of the store (store/store.hpp). The framework begins and ends its epochs.
//
// A rank's protected members are packed into one block of bytes, a snapshot. A commit packs a new snapshot, has other
// ranks keep a copy of it or parities of its pieces (store/redundancy.hpp), and asks all ranks whether that succeeded.
// The new version is published only if it succeeded on all ranks, and only then may the oldest one be overwritten. So
// as long as no more ranks die than the redundancy survives, the surviving ranks have one complete published version.
//
//   rank          0        1        2        3          redundancy: partner
//   own          [0]      [1]      [2]      [3]
//   held for      3        0        1        2          holder of rank r: r+1, wrapping round
//
// After a failure, newcomers have no data. restore() finds the newest version of which every rank's snapshot exists or
// can be rebuilt, sends each newcomer its snapshot, unpacks it, and makes the lost copies and parities again.
//
// Members may have different redundancies. Members with the same one are a group (store/placement/member_group.hpp),
// and each group has its own snapshots. Versions are common to all groups: each is published and restored in all
// groups, or in none.
//
// A snapshot is packed over the one that had its slot before, and only the pages that differ are copied and sent. Both
// sides need the older one as it was committed, so the first commits after a failure copy everything.

#pragma once

#include "agreement/ballot.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/telemetry/disk_use.hpp"
#include "base/telemetry/place.hpp"
#include "store/engine/array_agreement.hpp"
#include "store/engine/commit_point.hpp"
#include "store/disk/disk_tier.hpp"
#include "store/engine/epoch_ranks.hpp"
#include "store/member.hpp"
#include "store/placement/member_groups.hpp"
#include "store/engine/protected_members.hpp"
#include "store/redundancy.hpp"
#include "store/restore/restorer.hpp"
#include "store/store.hpp"
#include "store/versions/known_versions.hpp"
#include "store/versions/held_versions.hpp"

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mend {

/// Requests to a job from outside, which commits handle. Except for has_asked, the functions are called on all ranks.
struct OutsideAsker {
  /// Returns true if this rank has received a request. Local.
  std::function<bool()> has_asked;
  /// Called at a commit if any rank has received a request: the ranks tell each other the requests. Collective over
  /// `comm`, whose errors may be thrown.
  std::function<void(MPI_Comm comm)> tell;
  /// Called when that commit is published. `on_disk`: its version is complete on disk. May throw, on all ranks alike.
  std::function<void(Version version, bool on_disk)> committed;
};

class StoreEngine final : public Store {
 public:
  /// `redundancy`: of members that have none of their own. `versions`: how many are kept, 2 or more. `disk`: the folder
  /// to which every N-th commit is written, if any. `how`: how commits find changes. The same on all ranks.
  explicit StoreEngine(Redundancy redundancy = {}, int versions = 2,
                       const std::optional<DiskOptions>& disk = std::nullopt, FindChanges how = FindChanges::automatic)
      : redundancy_(redundancy), groups_(redundancy, versions, how) {
    if (disk) disk_ = std::make_unique<DiskTier>(*disk);
  }

  // Called by the application; see store/store.hpp.
  using Store::protect;
  using Store::replace;
  using Store::restore;
  using Store::restore_from;
  void protect(std::string_view name, std::unique_ptr<Member> member) override {
    protect(name, std::move(member), redundancy_);
  }
  void protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) override;
  File file(std::string_view name) override { return file(name, redundancy_); }
  File file(std::string_view name, Redundancy redundancy) override;
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
  Version version() const override {
    return holds_to_drop_ == 0 ? versions_.published() : held_.outermost_of_last(holds_to_drop_);
  }
  KeptVersions versions() const override;
  Origin restored_from() const override { return origin_; }
  const StoreStatistics& statistics() const override { return statistics_; }

  // Called by the framework.

  /// Completes an asynchronous commit, for which all ranks meet. If there is none, publishes the copies that have
  /// arrived since a restore, without waiting.
  void complete_pending();
  /// Returns true if this rank has all copies that it is to keep of the version that was restored last. Local.
  bool is_redundant() const { return !groups_.is_restoring_redundancy(); }
  /// Returns true if restore() on the ranks of the last commit or restore of this epoch would bring back the state
  /// after it. False after a recovery until the first commit or restore, and after some ranks have got other data
  /// (restore_others, restore_from, or a restore that was refused). The same on all ranks. Local.
  bool has_version() const { return versions_.can_go_back(ranks_.count()); }
  /// Returns true if the last commit or restore has all members of this rank, in their present shapes. Local.
  bool has_present_members() const { return layouts_so_far_ == layout_of_version_; }
  /// Restores as restore() does. Also gives every rank the next `older` versions that are kept, and makes them
  /// redundant again. The members keep the data of the newest version. Returns the versions that every rank has now,
  /// newest first; none if nothing was committed. Collective. Throws as restore().
  std::vector<Version> restore_with_older(int older);
  /// Returns the snapshot that the next commit takes, of the only member that this rank protects. That commit does not
  /// ask the member for its bytes, but takes the bytes that were written here. If this call begins the snapshot, the
  /// member has `bytes` bytes. Local. Valid until the commit is published, or the epoch ends.
  SnapshotInParts& pack_in_parts(ByteCount bytes) {
    return groups_.usual().pack_in_parts(versions_.next(), versions_.settled(), bytes);
  }
  /// Drops that snapshot. Local.
  void forget_parts() { groups_.usual().forget_parts(); }
  /// Allocates memory for future snapshots, which are expected to have about `bytes` bytes on this rank and on others.
  /// The kernel clears the memory now, and not in the first commits. Local.
  void reserve(ByteCount bytes) { groups_.usual().reserve(bytes); }
  /// Returns the bytes of the only member as this rank has committed it at `version`, which must be kept. They are part
  /// of the snapshot, and stay valid until the slot of that version is needed again. Local.
  std::span<const std::byte> packed_member(Version version);
  /// Starts an epoch: the ranks of `comm` (whose errors are thrown) decide by `ballot`, and `nodes[r]` is the node of
  /// rank r. Local. `comm` and `ballot` must outlive the epoch.
  void begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch);
  /// Calls `listener` after each commit that is published. Local.
  void on_commit(std::function<void()> listener) { commit_listener_ = std::move(listener); }
  /// Sets the requests from outside that commits handle, unless they are provisional. Local; on all ranks.
  void heed(OutsideAsker asker) { asker_ = std::move(asker); }
  /// Returns the newest version that this rank knows to be on disk. Local.
  Version version_on_disk() const { return disk_ ? disk_->newest() : Version{}; }
  /// Returns whether this rank writes versions to disk. Local.
  DiskUse disk_use() const {
    if (!disk_) return DiskUse::none;
    return disk_->is_given_up() ? DiskUse::given_up : DiskUse::writes;
  }
  /// Tells this rank that version `announced` or a newer one exists. If no rank has it, it is lost. Local.
  void hear(Version announced) { versions_.hear(announced); }
  /// Returns the sizes of the blocks that this rank keeps of the newest version, its own and others'. Local.
  std::vector<ByteCount> block_sizes() const;
  /// Ends the store with the job: commits and restores throw agreement::Abandoned from now on. Local.
  void end() {
    end_epoch();
    ranks_.ballot = nullptr;
    if (disk_) disk_->wait();
  }
  /// Before the job ends because ranks are missing: writes the newest version that can be rebuilt to disk, for all
  /// ranks that have committed it. Does nothing without a disk, or if the version is on it. Collective over the
  /// remaining ranks. Throws ProcessFailure.
  void save_what_is_left();
  /// Forgets all snapshots, so that no rank restores from them. Local; on all ranks.
  void forget_everything() {
    groups_.forget_newer(Version{});
    versions_.forget_memory();
  }
  /// Forgets the protected members, keeps the snapshots. Local.
  void forget_members();
  /// Throws UsageError if an object was protected after its name had been restored. Local.
  void require_restored() const { members_.require_restored(); }

  /// Holds version(): commits after it are provisional until commit_and_let_go() or let_go(). A failure takes them
  /// back, and none of them is written to disk. Holds may be nested; an inner hold is part of the outer one. Local; on
  /// all ranks.
  void hold();
  void let_go();
  /// Makes the last commit of the innermost hold and ends that hold. Collective.
  Version commit_and_let_go();
  /// Ends the innermost hold and discards its commits. Their versions no longer exist; members keep their values. If a
  /// commit is under way, the next collective call does so, after it has completed that commit. Local; on all ranks.
  void drop_provisional();

  /// Drops a commit that is under way. Must be called before the epoch's communicator is freed. Local.
  void end_epoch();

 private:
  /// The effect of a restore on this rank.
  enum class Fills { members, nothing };

  template <class Work>
  auto together(Place place, Work work);
  agreement::Remarks meet_for(agreement::Proposal proposal, agreement::Remarks mine);
  bool has_been_asked() const;
  bool demand(agreement::Remarks said);
  [[noreturn]] void refuse_lonely_restores();
  void begin_commit();
  CommitUnderWay pack_and_send();
  Version end_commit();
  Version publish_commit_under_way();
  void drop_hold();
  std::exception_ptr prepare_members();
  std::shared_ptr<FileMember> find_file(std::string_view name) const;
  template <class Work>
  auto whole(Work work);
  Version restore_version(std::optional<Version> wanted, Fills what);
  void roll_back_disk(const Restorer::Restored& restored, bool goes_back);
  Restorer restorer() { return {ranks_, versions_, members_.all(), groups_, disk_.get()}; }
  Version has_gone_back_to(Restorer::Restored restored, Fills what, Stopwatch watch);
  void note_restore_time(Seconds time, bool is_first);
  void take_back_provisional(Version version);
  void note_sizes();

  Redundancy redundancy_;
  EpochRanks ranks_;
  bool is_first_epoch_ = true;
  KnownVersions versions_;
  HeldVersions held_;
  ProtectedMembers members_;             // of all groups
  std::uint64_t layouts_so_far_ = 0;     // how often a member came to be there, or changed its shape or redundancy
  std::uint64_t layout_of_version_ = 0;  // at the last commit or restore
  MemberGroups groups_;
  ArrayAgreement arrays_;
  std::optional<CommitUnderWay> commit_;
  int holds_to_drop_ = 0;    // when that commit has been completed
  int lonely_restores_ = 0;  // calls of restore() since the last ballot that had nothing to restore and needed no
                             // ballot
  StoreStatistics statistics_;
  std::unique_ptr<DiskTier> disk_;  // if there is one
  Origin origin_ = Origin::nowhere;
  std::function<void()> commit_listener_;
  OutsideAsker asker_;
};

}  // namespace mend
