// The store, as the application sees it: commit and restore of protected data in the memory of the job itself.
//
// A commit saves all protected members of all ranks as a new version, and has other ranks keep what brings a rank's
// back: a copy, or parities (store/redundancy.hpp). After a failure, restore() gives every rank what the newest version
// that is whole has of it. How that works: store/store_engine.hpp.
//
// Memory: a rank with a snapshot of S bytes keeps V * S for V versions, and for others V times what its redundancy says
// beside the snapshot; for V commits after a recovery, also what was placed otherwise before. While parities are made,
// slices of what goes into them, 4 MiB, or a 32nd of the longest snapshot if that is more.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "store/member.hpp"
#include "store/redundancy.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace mend {

/// Where restored data came from.
enum class Origin {
  nowhere,  ///< nothing has been restored
  memory,   ///< of the job itself
  disk,     ///< --mend-disk: written by this job, or by one before it
};

/// What commits and restores have cost this process so far.
struct StoreStatistics {
  std::uint64_t commits = 0;
  std::uint64_t restores = 0;
  ByteCount snapshot_bytes = 0;  ///< the newest snapshot of this rank, of all groups of members
  ByteCount changed_bytes = 0;   ///< what of it the last commit had to copy and to send
  ByteCount memory_bytes = 0;    ///< all buffers of the store in this process
  Seconds commit_time{};         ///< summed over commits
  Seconds restore_time{};
};

/// Versions that restore(Version) can be asked for, newest first.
struct KeptVersions {
  std::vector<Version> in_memory;
  std::vector<Version> on_disk;  ///< with --mend-disk; those of jobs before this one too
};

/// A session has one (Session::store).
class Store {
 public:
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Protects `object` under `name`: commits save it, restores fill it. Local. The object must outlive the body of
  /// mend::run. Of a View, what it refers to now is kept alive and saved: when you assign, swap or resize it, protect
  /// it again. Protecting a name again replaces the object by another of its kind and shape, as a double buffer does.
  /// Throws UsageError for an empty name, for a name that an object of another kind or shape has in this entry of the
  /// body, and with --mend-disk for one that is not UTF-8.
  template <class T>
  requires(!std::convertible_to<T, std::unique_ptr<Member>>) void protect(std::string_view name, T&& object) {
    if constexpr (detail::can_be_protected<T>()) protect(name, MemberOf<std::remove_cvref_t<T>>::make(object));
  }
  virtual void protect(std::string_view name, std::unique_ptr<Member> member) = 0;

  /// The same, with a redundancy of its own: a large field may have parities, and a few small values copies. The
  /// members of one redundancy are kept together, and a version is lost when those of any are. Throws UsageError, too,
  /// when the job has begun with too few ranks for it.
  ///   store.protect("mesh", mesh, mend::Redundancy::parse("rs:4+2"));
  template <class T>
  requires(!std::convertible_to<T, std::unique_ptr<Member>>) void protect(std::string_view name, T&& object,
                                                                          Redundancy redundancy) {
    if constexpr (detail::can_be_protected<T>())
      protect(name, MemberOf<std::remove_cvref_t<T>>::make(object), redundancy);
  }
  virtual void protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) = 0;

  /// Protects the object of this name no more: later commits do without it, and restores leave it alone. Local. Throws
  /// UsageError when there is none.
  virtual void unprotect(std::string_view name) = 0;

  /// Saves every protected member of every rank as a new version. Collective over the session's ranks. When it
  /// returns, the version survives what its redundancy survives, on every rank; when it throws, the
  /// commit has happened on no rank: ProcessFailure, or, when a member cannot be packed, what was in the way there and
  /// EnvironmentError on all other ranks. Throws UsageError on all ranks when they disagree about the extents of
  /// an array of which they have parts. Returns the new version.
  virtual Version commit() = 0;

  /// Begins the same: when it returns, the data may change again, but is not safe yet; what others keep of it is under
  /// way. Collective. finish_commit() waits for that and publishes; and so do the next commit, restore or
  /// Session::commit_due, and the end of the body. If a process fails before, the version before stands. Messages make
  /// way while the application is in MPI.
  virtual void commit_async() = 0;

  /// Collective; without a commit under way it does nothing. Returns the newest version.
  virtual Version finish_commit() = 0;

  /// Waits until what is being written to disk (--mend-disk) is complete, and can be restored by another job; so does
  /// the end of the body. Collective; without a disk it does nothing. Throws ProcessFailure.
  virtual void finish_disk() = 0;

  /// Fills the protected members from the newest version that every rank can have, and makes it redundant again.
  /// Collective over the session's ranks. Returns that version, or Version{0} when nothing was ever committed (the
  /// members are then left alone). With --mend-disk, what is not in memory is looked for on disk: after a loss too
  /// large, or in a job that has just begun, which goes on where another has ended; it stays on disk alone until the
  /// next commit. Members that are parts of arrays, or replicated (store/member.hpp), may then be of another number of
  /// ranks. Throws DataLoss on every rank when a committed version existed but some rank's snapshot is gone, and
  /// UsageError when a member's shape is not the committed one, or when the job begins with two objects under one name.
  ///
  /// In an epoch of another number of ranks than has committed, such members are given to the ranks of now out of the
  /// memory of all who keep a copy of what they need, and are made redundant by the next commit.
  virtual Version restore() = 0;

  /// The same for an older version, of the last few that are kept (--mend-versions), after which the newer ones are
  /// forgotten. It is as redundant as the failures since it was committed have left it. Throws UsageError when it is
  /// not kept any more, or when ranks ask for different versions.
  virtual Version restore(Version wanted) = 0;
  Version restore(std::uint64_t wanted) { return restore(Version{wanted}); }

  /// Fills the protected members from what rank `from` has committed, at the version that restore() would go back to;
  /// each rank may name another. Its members must be of the same names and shapes. Of the job's memory alone.
  /// Collective. Returns and throws as restore() does, and UsageError for a rank that there is not.
  virtual Version restore_from(Rank from) = 0;
  Version restore_from(int from) { return restore_from(Rank{from}); }

  /// Takes part in a restore() of other ranks, and keeps what its own members hold: for a survivor that stays in its
  /// place (Session::repair) and whose algorithm can go on with data that are newer than the newcomer's. What the
  /// failure has cost is made redundant again as by restore(), at the version that newcomers are given. Collective
  /// together with restore() on the others. Returns and throws as restore() does there.
  virtual Version restore_others() = 0;

  /// The newest version committed or restored; Version{0} before the first.
  virtual Version version() const = 0;

  /// The versions that are kept. Local; those in memory as far as this rank knows: a newcomer has to restore first.
  virtual KeptVersions versions() const = 0;

  /// Whether restore() would bring back what the last commit or restore of this epoch has left, to the ranks that have
  /// committed it; not, after a recovery, before the first of them, nor when some ranks have other data
  /// (restore_others, restore_from, or a restore that was refused). The same on all ranks. Local.
  virtual bool has_version() const = 0;

  /// Where the last restore() found what it has restored.
  virtual Origin restored_from() const = 0;

  virtual const StoreStatistics& statistics() const = 0;

 protected:
  Store() = default;
};

}  // namespace mend
