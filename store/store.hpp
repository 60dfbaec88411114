// The store as the application sees it: commits and restores protected data in the memory of the job itself.
//
// A commit saves all protected members of all ranks as a new version. Other ranks keep redundant data for each rank's
// members: a copy, or parities (store/redundancy.hpp). After a failure, restore() gives every rank its data of the
// newest complete version. store/engine/store_engine.hpp explains how.
//
// Memory: with V versions, a rank with a snapshot of S bytes keeps V * S for itself, and for other ranks V times the
// amount that its redundancy needs. For V commits after a recovery it also keeps blocks of the earlier placement. While
// parities of K ranks are made, it also needs slices of their input: 4 MiB, or K * 512 KiB, or a 32nd of the longest
// snapshot, whichever is most, but no more than twice the snapshots.

#pragma once

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "store/file.hpp"
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
  nowhere,  ///< nothing was restored
  memory,   ///< the memory of the job itself
  disk,     ///< --mend-disk: written by this job, or by an earlier one
};

/// The cost of commits and restores in this process so far.
struct StoreStatistics {
  std::uint64_t commits = 0;
  std::uint64_t restores = 0;
  ByteCount snapshot_bytes = 0;  ///< size of this rank's newest snapshot
  ByteCount changed_bytes = 0;   ///< how much of it the last commit copied and sent
  ByteCount memory_bytes = 0;    ///< all buffers of the store in this process
  Seconds commit_time{};         ///< the sum over all commits
  Seconds restore_time{};        ///< the sum over all restores
  Seconds first_restore_time{};  ///< of the first restore since the last recovery
};

/// The versions that restore(Version) accepts, newest first.
struct KeptVersions {
  std::vector<Version> in_memory;  ///< a commit that failed or was refused may have taken the memory of the oldest
  std::vector<Version> on_disk;    ///< with --mend-disk; includes those of earlier jobs
};

/// The protected data of a session (Session::store).
class Store {
 public:
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Protects `object` under `name`: commits save it, restores fill it. Local. Call it before restore(), which fills
  /// the objects that are protected then. The object must live until the body is left. For a View, its present memory
  /// is kept alive and saved. Protecting the same object again changes nothing; to give its name to another object, use
  /// replace(). Throws UsageError for an empty name, for the name of another object in this entry of the body (since
  /// the last recovery, for survivors that stay in it), and with --mend-disk for a name that is not UTF-8.
  ///
  /// If a member is protected after restore() although the restored version has data of its name, the member does not
  /// have that data: the next commit, or the end of the body, throws UsageError, unless the member is restored before.
  template <class T>
  requires(!std::convertible_to<T, std::unique_ptr<Member>>) void protect(std::string_view name, T&& object) {
    if constexpr (detail::can_be_protected<T>()) protect(name, MemberOf<std::remove_cvref_t<T>>::make(object));
  }
  virtual void protect(std::string_view name, std::unique_ptr<Member> member) = 0;

