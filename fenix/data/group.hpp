// A Fenix data group on mend's store: one store to each group, with one member, which is the group as a whole.
//
//   buffer --member_store--> staged --commit--> history (the last depth+1 snapshots) --the store--> survives failures
//          <--------------------member_restore------'
//
// A store copies the elements meant into what is staged; a commit shares all that is staged with a new snapshot of the
// history, and has the store commit that history. So a snapshot has the newest value of every element that was ever
// stored, and after a failure the history comes back as a whole, to newcomers too, with the definitions of the members.

#pragma once

#include "base/ids.hpp"
#include "fenix/data/memory_file.hpp"
#include "fenix/data/regions.hpp"
#include "fenix/data/serialize_function.hpp"
#include "store/store_engine.hpp"

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend {
class Engine;
struct RecoveryReport;
}  // namespace mend

namespace mend::fenix {

/// What the application has said of a member.
struct Definition {
  int id = 0;
  void* buffer = nullptr;  ///< null on a newcomer, until it says where
  std::size_t count = 0;   ///< 0: as many as each store says
  std::size_t element_bytes = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  std::shared_ptr<const ::fenix::data::SerializeFunc> serializer{};  ///< null: the elements are copied as they lie
};

/// A member's elements that were stored.
struct Elements {
  Regions known;
  Bytes bytes;  ///< from element 0 up to the last known
};
using SharedElements = std::shared_ptr<const Elements>;

/// A member in a snapshot: everything that was ever stored, and which of it was stored for this snapshot.
struct KeptMember {
  SharedElements elements;
  Regions fresh;
};
using KeptMembers = std::map<int, KeptMember>;

struct FenixSnapshot {
  int time_stamp = 0;
  KeptMembers members;
};

/// A member that is being written or read through a file or a stream.
struct OpenMember {
  std::unique_ptr<MemoryFile> file;
  std::unique_ptr<MemoryStream> stream;
  bool staging = false;
};

/// What is committed, as the store sees it.
struct Committed {
  std::vector<Definition> definitions;
  std::deque<FenixSnapshot> history;  ///< newest first
};

struct GroupSettings {
  int start_time_stamp = 0;
  int depth = 0;
  int policy_name = 0;
  std::vector<int> policy_value;  ///< as Fenix_Data_group_create takes it
};

class Group {
 public:
  /// With FENIX_DATA_POLICY_LOCAL nothing is shared: no function is collective then, and a newcomer has nothing. Throws
  /// UsageError for a policy that cannot be had. Local.
  Group(GroupSettings settings, Engine& engine);
  ~Group();

  const GroupSettings& settings() const { return settings_; }
  StoreEngine& store() { return store_; }

  /// After a failure: brings the history back on all ranks, drops what was stored and not committed, and tells
  /// newcomers of the members. When ranks were given up, each that is left keeps what it has itself. Collective over
  /// the ranks, once an epoch; does nothing then, nor before a failure. Throws as Store::restore does, but for lost
  /// data: then the history is empty, and a warning says so.
  void catch_up();

  const std::vector<Definition>& definitions() const { return committed_.definitions; }
  /// Null if there is none.
  Definition* find(int id);
  /// Adds a member, or replaces its definition.
  void define(const Definition& definition);
  void remove(int id);

  /// Copies these elements of the member's buffer, or has them written by its serializer. Local.
  void stage(const Definition& definition, const Regions& regions);
  /// Has the serializer of a member without a count write all of it. Local.
  void stage_whole(const Definition& definition);
  /// `bytes` are the member's elements from 0 on; what was staged before is dropped. Local.
  void stage_bytes(const Definition& definition, Bytes bytes);
  /// Drops what was staged of the member since the last commit, and before. Local.
  void unstage(int id) { staged_.erase(id); }

  /// Members that are open, by number.
  std::map<int, OpenMember>& open_members() { return open_; }
  /// Collective over the ranks. Returns the time stamp.
  int commit();

  const std::deque<FenixSnapshot>& history() const { return committed_.history; }
  /// The snapshot with this time stamp, or the newest if none that is kept has it, as Fenix gives it then. Null if
  /// there is none at all. Local.
  const FenixSnapshot* snapshot_or_newest(int time_stamp) const;
  /// Returns whether there was one. Local.
  bool forget(int time_stamp);

  /// The same member of other ranks: `mine` is what this one lends, `source` whose it wants. Collective over the ranks.
  Elements fetch(const Elements& mine, int source);

 private:
  bool is_local() const;
  const RecoveryReport* recovery_with_fewer_ranks() const;
  void keep_own_history(const RecoveryReport& recovery);
  void restore();
  void stage_newest();
  void share_definitions();

  GroupSettings settings_;
  Engine& engine_;
  StoreEngine store_;
  bool informed_;  // of all members that were ever created
  Epoch caught_up_{};
  std::uint64_t commits_ = 0;
  Committed committed_;
  KeptMembers staged_;
  std::map<int, OpenMember> open_;
};

/// Copies these elements to where they belong in `target`.
void copy_elements(const Elements& elements, std::size_t element_bytes, const Regions& which, std::byte* target);

}  // namespace mend::fenix
