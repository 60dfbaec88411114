// The tier below memory: some versions are also written to disk, and a new job can continue from there.
//
//   commit 10     commit 11            commit 12              commit 20
//   published     "all files there?"   "all files there?"     "manifest there?"    what ranks tell each other
//      |             not yet              yes                    yes
//      +-- each rank: a file of its own ---+                      |
//                                          +-- rank 0: index, manifest, versions before removed
//                                                                 +-- the next version may begin
//
// The ballot that opens each commit carries all that must be agreed on: whether all ranks have written their files,
// whether anything has failed, and whether a version is due. So all ranks know the same about the version under way. A
// failure ends the writing, and the next commit that is due begins again in another folder. If a version is due while
// the one before is still being written, no rank waits: the next commit after that goes to disk.
//
// The files are written from a copy, which needs the memory of another snapshot. The thread that commits calls HDF5
// (store/disk/h5.hpp); another thread does everything that takes long (store/disk/background_work.hpp).
//
// Versions that another job has left in the folder are renamed before the first version is written, unless one of them
// was restored. The ranks that were there from the beginning know whether it was: as long as one says that it was not,
// no version of this job is complete.
//
// In a restore, rank 0 tells the others which versions are in the folder, so that all see the same. Each rank checks
// the files that it needs. If any file is damaged, all try the version before.

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

/// Thrown when there are versions on disk, but none of them can be used, or when the folder cannot be read.
class NothingUsable : public DataLoss {
 public:
  using DataLoss::DataLoss;
};

class DiskTier {
 public:
  explicit DiskTier(DiskOptions options) : options_(std::move(options)) {}

  const std::filesystem::path& folder() const { return options_.folder; }
  /// Returns the size of the copy that is being written, or was written last; 0 after writing was given up.
  ByteCount memory() const { return copy_.capacity(); }

  /// Gives up the version under way. `comm` must outlive the epoch. `begins_job`: this is the first epoch. Local.
  void begin_epoch(MPI_Comm comm, bool begins_job);

  /// Returns true if writing has failed, and no version is written any more. The same on all ranks.
  bool is_given_up() const { return stage_ == Stage::given_up; }
  /// Returns true if the commit that has begun goes to disk. The same on all ranks.
  bool is_due() const { return due_; }

  // --- beside a commit -----------------------------------------------------------------------------------------------

  /// Returns the remarks of this rank in the ballot that opens the commit of `version`.
  agreement::Remarks remarks(Version version);
  /// Processes the remarks of all ranks; may continue the version under way. Collective. Throws ProcessFailure.
  void hear(agreement::Remarks all);
  /// After hear(): makes this commit go to disk even if it is not due, once the version under way is complete. Does
  /// nothing if writing was given up. Collective. Throws as Ballot::vote does.
  void demand(agreement::Ballot& ballot, agreement::Remarks all);
  /// Returns the newest version that this process knows to be on disk.
  Version newest() const { return complete_; }
  /// If this commit is to go to disk: tells rank 0 of which arrays the members are parts. Collective. Throws
  /// ProcessFailure.
  void prepare(Version version, const Members& members);
  /// After prepare(), if this commit goes to disk: begins to write these snapshots. Errors are reported at a later
  /// commit. Local.
  void write(std::span<const std::span<const std::byte>> snapshots);
  /// Waits until the version under way is complete. `published`: the newest version. One rank reports how many versions
  /// were left out. Collective; at the end of the body. Throws as Ballot::vote does.
  void finish(agreement::Ballot& ballot, Version published);
  /// The snapshots of one rank, one for each group of members.
  using Snapshots = std::vector<std::span<const std::byte>>;
  /// Writes a version that another number of ranks, `ranks`, has committed, unless it is on disk; returns when it is
  /// complete. `mine`: the snapshots that this rank writes, by the rank that has committed them; each is written by one
  /// rank. Errors are reported. Collective, without a commit under way. Throws ProcessFailure.
  void save(Version version, int ranks, const std::map<Rank, Snapshots>& mine);
  /// Waits for this process's thread. Local.
  void wait() { background_.wait(); }

  // --- restoring -----------------------------------------------------------------------------------------------------

  /// Finds the newest version in which all data that any rank needs for `members` is undamaged. If `wanted` is given,
  /// considers only that version. One rank reports damage. Returns nothing if there is no version. Throws DataLoss on
  /// every rank if there are versions but none can be used, or if rank 0 cannot read the folder. Collective.
  std::optional<Version> find(const Members& members, std::optional<Version> wanted);
  /// Fills `members` from the version that find() has found. Throws UsageError if a member is not in it, has another
  /// shape, or needs the number of ranks that has written it; EnvironmentError. Local.
  void fill(const Members& members) const;
  /// Returns the names of the arrays in the version that find() has found. Local.
  std::set<std::string, std::less<>> arrays() const;
  /// Returns the names of what this rank has in that version, if as many ranks have written it. Local.
  std::set<std::string, std::less<>> own_names() const;
  /// Called when all ranks have restored `version`, from disk (`found_here`) or from memory: renames newer versions,
  /// and gives up a newer version that is being written. Local.
  void go_on_from(Version version, bool found_here);

 private:
  /// The state of the version under way; the same on all ranks.
  enum class Stage { nothing, writing, sealing, given_up };
  /// A version on disk that all ranks know.
  struct Found {
    std::filesystem::path folder;
    Manifest manifest;
    std::map<std::string, SharedArray> arrays;
  };

  void settle(agreement::Ballot& ballot);
  void remove_abandoned();
  void give_up(agreement::Remarks all);
  void remove_attempt();
  void remove_unless_complete();
  void put_others_aside();
  std::vector<std::span<const std::byte>> copy(std::span<const std::span<const std::byte>> snapshots);
  bool knows_newer(Version version);
  void seal(int ranks);
  void note_sealed();
  std::uint64_t left_out_until(Version version) const;
  std::optional<Found> share(std::optional<CompleteVersion> version);
  std::optional<std::string> damage_in(const Found& found, const Members& members) const;
  void fill_part(const Found& found, const std::string& name, Member& member, const ArrayPart& part) const;
  void fill_own(const Found& found, const std::string& name, Member& member) const;
  /// Returns true if any rank has a sentence to report; the lowest of those ranks writes it.
  bool say_once(const std::optional<std::string>& sentence) const;
  bool is_first() const { return self_ == Rank{0}; }

  DiskOptions options_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank self_{};
  int ranks_ = 1;

  Stage stage_ = Stage::nothing;
  bool has_abandoned_ = false;  // a failure has interrupted the writing of a version
  bool due_ = false;            // the commit that has begun goes to disk
  bool told_ = false;           // in this epoch, that writing was given up
  bool ours_ = true;            // as far as this process knows, the folder has versions of this job only
  Version under_way_{};
  Version begun_{};             // the newest version that this process began
  std::uint64_t left_out_ = 0;  // versions that were due and not written since the last report
  Version complete_{};          // the newest that this process knows to be on disk
  std::uint32_t attempt_ = 0;
  std::optional<Version> sealing_;  // rank 0: the version that its thread completes
  std::string all_parts_;           // rank 0: the parts that the ranks have sent in prepare
  std::optional<std::string> failure_;
  std::optional<Found> found_;

  Bytes copy_;
  BackgroundWork background_;  // reads the copy
};

}  // namespace mend