  /// The same, with a redundancy of its own: a large field may have parities, and a few small values copies. Members
  /// with the same redundancy are kept together. A version is lost if the data of any of them is lost. Also throws
  /// UsageError if the job has begun with too few ranks for the redundancy, or if it is one that parse() does not make.
  ///   store.protect("mesh", mesh, mend::Redundancy::parse("rs:4+2"));
  template <class T>
  requires(!std::convertible_to<T, std::unique_ptr<Member>>) void protect(std::string_view name, T&& object,
                                                                          Redundancy redundancy) {
    if constexpr (detail::can_be_protected<T>())
      protect(name, MemberOf<std::remove_cvref_t<T>>::make(object), redundancy);
  }
  virtual void protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) = 0;

  /// Returns a file in memory that is a member with this name (store/file.hpp): it is written and read like a file, and
  /// committed and restored like other members. The first call in an entry of the body protects it and must come before
  /// restore(); later calls return the same file. Commits refuse files that are open for writing. Local. Throws
  /// UsageError as protect() does.
  virtual File file(std::string_view name) = 0;
  /// The same, with a redundancy of its own, which only the first call sets.
  virtual File file(std::string_view name, Redundancy redundancy) = 0;

  /// Replaces the object that is protected under `name` by `object`, with the same redundancy: the next commit saves
  /// it, and a restore fills it. For double buffers, whose arrays take turns, and for Views that were assigned, swapped
  /// or resized. Local. Throws UsageError if there is no member of this name, or if it is of another kind or shape; the
  /// extents of Views, and of parts of one array, may differ.
  ///   heat.swap_buffers();
  ///   store.replace("temperature", heat.current());
  template <class T>
  requires(!std::convertible_to<T, std::unique_ptr<Member>>) void replace(std::string_view name, T&& object) {
    if constexpr (detail::can_be_protected<T>()) replace(name, MemberOf<std::remove_cvref_t<T>>::make(object));
  }
  virtual void replace(std::string_view name, std::unique_ptr<Member> member) = 0;

  /// Ends the protection of the object with this name: later commits omit it, and restores do not change it. If only
  /// the restored version has a member of this name, its data is given up. Local. Throws UsageError if there is
  /// neither.
  virtual void unprotect(std::string_view name) = 0;

  /// Saves every protected member of every rank as a new version, and returns its number. When it returns, the version
  /// survives on every rank the losses that its redundancy covers. If it throws, no rank has committed, unless the
  /// commit was asked for from outside (mend commit) and a process died while it was brought to disk: version() tells.
  /// Collective over the session's ranks. Throws ProcessFailure; if a member cannot be packed, the error of the member
  /// on its rank and EnvironmentError on all others; UsageError on all ranks if one of them has made a mistake, or if
  /// they disagree about the extents of a shared array.
  virtual Version commit() = 0;

  /// Begins a commit. When it returns, the data may change again, but is not safe yet: the other ranks do not have
  /// their part. finish_commit() waits for that and publishes the version; so do the next commit, restore or
  /// Session::commit_due, and the end of the body. If a process fails before, the previous version stays the newest.
  /// With --mend-rollback local, the job goes on after such a failure without this version; Session::commit_due asks
  /// for another commit then. Messages progress while the application is in MPI. Collective over the session's ranks.
  virtual void commit_async() = 0;

  /// Waits for the commit that commit_async() began, and returns the newest version. If no commit is under way, only
  /// returns it. Also waits for the copies that a restore sends: then the data is as redundant as before the failure.
  /// Collective over the session's ranks.
  virtual Version finish_commit() = 0;

  /// Waits until the versions that are being written to disk (--mend-disk) are complete, so that another job can
  /// restore them. The end of the body does the same. Without a disk it does nothing. Collective over the session's
  /// ranks. Throws ProcessFailure, and UsageError with --mend-rollback local.
  virtual void finish_disk() = 0;

  /// Fills the protected members from the newest version that every rank can have, and makes it redundant again. Copies
  /// are sent while the application goes on: until the next commit or finish_commit(), the data that was lost with the
  /// dead processes may have one copy less (docs/store.md). Collective over the session's ranks. Returns that version.
  /// If nothing was ever committed, returns Version{0} and does not change the members. With --mend-disk, data that is
  /// not in memory is looked for on disk: after a loss that is too large, or in a new job that continues an earlier
  /// one. Until the next commit, that data is only on disk. Members that are parts of arrays, or replicated
  /// (store/member.hpp), may then have been committed by another number of ranks. Throws DataLoss on every rank if a
  /// committed version existed but some rank's snapshot is gone, and UsageError if a member's shape is not the
  /// committed one.
  ///
  /// In an epoch with another number of ranks than at the commit, these members are distributed to the present ranks
  /// from the memory of all ranks that keep copies of the data. The next commit makes them redundant.
  virtual Version restore() = 0;

  /// Restores one of the older versions that are kept (--mend-versions). Newer versions are forgotten. The version is
  /// as redundant as the failures since its commit have left it. Throws UsageError if the version is no longer kept, or
  /// if ranks ask for different versions.
  virtual Version restore(Version wanted) = 0;
  /// The same for a number.
  Version restore(std::uint64_t wanted) { return restore(Version{wanted}); }

  /// Fills the protected members with the data that rank `from` of Session::comm() committed, at the version to which
  /// restore() would roll back. Each rank may name another rank. The members must have the same names and shapes there.
  /// It uses only the job's memory. Collective over the session's ranks. Returns and throws as restore() does, and
  /// throws UsageError for a rank that does not exist.
  virtual Version restore_from(Rank from) = 0;
  /// The same for a number.
  Version restore_from(int from) { return restore_from(Rank{from}); }

  /// Takes part in a restore() of other ranks, and leaves this rank's members unchanged. It is for a survivor that
  /// recovers in place (Session::repair) and whose algorithm can continue with data that is newer than the newcomer's.
  /// Lost copies are made again as by restore(), at the version that newcomers get. Collective together with restore()
  /// on the other ranks. Returns and throws as restore() does there.
  virtual Version restore_others() = 0;

  /// Returns the newest version committed or restored; Version{0} before the first. Local.
  virtual Version version() const = 0;

  /// Returns the versions that are kept, as far as this rank knows. A newcomer must restore first. Local.
  virtual KeptVersions versions() const = 0;

  /// Returns where the last restore() found its data. Local.
  virtual Origin restored_from() const = 0;

  /// The cost of commits and restores in this process so far. Local.
  virtual const StoreStatistics& statistics() const = 0;

 protected:
  Store() = default;
};

}  // namespace mend
