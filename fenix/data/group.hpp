// A Fenix data group on mend's store: one store to each group, with one member, which is the group as a whole.
//
//   buffer --member_store--> image (a version slot of the store) --commit--> snapshot (the same slot, published)
//          <--------------------------------member_restore-------------------------'
//
// Each snapshot is a version of the store, which keeps depth+2 of them: depth+1 snapshots, and the one that is being
// made. So data is copied once, from the application's buffer into the version slot, and hashed meanwhile; the commit
// sends it and votes. Elements that were not stored since the last commit are copied from the newest snapshot. So a
// snapshot has the newest value of every element that was ever stored. After a failure all snapshots are restored, also
// on newcomers, with the definitions of the members.

#pragma once

#include "base/ids.hpp"
#include "fenix/data/snapshot/image.hpp"
#include "fenix/data/memory_file.hpp"
#include "fenix/data/regions.hpp"
#include "fenix/data/serialize_function.hpp"
#include "store/engine/store_engine.hpp"

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mend {
class Engine;
}  // namespace mend

namespace mend::fenix {

/// A type of elements that the application may free: a duplicate, unless it is one of MPI's own.
class ElementType {
 public:
  ElementType() = default;
  explicit ElementType(MPI_Datatype type);
  MPI_Datatype get() const { return own_ ? *own_ : named_; }

 private:
  MPI_Datatype named_ = MPI_DATATYPE_NULL;
  std::shared_ptr<const MPI_Datatype> own_;
};

/// The definition of a member by the application.
struct Definition {
  int id = 0;
  void* buffer = nullptr;  ///< null on a newcomer until it defines the member
  std::size_t count = 0;   ///< 0: each store gives the number
  std::size_t element_bytes = 0;
  ElementType datatype{};
  std::shared_ptr<const ::fenix::data::SerializeFunc> serializer{};  ///< null: the elements are copied as they lie
  std::size_t gap = 0;  ///< bytes at the end of an element that are no data: the buffer may end before those of its
                        ///< last element
  int since = 0;  ///< time stamp of the first snapshot that can have it; a member of the same number in an earlier one
                  ///< is another, which was deleted
};

/// A member's elements that were stored.
struct Elements {
  Regions known;
  std::span<const std::byte> bytes;      ///< from element 0 up to the last known
  std::shared_ptr<const Bytes> owner{};  ///< of `bytes`, if they are not part of a snapshot
};
Elements own_elements(Regions known, Bytes bytes);
inline Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// A member in a snapshot: everything that was ever stored, and which of it was stored for this snapshot.
struct KeptMember {
  Elements elements;
  Regions fresh;
  bool is_fresh;  ///< it was stored for this snapshot, perhaps without elements
  std::size_t element_bytes;
};
using KeptMembers = std::map<int, KeptMember>;

struct FenixSnapshot {
  int time_stamp = 0;
  Version version;  ///< of the store
  KeptMembers members;
};

/// A member in what the next commit takes.
struct StagedMember {
  Elements newest{};  ///< in the newest snapshot
  Regions known{};
  Regions fresh{};
  bool is_fresh = false;
  std::size_t bytes = 0;  ///< up to the last known element
  bool in_image = false;  ///< otherwise it is as in the newest snapshot
};
using Staging = std::map<int, StagedMember>;

/// A member that is being written or read through a file or a stream.
struct OpenMember {
  std::unique_ptr<MemoryFile> file;
  std::unique_ptr<MemoryStream> stream;
  bool staging = false;
};

struct GroupSettings {
  int start_time_stamp = 0;
  int depth = 0;
  int policy_name = 0;
  std::vector<int> policy_value;  ///< as Fenix_Data_group_create takes it
};

class Group {
 public:
  /// `id`: the number that the program has given it. With FENIX_DATA_POLICY_LOCAL no data is shared: no function is
  /// collective, and a newcomer has no data. Throws UsageError for an invalid policy. Local.
  Group(int id, GroupSettings settings, Engine& engine);
  ~Group();

  const GroupSettings& settings() const { return settings_; }
  /// Returns the ranks of the communicator that the program has given, by their rank there. Collective functions remain
  /// collective over all ranks: the groups of one number on the parts of a split are one group. Local.
  const std::vector<int>& ranks() const { return ranks_; }
  void span(std::vector<int> ranks) { ranks_ = std::move(ranks); }
  /// Returns the rank of the process that has rank `rank_there` in that communicator, if there is one. Local.
  std::optional<int> rank_of(int rank_there) const;
  StoreEngine& store() { return *store_; }
  /// Call it when ranks were given up, so that the others have other numbers. Until the program creates the group
  /// again, the group has no ranks. Local.
  void lose_ranks();

  /// Call it when a failure was met or the job ends: after it, the group does not communicate. Stored elements are kept
  /// if the call that has met the failure continues (fenix/mlog/message_logs.hpp). Local.
  void end_epoch();
  /// Waits for the copies that the last restore sends while the program continues. After a failure they are dropped.
  /// Must be called before the group ends without a failure. Local.
  void finish_copies();
  /// After a failure: restores the history on all ranks, drops elements that were stored and not committed, and sends
  /// newcomers the definitions of the members. If ranks were given up, each remaining rank keeps its own data, which is
  /// committed again. Members that were deleted since the last commit stay deleted. Collective over the ranks in the
  /// first call of an epoch; does nothing in later calls, or before a failure. Throws as Store::restore does, except
  /// for lost data: in that case the history is empty, and a warning is printed. Throws UsageError on all ranks if they
  /// call it for different groups.
  void catch_up();

