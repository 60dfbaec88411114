// The tier below memory: now and then, a version is also written to disk, from where a new job can go on.
//
//   commit 10     commit 11            commit 12              commit 20
//   published     "all files there?"   "all files there?"     "manifest there?"    what ranks tell each other
//      |             not yet              yes                    yes
//      +-- each rank: a file of its own ---+                      |
//                                          +-- rank 0: index, manifest, versions before removed
//                                                                 +-- the next version may begin
//
// The agreement that each commit opens with says all that has to be agreed on: whether everyone has done what it had
// begun, whether anything has gone wrong, and whether a version is due. So ranks never differ in what they think is
// under way; a failure ends it, and the next commit that is due begins anew, in a folder of its own. If a version is
// due while the one before is still being written, nobody waits: the next commit that finds all done goes to disk.
//
// What is being written is a copy, so another snapshot's memory is needed. HDF5 is entered by the thread that commits
// (store/disk/h5.hpp), all that takes long is done by another (store/disk/background_work.hpp).
//
// What a job before has left in the folder is put aside before the first version is written, unless it was restored.
// Those who were there from the beginning know whether it was: as long as one says that it was not, nothing of this job
// is complete.
//
// On the way back, rank 0 tells what is in the folder, so that all see the same; each checks the files that it needs,
// and if anything is damaged anywhere, all turn to the version before.

#pragma once

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "base/ids.hpp"
#include "store/disk/background_work.hpp"
#include "store/snapshot/bytes.hpp"
#include "store/disk/version_folder.hpp"
#include "store/snapshot/snapshot.hpp"

#include <mpi.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// There are versions on disk, and none of them can be used.
class NothingUsable : public DataLoss {
 public:
  using DataLoss::DataLoss;
};

class DiskTier {
 public:
  explicit DiskTier(DiskOptions options) : options_(std::move(options)) {}

  const std::filesystem::path& folder() const { return options_.folder; }
  /// Of what is being written, or was last.
  ByteCount memory() const { return copy_.capacity(); }

  /// Gives up what is under way. Local. `comm` must outlive the epoch. `begins_job`: it is the first.
  void begin_epoch(MPI_Comm comm, bool begins_job);

  /// Whether the commit that has begun is to go to disk. The same on all ranks.
  bool is_due() const { return due_; }

  // --- beside a commit -----------------------------------------------------------------------------------------------

  /// What this rank says beside the vote that opens the commit of `version`.
  agreement::Remarks remarks(Version version);
  /// What all ranks have said. Collective. May go on with what is under way. Throws ProcessFailure.
  void hear(agreement::Remarks all);
  /// If this commit is to go to disk: tells rank 0 what arrays the members are parts of. Collective. Throws
  /// ProcessFailure.
  void prepare(Version version, const Members& members);
  /// If prepare has: begins to write the members of these snapshots. Local. What goes wrong is said at a later commit.
  void write(std::span<const std::span<const std::byte>> snapshots);
  /// Waits until what is under way is complete. Collective; at the end of the body. Throws as Ballot::vote does.
  void finish(agreement::Ballot& ballot);
  /// A rank's, one for each group of members.
  using Snapshots = std::vector<std::span<const std::byte>>;
  /// Writes a version that `ranks` ranks have committed, others than there are now, unless it is there already; returns
  /// when it is complete. `mine`: what this rank writes, of ranks of then; each of those is one rank's. Collective,
  /// without a commit under way. What goes wrong is said. Throws ProcessFailure.
  void save(Version version, int ranks, const std::map<Rank, Snapshots>& mine);
  /// Waits for this process's thread. Local.
  void wait() { background_.wait(); }

  // --- restoring -----------------------------------------------------------------------------------------------------

  /// The newest version of which all that any rank needs for `members` is undamaged; or `wanted`, and no other.
  /// Collective. What is damaged is told of by one rank. Nothing when there is no version; throws DataLoss on every
  /// rank when there is one but none that can be used.
  std::optional<Version> find(const Members& members, std::optional<Version> wanted);
  /// Fills `members` from what find has found. Local. Throws UsageError when a member is not there, has another shape,
  /// or needs as many ranks as have written it; EnvironmentError.
  void fill(const Members& members) const;
  /// The names of the arrays in what find has found, and of the members that are this rank's own. Local.
  std::set<std::string, std::less<>> names() const;
  /// All have gone back to that version, which was found here, or is in memory and was wanted: what is newer is put
  /// aside, and what is being written of it, given up. Local.
  void go_on_from(Version version, bool found_here);

 private:
  /// What is under way, alike on all ranks.
  enum class Stage { nothing, writing, sealing, given_up };
  /// A version on disk, known to all.
  struct Found {
    std::filesystem::path folder;
    Manifest manifest;
    std::map<std::string, SharedArray> arrays;
  };

  void give_up();
  void remove_attempt();
  void remove_unless_complete();
  void put_others_aside();
  std::vector<std::span<const std::byte>> copy(std::span<const std::span<const std::byte>> snapshots);
  bool knows_newer(Version version);
  void seal(int ranks);
  void note_sealed();
  std::optional<Found> share(std::optional<CompleteVersion> version);
  std::optional<std::string> damage_in(const Found& found, const Members& members) const;
  void fill_part(const Found& found, const std::string& name, Member& member, const ArrayPart& part) const;
  void fill_own(const Found& found, const std::string& name, Member& member) const;
  /// Whether anybody has something to say; the first who has, says it.
  bool say_once(const std::optional<std::string>& sentence) const;
  bool is_first() const { return self_ == Rank{0}; }

  DiskOptions options_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank self_{};
  int ranks_ = 1;

  Stage stage_ = Stage::nothing;
  bool due_ = false;   // the commit that has begun is to go to disk
  bool told_ = false;  // in this epoch, that it is given up
  bool ours_ = true;   // for all this process knows, what is in the folder is of this job
  Version under_way_{};
  Version complete_{};  // the newest that this process knows to be on disk
  std::uint32_t attempt_ = 0;
  std::optional<Version> sealing_;  // rank 0: what its thread makes complete
  std::string all_parts_;           // rank 0: what the ranks have told in prepare
  std::optional<std::string> failure_;
  std::optional<Found> found_;

  Bytes copy_;
  BackgroundWork background_;  // reads the copy
};

}  // namespace mend
