// The store, as the application sees it: commit and restore of protected data in the memory of the job itself.
//
// A commit saves all protected members of all ranks as a new version. Other ranks keep what brings a rank's members
// back: a copy, or parities (store/redundancy.hpp). After a failure, restore() gives every rank what it had in the
// newest version that is complete. store/store_engine.hpp says how.
//
// Memory: with V versions, a rank with a snapshot of S bytes keeps V * S for itself, and for others V times what its
// redundancy says. For V commits after a recovery it also keeps what was placed differently before. While parities are
// made, it needs slices of their input as well: 4 MiB, or a 32nd of the longest snapshot if that is more.

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

/// What commits and restores have cost this process so far.
struct StoreStatistics {
  std::uint64_t commits = 0;
  std::uint64_t restores = 0;
  ByteCount snapshot_bytes = 0;  ///< size of this rank's newest snapshot
  ByteCount changed_bytes = 0;   ///< how much of it the last commit copied and sent
  ByteCount memory_bytes = 0;    ///< all buffers of the store in this process
  Seconds commit_time{};         ///< summed over commits
  Seconds restore_time{};
};

/// The versions that restore(Version) accepts, newest first.
struct KeptVersions {
  std::vector<Version> in_memory;
  std::vector<Version> on_disk;  ///< with --mend-disk; also those of earlier jobs
};

/// The protected data of a session (Session::store).
class Store {
 public:
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Protects `object` under `name`: commits save it, restores fill it. Local; before restore(), which fills what is
  /// protected then. The object must outlive the body of mend::run. Of a View, what it refers to now is kept alive and
  /// saved. Protecting the same object again changes nothing; another takes its name by replace(). Throws UsageError
  /// for an empty name, for the name of another object in this entry of the body (since the last recovery, for
  /// survivors that stay in it), and with --mend-disk for one that is not UTF-8.
  ///
  /// A member that is protected after restore() although the version restored has data of its name does not have that
  /// data: the next commit, or the end of the body, throws UsageError, unless it is restored before.
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

  /// A file in memory that is a member of this name (store/file.hpp): written and read like a file, committed and
  /// restored like any member. Protects it at the first call of an entry of the body, which comes before restore(), and
  /// gives the same file later. What is open for writing is refused by commits. Local. Throws UsageError as protect()
  /// does.
  virtual File file(std::string_view name) = 0;
  /// The same, with a redundancy of its own; what later calls say of that is not heard.
  virtual File file(std::string_view name, Redundancy redundancy) = 0;

  /// Has `object` take the place of the one that is protected under `name`, with its redundancy: the next commit saves
  /// this one, and a restore fills it. For double buffers, whose arrays take turns, and for Views that were assigned,
  /// swapped or resized. Local. Throws UsageError when there is no member of this name, or one of another kind or
  /// shape; the extents of Views, and of parts of one array, may differ.
  ///   heat.swap_buffers();
  ///   store.replace("temperature", heat.current());
  template <class T>
  requires(!std::convertible_to<T, std::unique_ptr<Member>>) void replace(std::string_view name, T&& object) {
    if constexpr (detail::can_be_protected<T>()) replace(name, MemberOf<std::remove_cvref_t<T>>::make(object));
  }
  virtual void replace(std::string_view name, std::unique_ptr<Member> member) = 0;

  /// Protects the object of this name no more: later commits do without it, and restores leave it alone. If only the
  /// version restored has a member of this name, it is given up. Local. Throws UsageError when there is neither.
  virtual void unprotect(std::string_view name) = 0;

  /// Saves every protected member of every rank as a new version, and returns its number. When it returns, the version
  /// survives what its redundancy survives, on every rank. When it throws, no rank has committed. Collective over the
  /// session's ranks. Throws ProcessFailure; when a member cannot be packed, the error of the member on its rank and
  /// EnvironmentError on all others; UsageError on all ranks when one of them has made a mistake, or when they disagree
  /// about the extents of a shared array.
  virtual Version commit() = 0;

  /// Begins a commit. When it returns, the data may change again, but is not safe yet: the other ranks do not have
  /// their part. finish_commit() waits for that and publishes the version; so do the next commit, restore or
  /// Session::commit_due, and the end of the body. If a process fails before, the version before stays the newest.
  /// Messages progress while the application is in MPI. Collective over the session's ranks.
  virtual void commit_async() = 0;

  /// Waits for the commit that commit_async() began, and returns the newest version. Without a commit under way it does
  /// nothing else. Collective over the session's ranks.
  virtual Version finish_commit() = 0;

  /// Waits until the versions that are being written to disk (--mend-disk) are complete, so that another job can
  /// restore them. The end of the body does the same. Without a disk it does nothing. Collective over the session's
  /// ranks. Throws ProcessFailure.
  virtual void finish_disk() = 0;

  /// Fills the protected members from the newest version that every rank can have, and makes it redundant again.
  /// Collective over the session's ranks. Returns that version, or Version{0} when nothing was ever committed (the
  /// members are then left alone). With --mend-disk, what is not in memory is looked for on disk: after a loss too
  /// large, or in a job that has just begun, which goes on where another has ended; it stays on disk alone until the
  /// next commit. Members that are parts of arrays, or replicated (store/member.hpp), may then be of another number of
  /// ranks. Throws DataLoss on every rank when a committed version existed but some rank's snapshot is gone, and
  /// UsageError when a member's shape is not the committed one.
  ///
  /// In an epoch of another number of ranks than has committed, such members are given to the ranks of now out of the
  /// memory of all who keep a copy of what they need, and are made redundant by the next commit.
  virtual Version restore() = 0;

  /// Goes back to an older version, of the last few that are kept (--mend-versions). The newer versions are forgotten.
  /// The version is as redundant as the failures since its commit have left it. Throws UsageError when the version is
  /// not kept any more, or when ranks ask for different versions.
  virtual Version restore(Version wanted) = 0;
  /// The same for a number.
  Version restore(std::uint64_t wanted) { return restore(Version{wanted}); }

  /// Fills the protected members with what rank `from` of Session::comm() committed, at the version to which restore()
  /// would go back. Each rank may name another rank. The members must have the same names and shapes there. It uses the
  /// job's memory only. Collective over the session's ranks. Returns and throws as restore() does, and UsageError for a
  /// rank that does not exist.
  virtual Version restore_from(Rank from) = 0;
  /// The same for a number.
  Version restore_from(int from) { return restore_from(Rank{from}); }

  /// Takes part in a restore() of other ranks, and leaves this rank's members as they are. It is for a survivor that
  /// recovers in place (Session::repair) and whose algorithm can go on with data that is newer than the newcomer's.
  /// Lost copies are made again as by restore(), at the version that newcomers get. Collective together with restore()
  /// on the other ranks. Returns and throws as restore() does there.
  virtual Version restore_others() = 0;

  /// The newest version committed or restored; Version{0} before the first. Local.
  virtual Version version() const = 0;

  /// The versions that are kept, as far as this rank knows: a newcomer has to restore first. Local.
  virtual KeptVersions versions() const = 0;

  /// Where the last restore() found its data. Local.
  virtual Origin restored_from() const = 0;

  /// What commits and restores have cost this process so far. Local.
  virtual const StoreStatistics& statistics() const = 0;

 protected:
  Store() = default;
};

}  // namespace mend