  const std::vector<Definition>& definitions() const { return definitions_; }
  /// Returns the member's definition; null if there is none.
  Definition* find(int id);
  /// Adds a member, or replaces its definition.
  void define(const Definition& definition);
  void remove(int id);
  /// Returns true if elements of the member were staged, stored or committed, and are still kept. Local.
  bool has_data(int id) const;

  /// Copies these elements of the member's buffer, or has them written by its serializer. Local.
  void stage(const Definition& definition, const Regions& regions);
  /// Makes the serializer of a member without a count write the whole member. Local.
  void stage_whole(const Definition& definition);
  /// Stages `bytes`, the member's elements from 0 on. Elements that were staged before are dropped. Local.
  void stage_bytes(const Definition& definition, Bytes bytes);
  /// Drops the elements of the member that were staged since the last commit. Local.
  void unstage(int id);

  /// Members that are open, by number.
  std::map<int, OpenMember>& open_members() { return open_; }
  /// Commits, and returns the time stamp. In the first commit, the largest depth that a rank has given becomes the
  /// depth of all; it throws UsageError on all ranks if they commit different groups. Collective over the ranks.
  int commit();

  /// Returns the snapshots, the newest first. Local.
  const std::deque<FenixSnapshot>& history() const { return history_; }
  /// Returns the snapshot with this time stamp; the newest for FENIX_DATA_SNAPSHOT_LATEST, _ALL and
  /// FENIX_TIME_STAMP_MAX. Null if it is not kept. Local.
  const FenixSnapshot* snapshot_at(int time_stamp) const;
  /// Returns the newest snapshot; null if there is none. Local.
  const FenixSnapshot* newest() const { return history_.empty() ? nullptr : &history_.front(); }
  /// Deletes a snapshot. Returns true if it existed. Local.
  bool forget(int time_stamp);

  /// Returns the elements of the same member on rank `source`; nothing if it was not stored there. `mine`: the elements
  /// that this rank lends to others. Collective over the ranks.
  std::optional<Elements> fetch(const std::optional<Elements>& mine, int source);

 private:
  bool is_local() const;
  /// What has happened to the ranks since all committed data was last safe. The same on all ranks.
  struct RanksSince {
    bool were_given_up;
    bool were_taken_over;
  };

  void make_store();
  bool has_lost_ranks() const;
  RanksSince agree();
  void keep_own_history(bool has_newcomers);
  bool keep_common_history();
  void commit_history_anew();
  std::vector<Definition> restore();
  std::string describe(const DataLoss& loss) const;
  void stage_newest();
  void share_definitions(std::vector<Definition> recorded);
  bool has(int id, std::size_t element_bytes, int time_stamp) const;
  void drop_deleted(std::vector<Definition>& recorded) const;
  std::vector<Definition> known_to_all_informed(const std::vector<Definition>& definitions) const;
  void warn_of_loss(std::optional<int> teller);
  Image::Sizes expected_sizes() const;
  void reserve();
  void begin_image();
  void end_image();
  void take_out_of_image();
  SnapshotInParts& begin_snapshot(std::size_t bytes);
  Version next_version() const;
  void keep_what_is_overwritten();
  Bytes content_of(int id, std::size_t bytes) const;
  void prepare_place(const StagedMember& staged, const Definition& definition, const Regions& regions,
                     const Regions& known);
  FenixSnapshot commit_image(int time_stamp, Staging& staged);
  void commit_to_store();
  void learn(std::vector<Definition> definitions);

  int id_;
  GroupSettings settings_;
  Engine& engine_;
  std::vector<int> ranks_;
  std::optional<StoreEngine> store_;
  bool informed_;  // has the definitions of all members that were ever created
  bool has_depth_agreed_ = false;
  bool has_dropped_staged_ = false;  // since the last failure
  Epoch caught_up_{};
  int next_time_stamp_;
  std::size_t recoveries_ = 0;       // of the job, when all committed data was last safe
  std::optional<std::string> loss_;  // the text about lost data, until one rank has printed it
  std::vector<Definition> definitions_;
  std::set<int> new_members_;          // since the last commit: they are likely to be stored for the next
  std::deque<FenixSnapshot> history_;  // newest first
  Staging staged_;
  Image image_;
  Epoch image_epoch_{};       // in which it was begun
  std::size_t reserved_ = 0;  // bytes of a snapshot for which there is memory already
  std::map<int, OpenMember> open_;
  std::vector<mend::Bytes> local_images_;       // with FENIX_DATA_POLICY_LOCAL: as the store has version slots
  std::optional<SnapshotInParts> local_parts_;  // the one that is being made
  Version local_version_{};
};

/// Copies these elements to where they belong in `target`, which may end before the gap of the last one.
void copy_elements(const Elements& elements, const Definition& definition, const Regions& which, std::byte* target);

}  // namespace mend::fenix
