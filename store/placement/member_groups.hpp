// All groups of members of a store: one for each redundancy with which any rank protects members.
//
// A group is made on the rank where a member is first protected with its redundancy, and the other ranks learn of it
// before it is used. So at a commit or a restore all ranks have the same groups, in the same order.

#pragma once

#include "store/engine/epoch_ranks.hpp"
#include "store/placement/member_group.hpp"
#include "store/restore/joint_plan.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

class MemberGroups {
 public:
  using Names = std::set<std::string, std::less<>>;

  /// `usual`: the redundancy of members that have none of their own. `versions`: how many are kept.
  MemberGroups(Redundancy usual, int versions, FindChanges how);

  /// `has_newcomers`: some ranks do not know the groups of the others. Local.
  void begin_epoch(const EpochRanks& ranks, bool has_newcomers);
  /// See MemberGroup. Local.
  void end_epoch();

  // A member is in one group only. These functions are local.

  void protect(std::string_view name, std::shared_ptr<Member> member, Redundancy redundancy);
  /// Returns true if the member with this name has this redundancy. Local.
  bool has(std::string_view name, Redundancy redundancy) const;
  void replace(std::string_view name, const std::shared_ptr<Member>& member);
  void forget(std::string_view name);
  void forget_members();
  std::map<Redundancy, Members> set_aside_members();
  void put_back(std::map<Redundancy, Members> members);

  /// Returns true if, as far as this rank knows, all ranks know all groups and which of them have members. Local.
  bool are_known_to_all() const { return known_ == Known::by_all && with_members() == used_here_; }
  /// Tells all ranks the groups of every rank, and which of them have members on any rank: these are committed.
  /// Collective.
  void agree(const EpochRanks& ranks);

  /// Returns the group of the members that have no redundancy of their own.
  MemberGroup& usual() { return groups_.at(usual_); }
  /// Calls work(group, tag) for each group, in the same order on all ranks. The tag is for messages of that group.
  void for_each(const std::function<void(MemberGroup& group, int tag)>& work);
  /// The same for the groups that have members on any rank.
  void for_each_in_use(const std::function<void(MemberGroup& group, int tag)>& work);
  /// The same for the groups that the plan restores, each with its plan.
  void for_each_planned(const JointPlan& plan,
                        const std::function<void(MemberGroup& group, int tag, const GatheringPlan& plan)>& work);

  // For all groups; see MemberGroup. These functions are local.

  void hold(Version version);
  void let_go(Version version);
  void forget_old(Version newest);
  void forget_older(Version oldest);
  void forget_newer(Version newest);
  void forget_sizes();
  void prepare_commit();
  void publish_what_came();
  void finish_restoring_redundancy();
  bool is_restoring_redundancy() const;
  /// Returns the committed versions that are kept.
  std::set<Version> versions() const;
  std::vector<ByteCount> block_sizes(Version version) const;
  ByteCount memory() const;
  /// The size of this rank's snapshots of the groups in use, and how much of them the last commit had to copy and send.
  struct SnapshotBytes {
    ByteCount all = 0;
    ByteCount changed = 0;
  };
  SnapshotBytes snapshot_bytes() const;
  /// Returns the names of the members in this rank's snapshots.
  Names names_at(Version version);

 private:
  enum class Known { by_all, perhaps_not };

  std::set<Redundancy> with_members() const;
  MemberGroup& add(Redundancy redundancy);

  Redundancy usual_;
  int versions_;
  FindChanges how_;
  const EpochRanks* ranks_ = nullptr;
  std::map<Redundancy, MemberGroup> groups_;
  Known known_ = Known::by_all;
  std::set<Redundancy> in_use_;     // the groups with members on any rank, as last agreed on
  std::set<Redundancy> used_here_;  // the groups with members on this rank at that time
};

}  // namespace mend
