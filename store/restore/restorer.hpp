// Going back to a version: what restore(), restore(Version), restore_others(), restore_from() and the end of a job for
// want of ranks have in common.
//
//   plan            what does everyone have?  which version can all have?          store/restore/joint_plan.hpp
//   bring           each newcomer is sent its snapshot, or it is made of parities
//   check, fill     damaged data is forgotten, and the plan made again
//   protect         copies and parities that are lost are made again
//   confirm         a ballot: it has worked on all ranks, or on none
//
// What memory does not have is looked for on disk. If other ranks than those of now have committed, arrays are given to
// the ranks of now, and all else is refused.

#pragma once

#include "store/disk/disk_tier.hpp"
#include "store/epoch_ranks.hpp"
#include "store/placement/member_groups.hpp"
#include "store/restore/joint_plan.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/store.hpp"
#include "store/versions/known_versions.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace mend {

/// For one restore of an epoch in which all ranks have met for it. Members are collective unless said otherwise; when
/// they throw, messages may be left under way (MemberGroups::end_epoch).
class Restorer {
 public:
  /// `disk`: null if there is none. All must outlive this.
  Restorer(const EpochRanks& ranks, const KnownVersions& versions, const Members& members, MemberGroups& groups,
           DiskTier* disk)
      : ranks_(ranks), versions_(versions), members_(members), groups_(groups), disk_(disk) {}

  struct Restored {
    Version version;  ///< Version{0}: there was nothing
    Origin origin = Origin::nowhere;
    MemberGroups::Names names;  ///< what the version has for this rank, whether there is such a member or not
  };

  /// Fills the members from the newest version that every rank can have, or the one that is wanted.
  Restored restore(std::optional<Version> wanted);
  /// Throws UsageError on all ranks if there is no rank of the number that one of them asks for: otherwise that one
  /// would leave the others waiting.
  void require_rank_for_all(Rank asked_for) const;
  /// Fills the members from what rank `from` of the communicator has committed. Each rank may name another.
  Restored restore_from(Rank from);
  /// Writes the newest version that can be had to disk, of other ranks than those of now.
  void save_what_is_left();

 private:
  bool are_of_others() const { return versions_.are_of_others(ranks_.count()); }
  JointPlan make_plan(std::optional<Version> wanted);
  JointPlan plan_undamaged(std::optional<Version> wanted);
  bool is_undamaged(const JointPlan& plan);
  bool is_so_anywhere(bool here) const;
  bool restore_from_memory(const JointPlan& plan);
  Restored restore_of_other_ranks(const JointPlan& plan);
  Restored restore_from_disk(std::optional<Version> wanted, const JointPlan& plan);
  void bring_back(const JointPlan& plan);
  void protect_again(const JointPlan& plan);
  void require_all_committed(const JointPlan& plan, std::exception_ptr& problem);
  std::string describe_total_loss(std::string_view consequence) const;
  void confirm(std::exception_ptr problem);
  Restored from_memory(Version version);

  const EpochRanks& ranks_;
  const KnownVersions& versions_;
  const Members& members_;
  MemberGroups& groups_;
  DiskTier* disk_;
};

}  // namespace mend
