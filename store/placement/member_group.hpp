// The members that have the same redundancy, their snapshots, and the data that this rank keeps of other ranks'
// snapshots.
//
// A store has one group for each redundancy that its members are protected with. Each group has its own snapshots,
// stripes and version slots. Versions are common to all groups: the store leads all groups through the same steps and
// publishes a version when all groups are ready. A group decides nothing.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/change_finder.hpp"
#include "store/placement/exchange.hpp"
#include "store/placement/placement.hpp"
#include "store/redundancy.hpp"
#include "store/restore/restore_plan.hpp"
#include "store/snapshot/version_slots.hpp"
#include "store/snapshot/snapshot.hpp"
#include "store/snapshot/snapshot_in_parts.hpp"

#include <mpi.h>

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mend {

class MemberGroup {
 public:
  MemberGroup(Redundancy redundancy, int versions, FindChanges how)
      : redundancy_(redundancy), versions_(versions), slots_of_versions_(versions), finder_(how, versions) {}

  void protect(std::string_view name, std::shared_ptr<Member> member) {
    members_.insert_or_assign(std::string(name), std::move(member));
  }
  void forget(std::string_view name);
  void forget_members() { members_.clear(); }
  Members set_aside_members() { return std::exchange(members_, {}); }
  void put_back(Members members) { members_ = std::move(members); }
  const Redundancy& redundancy() const { return redundancy_; }
  const Members& members() const { return members_; }
  /// Returns the kept versions that contain this group, even if no block of them is left.
  const std::set<Version>& versions() const { return committed_in_; }

  /// See VersionSlots.
  void forget_old(Version newest);
  void forget_newer(Version newest);
  void forget_older(Version oldest);
  void hold(Version version) { slots_of_versions_.hold(version); }
  void let_go(Version version) { slots_of_versions_.let_go(version); }
  ByteCount memory() const { return slots_of_versions_.memory(); }
  std::vector<ByteCount> block_sizes(Version version) const { return slots_of_versions_.sizes(version); }

  /// The ranks of `comm`, which must outlive the epoch, run on `nodes`. Local.
  void begin_epoch(MPI_Comm comm, std::span<const NodeId> nodes);
  /// Drops what was prepared for a commit, and the exchanges that are under way. Copies that have arrived completely
  /// are kept. Must be called before the epoch's communicator is freed. Local.
  void end_epoch();

  /// Returns the next commit's snapshot of the only member of the group, which is packed part by part until then. If
  /// this call begins the snapshot, the member has `bytes` bytes. Packs over an older snapshot if that is newer than
  /// `settled`. Local.
  SnapshotInParts& pack_in_parts(Version version, Version settled, ByteCount bytes);
  /// Allocates memory for future versions, whose snapshots are expected to have about `bytes` bytes on this rank and on
  /// others. Local.
  void reserve(ByteCount bytes);
  /// Drops the snapshot that was packed in parts. Local.
  void forget_parts() { in_parts_.reset(); }

  // --- a commit; collective, unless a function says otherwise -------------------------------------------------------

  /// Asks the members for their shapes and sizes, before anything is overwritten. Throws the members' exceptions.
  /// Local.
  void prepare_commit();
  /// Packs the members and begins to send the changes. Packs over an older snapshot if that is newer than `settled`.
  /// `tag`: the number of this group on all ranks. If the members cannot be packed, sets `problem`, but begins the
  /// exchange all the same. `copied_on`: the snapshot is also copied to disk.
  void begin_commit(Version version, Version settled, int tag, bool copied_on, std::exception_ptr& problem);
  bool is_under_way() const { return under_way_ != nullptr; }
  /// Returns when all blocks that this rank makes are in their slots. They are not published yet.
  void finish_commit(Version version);
  /// Local.
  void publish_commit(Version version);

  /// Return the size of this rank's snapshot, and how many bytes of it the last commit had to copy and send.
  ByteCount snapshot_bytes() const { return sizes_[static_cast<std::size_t>(self_.value)]; }
  ByteCount changed_bytes() const { return changed_bytes_; }
  std::span<const std::byte> own_snapshot(Version version) { return snapshot_of(self_, version); }
  std::span<const std::byte> snapshot_of(Rank owner, Version version) {
    return find(Block::snapshot_of(owner), version);
  }

  // --- a restore -----------------------------------------------------------------------------------------------------

  /// Gathers the published blocks of all ranks, and the versions that contain the group. Throws UsageError if ranks
  /// want different versions. Collective.
  Inventory gather_inventory(std::optional<Version> wanted);
  RestorePlan plan(const Inventory& inventory, Version version) const;

  /// Begins to send each rank its blocks of a version. Collective.
  void begin_to_bring(const RestorePlan& plan, int tag);
  /// Discards the damaged blocks that this rank keeps of the version, and reports them. Returns true if there are any.
  /// Local.
  bool forget_damaged(Version version);
  /// The same for the blocks that this rank sends by the plan. Also checks this rank's own snapshot, if it keeps it,
  /// and fills the members from it; sets `problem` if that fails for another reason than damage.
  bool forget_damaged_and_unpack(const RestorePlan& plan, std::exception_ptr& problem);
  /// The same for a version that fills no member. Local.
  bool forget_damaged_of(const RestorePlan& plan);
  void finish_bringing(Version version);
  /// Fills the members if this rank's snapshot has arrived from other ranks. Returns false if the snapshot is damaged.
  /// Its sources were not damaged, so the version cannot be used. Local.
  bool unpack_what_came(const RestorePlan& plan, std::exception_ptr& problem);
  /// Returns false if a snapshot that has arrived from other ranks is damaged. Local.
  bool are_sound_what_came(const RestorePlan& plan);
  /// Discards all blocks of the version, because it cannot be used. Local, on all ranks.
  void forget_blocks(Version version);
  /// Local.
  void publish(std::span<const Combination> made, Version version);
  /// Begins to make the copies and parities of the restored snapshots again. May be called for another version while
  /// copies of earlier versions are under way. Collective.
  void begin_restoring_redundancy(const RestorePlan& plan, int tag);
  /// Waits for the parities, and publishes them. Copies may stay under way. Collective.
  void finish_parities();
  /// Publishes the copies that have arrived, without waiting. Throws ProcessFailure. Local.
  void publish_what_came();
  /// Returns true if copies of this rank are under way. Local.
  bool is_restoring_redundancy() const { return !redundancy_exchanges_.empty(); }
  /// Publishes the copies, and waits for those that have not arrived. It waits only for messages that other ranks have
  /// begun to send. Local.
  void finish_restoring_redundancy();

  /// Fills the members from the snapshot of rank `from`. Each rank may name another rank. Collective.
  void unpack_snapshot_of(Rank from, Version version, int tag, std::exception_ptr& problem);

  /// Fills members that are parts of arrays from the snapshots of another number of ranks. Returns the names of all
  /// arrays in these snapshots; nothing if data for this rank came damaged. Collective.
  std::optional<std::set<std::string, std::less<>>> redistribute_to_members(const GatheringPlan& plan);

  /// Returns the names of the members in this rank's snapshot; none if it has none of that version. Local.
  std::set<std::string, std::less<>> names_at(Version version);

  /// Sends the snapshot of owner r to rank writers[r], unless that rank keeps it. Returns the snapshots that this rank
  /// has received, by owner. Owners are the ranks that committed the version. Collective.
  std::map<Rank, Bytes> bring_to(std::span<const Rank> writers, const GatheringPlan& plan, int tag);

  /// Returns the sizes of the snapshots of the version that was committed or restored last. The restorer saves them
  /// around a restore of another version.
  const Sizes& sizes() const { return sizes_; }
  void set_sizes(Sizes sizes) { sizes_ = std::move(sizes); }
  /// Forgets the sizes of snapshots: another number of ranks has made the blocks in the version slots.
  void forget_sizes();

 private:
  /// Makes a restored version redundant again. Copies arrive while the application computes.
  struct RedundancyExchange {
    std::unique_ptr<Exchange> exchange;
    Version version;

    bool has_only_snapshot_copies() const;
  };
  using RedundancyExchanges = std::vector<RedundancyExchange>;

  void note_committed(Version version) { committed_in_.insert(version); }
  std::span<std::byte> find(const Block& block, Version version) { return slots_of_versions_.at(block, version).bytes; }
  Changes pack_members(Version version, Bytes& snapshot, std::optional<Version> older, std::exception_ptr& problem);
  Changes pack_own(Version version, Version settled, std::exception_ptr& problem);
  bool lacks_older_blocks(Version version, Version settled);
  void check_unchanged(std::span<const Combination> work, bool copied_on, const Changes& mine, Version version,
                       std::exception_ptr& problem);
  void make_room(std::span<const Combination> work, Version version);
  std::unique_ptr<Exchange> begin(std::vector<Combination> work, Version version, int tag);
  void wait_for(Exchange& exchange, Version version);
  RedundancyExchanges::iterator complete(RedundancyExchanges::iterator one);
  template <class FindDamage>
  bool forget_if(Version version, FindDamage damage_of);
  std::set<Block> blocks_given_by(const RestorePlan& plan) const;
  bool brings_own(const RestorePlan& plan) const;
  static bool is_sound_as_it_came(const std::optional<std::string>& damage, Rank owner, Version version);
  std::optional<std::string> try_unpack(std::span<const std::byte> snapshot, Rank owner, Version version,
                                        std::exception_ptr& problem);

  Redundancy redundancy_;
  int versions_;
  Members members_;
  VersionSlots slots_of_versions_;
  ChangeFinder finder_;
  Pack pack_;                                // the prepared pack, until it is packed
  std::optional<SnapshotInParts> in_parts_;  // instead of pack_; until the commit is published
  Version version_in_parts_{};
  std::set<Version> committed_in_;  // versions that are kept, even if no block of them is left
  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank self_{};
  std::vector<Stripe> stripes_;    // of all ranks
  std::vector<Stripe> concerned_;  // those in which this rank has a part
  Sizes sizes_;                    // of the snapshots; at a commit, known for the ranks of concerned_
  ByteCount changed_bytes_ = 0;
  std::unique_ptr<Exchange> under_way_;
  RedundancyExchanges redundancy_exchanges_;
};

}  // namespace mend
