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
#include "store/disk/disk_tier.hpp"
#include "store/member.hpp"
#include "store/placement/member_group.hpp"
#include "store/redundancy.hpp"
#include "store/restore/joint_plan.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/store.hpp"

#include <mpi.h>

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

class StoreEngine final : public Store {
 public:
  /// How members are made redundant that do not say so themselves, and how many versions are kept (2 or more). The same
  /// on all ranks. `disk`: where every N-th commit is written to disk, too. `how` commits find what has changed.
  explicit StoreEngine(Redundancy redundancy = {}, int versions = 2,
                       const std::optional<DiskOptions>& disk = std::nullopt, FindChanges how = FindChanges::by_hash)
      : redundancy_(redundancy), versions_(versions), find_changes_(how), in_use_{redundancy}, used_here_{redundancy} {
    groups_.try_emplace(redundancy_, redundancy_, versions_, find_changes_);
    if (disk) disk_ = std::make_unique<DiskTier>(*disk);
  }

  // What the application calls: store/store.hpp.
  using Store::protect;
  using Store::restore;
  using Store::restore_from;
  void protect(std::string_view name, std::unique_ptr<Member> member) override {
    protect(name, std::move(member), redundancy_);
  }
  void protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) override;
  void unprotect(std::string_view name) override;
  Version commit() override;
  void commit_async() override;
  Version finish_commit() override;
  void finish_disk() override;
  Version restore() override;
  Version restore(Version wanted) override;
  Version restore_from(Rank from) override;
  Version restore_others() override;
  Version version() const override { return published_; }
  KeptVersions versions() const override;
  bool has_version() const override {
    return published_ != Version{} && !ranks_may_differ_ && !members_differ_ && !has_committed_by_others();
  }
  Origin restored_from() const override { return origin_; }
  const StoreStatistics& statistics() const override { return statistics_; }

  // What the framework calls.

  /// Starts an epoch: the ranks of `comm` (whose errors are thrown) decide by `ballot`, and `nodes[r]` is where rank
  /// r runs. `numbers[r]`: what the application calls rank r, if not that (Session::rank). Local. Both must outlive the
  /// epoch.
  void begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch,
                   std::span<const Rank> numbers = {});
  /// Has `listener` called whenever a commit has been published. Local.
  void on_commit(std::function<void()> listener) { commit_listener_ = std::move(listener); }
  /// This rank was told that there is version `announced`, or a newer one: should nobody else know of any, it is lost.
  /// Local.
  void hear(Version announced) { announced_ = announced; }
  /// Of the blocks that this rank keeps of the newest version, its own and others'. Local.
  std::vector<ByteCount> block_sizes() const;
  /// The job is over: whoever commits or restores all the same gets agreement::Abandoned. Local.
  void end() {
    end_epoch();
    ballot_ = nullptr;
    if (disk_) disk_->wait();
  }
  /// Before the job ends for want of ranks: writes the newest version that can be had to disk, of all ranks that have
  /// committed it; if there is a disk, and it is not there yet. Collective over the ranks that are left. Throws
  /// ProcessFailure.
  void save_what_is_left();
  /// Forgets all snapshots, so that nobody is given anything of them. Local; on all ranks.
  void forget_everything() {
    forget_newer(Version{});
    committed_by_ = 0;
  }
  /// Forgets the protected members, keeps the snapshots. Local.
  void forget_members();

  /// What is committed from now on is provisional, until commit_and_let_go() or let_go(): a failure takes it back to
  /// version(), which is kept as long, and nothing of it goes to disk. These may be nested; what is inside another is
  /// its part. Local; on all ranks.
  void hold();
  void let_go();
  /// Whether there is such. Local.
  bool holds() const { return !held_.empty(); }
  /// The last commit of such, with which it holds. Collective.
  Version commit_and_let_go();
  /// Ends such: there is no version any more that was committed since. Members are left as they are. Collective.
  void drop_provisional();

  /// Lets go of a commit that is under way, and with it of the epoch's communicator. Local; before that is freed.
  void end_epoch();

 private:
  agreement::Remarks meet_for(agreement::Motion motion);
  std::exception_ptr prepare_members();
  void catch_up_with_survivors();
  template <class Work>
  auto whole(Work work);
  template <class Work>
  auto as_of_then(Work work);
  void note_replaced(std::string_view name, const Member& known, const Member& wanted);
  void require_nothing_replaced() const;
  void agree_on_groups();
  void agree_on_arrays();
  void require_one_array_each(const std::vector<std::vector<std::string>>& arrays) const;
  std::vector<std::vector<std::string>> gather_lines(std::string mine) const;
  void add_group(Redundancy redundancy);
  std::set<Redundancy> groups_with_members() const;
  void for_each_group(const std::function<void(MemberGroup& group, int tag)>& work);
  void for_each_planned(const JointPlan& plan,
                        const std::function<void(MemberGroup& group, int tag, const GatheringPlan& plan)>& work);
  bool has_committed_by_others() const { return committed_by_ != 0 && committed_by_ != ranks(); }
  JointPlan make_plan(std::optional<Version> wanted);
  JointPlan plan_undamaged(std::optional<Version> wanted);
  bool is_undamaged(const JointPlan& plan);
  bool is_so_anywhere(bool here) const;
  Rank find_rank(Rank asked_for) const;
  [[noreturn]] void refuse_commit(std::exception_ptr problem) const;
  Version restore_version(std::optional<Version> wanted);
  Version restore_what_is_planned(std::optional<Version> wanted);
  bool restore_from_memory(const JointPlan& plan);
  Version restore_of_other_ranks(const JointPlan& plan);
  void bring_back(const JointPlan& plan);
  void protect_again(const JointPlan& plan);
  void require_all_committed(const JointPlan& plan, std::exception_ptr& problem);
  Version has_gone_back_to(Version version, Stopwatch watch);
  Version restore_from_disk(std::optional<Version> wanted, const JointPlan& plan);
  std::string describe_total_loss(std::string_view consequence) const;
  void confirm(std::exception_ptr problem);
  void forget_newer(Version newest);
  void note_sizes();
  int ranks() const { return static_cast<int>(nodes_.size()); }

  Redundancy redundancy_;
  int versions_;
  FindChanges find_changes_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  agreement::Ballot* ballot_ = nullptr;
  Rank self_{};
  std::vector<NodeId> nodes_;
  std::vector<Rank> numbers_;
  bool is_first_epoch_ = true;
  int committed_by_ = 0;           // so many ranks: what is in the version slots; 0: nothing is, or this is a newcomer
  bool ranks_may_differ_ = false;  // a newcomer may not know the published version yet
  bool keeps_members_ = false;     // in the restore that is under way
  bool members_differ_ =
      false;  // some rank's may hold something else than the newest version, as a restore has left them
  bool arrays_may_differ_ = true;   // this rank has members that the others may take for parts of other arrays
  std::string replaced_;            // a name under which two objects were protected before anything was restored
  bool groups_may_differ_ = false;  // some rank may have a group that others do not know yet
  Version published_{};
  Version announced_{};  // what this rank was told of
  Version settled_{};    // what is newer has been placed where it lies in this epoch, by commits alone
  Members members_;      // of all groups
  std::map<Redundancy, MemberGroup> groups_;
  std::set<Redundancy> in_use_;     // the groups that have members on any rank, as was last agreed on
  std::set<Redundancy> used_here_;  // those that had members on this rank then
  StoreStatistics statistics_;
  std::unique_ptr<DiskTier> disk_;  // if there is one
  Origin origin_ = Origin::nowhere;
  std::function<void()> commit_listener_;
  std::exception_ptr commit_problem_;  // this rank could not pack what it has for the commit that is under way
  std::vector<Version> held_;          // newer versions than the first are provisional
  bool lets_go_ = false;               // the commit under way ends the last of them
};

}  // namespace mend
