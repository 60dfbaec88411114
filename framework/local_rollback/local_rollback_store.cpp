#include "framework/local_rollback/local_rollback_store.hpp"

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "framework/recovery/engine.hpp"
#include "framework/local_rollback/local_rollback.hpp"

#include <fmt/format.h>

#include <utility>

namespace mend {
namespace {

[[noreturn]] void refuse_call(std::string_view call) {
  throw UsageError(fmt::format("{} is not covered by --mend-rollback local: use --mend-rollback all", call));
}

}  // namespace

void LocalRollbackStore::protect(std::string_view name, std::unique_ptr<Member> member) {
  engine_.store().protect(name, std::move(member));
}
void LocalRollbackStore::protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) {
  engine_.store().protect(name, std::move(member), redundancy);
}
File LocalRollbackStore::file(std::string_view name) { return engine_.store().file(name); }
File LocalRollbackStore::file(std::string_view name, Redundancy redundancy) {
  return engine_.store().file(name, redundancy);
}
void LocalRollbackStore::replace(std::string_view name, std::unique_ptr<Member> member) {
  engine_.store().replace(name, std::move(member));
}
void LocalRollbackStore::unprotect(std::string_view name) { engine_.store().unprotect(name); }

void LocalRollbackStore::prepare_commit(std::string_view call) {
  if (!rollback_.has_restored()) {
    throw UsageError(
        fmt::format("{} was called before restore(), which --mend-rollback local needs: call it first, once", call));
  }
  rollback_.complete_pending();
  rollback_.try_rank();
}

/// A version that was published before the failure was noticed exists on all ranks, so it is not committed again.
Version LocalRollbackStore::commit() {
  prepare_commit("commit()");
  StoreEngine& store = engine_.store();
  const Version before = store.version();
  return rollback_.through_failures([&] {
    if (store.version() != before) return store.version();
    rollback_.require_nothing_under_way("commit()");
    rollback_.publishing([&] { store.commit(); }, [this](Version version) { rollback_.committed(version); });
    return store.version();
  });
}

/// If a failure interrupts the beginning, it may have been complete on some ranks, which do not come back to it. The
/// commit is not published then. A rank that rolls back comes here again, too.
void LocalRollbackStore::commit_async() {
  if (rollback_.commits_at_once()) {
    commit();
    return;
  }
  prepare_commit("commit_async()");
  rollback_.commits_asynchronously();
  rollback_.through_failures([&] {
    if (rollback_.others_have_begun_commit()) return rollback_.pass_commit();
    rollback_.require_nothing_under_way("commit_async()");
    engine_.store().commit_async();
    rollback_.begun_commit();
  });
}

Version LocalRollbackStore::finish_commit() {
  rollback_.complete_pending();
  return version();
}

Version LocalRollbackStore::restore() {
  if (rollback_.has_restored())
    throw UsageError("restore() was called twice in an entry of the body, which --mend-rollback local does not cover");
  return rollback_.through_failures([&] {
    if (rollback_.others_have_restored()) {
      const Version version = engine_.store().restore();
      rollback_.restored(version);
      return version;
    }
    const Version version = engine_.store().restore();
    rollback_.require_nothing_under_way("restore()");
    engine_.ballot().vote(agreement::Proposal::restore, true);  // all have restored, or none has
    rollback_.restored(version);
    return version;
  });
}

void LocalRollbackStore::finish_disk() { refuse_call("finish_disk()"); }
Version LocalRollbackStore::restore(Version) { refuse_call("restore(version)"); }
Version LocalRollbackStore::restore_from(Rank) { refuse_call("restore_from()"); }
Version LocalRollbackStore::restore_others() { refuse_call("restore_others()"); }
Version LocalRollbackStore::version() const { return engine_.store().version(); }
KeptVersions LocalRollbackStore::versions() const { return engine_.store().versions(); }
Origin LocalRollbackStore::restored_from() const { return engine_.store().restored_from(); }
const StoreStatistics& LocalRollbackStore::statistics() const { return engine_.store().statistics(); }

}  // namespace mend
