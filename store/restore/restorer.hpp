// Restoring a version: the steps of restore(), restore(Version), restore_others(), restore_from(), and of saving the
// remaining data when the job ends because ranks are missing.
//
//   plan            which blocks has each rank?  which version can all have?       store/restore/joint_plan.hpp
//   bring           each newcomer is sent its snapshot, or the snapshot is rebuilt from parities
//   check, fill     damaged data is discarded, and the plan is made again
//   confirm         a ballot: the restore has succeeded on all ranks, or on none
//   protect         copies and parities that are lost are made again: parities at once, because that takes the ranks'
//                   processors; copies are sent while the application goes on
//                   (MemberGroup::finish_restoring_redundancy)
//
// If a version is not in memory, the disk is searched for it. If another number of ranks has committed the version, its
// arrays are redistributed to the present ranks, and members of any other kind are refused.

#pragma once

#include "store/disk/disk_tier.hpp"
#include "store/engine/epoch_ranks.hpp"
#include "store/placement/member_groups.hpp"
#include "store/restore/joint_plan.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/store.hpp"
#include "store/versions/known_versions.hpp"

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// One restore, for which all ranks have met. Its functions are collective unless they say otherwise. If they throw,
/// messages may be under way (MemberGroups::end_epoch). A member that cannot be filled is an AgreedProblem.
class Restorer {
 public:
  /// `disk`: null if there is none. All must outlive this.
  Restorer(const EpochRanks& ranks, const KnownVersions& versions, const Members& members, MemberGroups& groups,
           DiskTier* disk)
      : ranks_(ranks), versions_(versions), members_(members), groups_(groups), disk_(disk) {}

  struct Restored {
    Version version;  ///< Version{0}: there was nothing
    Origin origin = Origin::nowhere;
    MemberGroups::Names names;      ///< members of the version for this rank, protected or not
    MemberGroups::Names elsewhere;  ///< arrays of the version that other ranks have protected
  };

  /// Fills the members from the newest version that every rank can have, or from `wanted`.
  Restored restore(std::optional<Version> wanted);
  /// Also gives every rank its blocks of the next `count` versions older than `than`, and makes these versions
  /// redundant again, as far as they are complete. Does not change the members. Returns those versions, newest first.
  std::vector<Version> bring_older(Version than, std::size_t count);
  /// Throws UsageError on all ranks if one of them asks for a rank that does not exist. Without this check, the others
  /// would wait for that rank.
  void require_rank_for_all(Rank asked_for) const;
  /// Fills the members with the data that rank `from` of the communicator has committed. Each rank may name another
  /// rank.
  Restored restore_from(Rank from);
  /// Writes the newest version that can be rebuilt to disk, for the ranks that have committed it.
  void save_what_is_left();

 private:
  bool are_of_others() const { return versions_.are_of_others(ranks_.count()); }
  JointPlan make_plan(std::optional<Version> wanted);
  JointPlan plan_of(Version version);
  JointPlan plan_undamaged(std::optional<Version> wanted);
  bool is_undamaged(const JointPlan& plan);
  bool is_so_anywhere(bool here) const;
  enum class Fills { members, nothing };
  bool bring_undamaged(const JointPlan& plan, Fills what, std::exception_ptr& problem);
  bool restore_from_memory(const JointPlan& plan);
  Restored demanding(Restored restored) const;
  std::optional<Restored> restore_of_other_ranks(const JointPlan& plan);
  Restored restore_from_disk(std::optional<Version> wanted, const JointPlan& plan);
  [[nodiscard]] bool bring_back(const JointPlan& plan);
  bool is_sound_on_all(bool is_sound, Version version);
  void restore_redundancy(const JointPlan& plan);
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
