#include "store/engine/store_engine.hpp"

#include "base/assert.hpp"
#include "base/death/fail_stop.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/name_runs.hpp"
#include "base/telemetry/place.hpp"
#include "base/telemetry/trace.hpp"
#include "store/files/file_member.hpp"
#include "store/snapshot/part_boxes.hpp"
#include "store/engine/ballot_remarks.hpp"
#include "store/snapshot/memory/block_reserve.hpp"
#include "transport/collectives.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace mend {

using agreement::Proposal;

namespace {

agreement::Remarks if_so(bool is_so, agreement::Remarks remark) { return is_so ? remark : agreement::Remarks{}; }

}  // namespace

void StoreEngine::begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  ranks_ = {comm, &ballot, Rank{rank}, {nodes.begin(), nodes.end()}};
  is_first_epoch_ = epoch == Epoch{0};
  if (held_.any()) take_back_provisional(held_.first());  // a failure takes provisional commits back
  while (held_.any()) let_go();
  holds_to_drop_ = 0;
  groups_.begin_epoch(ranks_, !is_first_epoch_);
  versions_.begin_epoch(is_first_epoch_);
  members_.begin_epoch();
  statistics_.first_restore_time = {};
  lonely_restores_ = 0;
  if (disk_) disk_->begin_epoch(comm, is_first_epoch_);
}

void StoreEngine::end_epoch() {
  commit_.reset();
  groups_.end_epoch();
}

void StoreEngine::protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) {
  if (name.empty()) throw UsageError("a protected member needs a name");
  if (name.find('\n') != std::string_view::npos) throw UsageError("the name of a protected member is one line");
  if (disk_) require_name_for_disk(name);
  redundancy.require_sense();
  if (redundancy != redundancy_ && is_first_epoch_ && ranks_.comm != MPI_COMM_NULL)
    redundancy.require_ranks(ranks_.count());
  std::shared_ptr<Member> shared = std::move(member);
  const bool is_new_part = !members_.all().contains(name) && array_of(*shared);
  const bool is_of_this_group = groups_.has(name, redundancy);
  const std::optional<std::string> former_shape = members_.shape_of(name);
  members_.protect(name, shared);
  if (!is_of_this_group || former_shape != shared->shape()) ++layouts_so_far_;
  if (is_new_part) arrays_.end();
  groups_.protect(name, std::move(shared), redundancy);
}

std::shared_ptr<FileMember> StoreEngine::find_file(std::string_view name) const {
  const auto known = members_.all().find(name);
  return known == members_.all().end() ? nullptr : std::dynamic_pointer_cast<FileMember>(known->second);
}

File StoreEngine::file(std::string_view name, Redundancy redundancy) {
  if (auto known = find_file(name)) return File(std::move(known));
  protect(name, std::make_unique<FileMember>(std::string(name)), redundancy);
  return File(find_file(name));
}

void StoreEngine::replace(std::string_view name, std::unique_ptr<Member> member) {
  const std::shared_ptr<Member> shared = std::move(member);
  const std::optional<std::string> former_shape = members_.shape_of(name);
  members_.replace(name, shared);
  if (former_shape != shared->shape()) ++layouts_so_far_;
  groups_.replace(name, shared);
}

void StoreEngine::unprotect(std::string_view name) {
  members_.unprotect(name);
  groups_.forget(name);
}

KeptVersions StoreEngine::versions() const {
  std::set<Version> known = groups_.versions();
  known.erase(known.upper_bound(version()), known.end());
  KeptVersions kept{{known.rbegin(), known.rend()}, {}};
  if (disk_) {
    std::ranges::transform(complete_versions(disk_->folder()), std::back_inserter(kept.on_disk),
                           [](const CompleteVersion& one) { return one.version; });
  }
  return kept;
}

void StoreEngine::forget_members() {
  members_.forget();
  groups_.forget_members();
  arrays_.end();
}

/// Runs `work`, in which ranks wait for each other. `place`: where they wait. If memory runs out in a way that the
/// ranks have not agreed on, this process ends itself, because the others would wait for it.
template <class Work>
auto StoreEngine::together(Place place, Work work) {
  const AtPlace at_place(place);
  std::exception_ptr problem;
  try {
    return work();
  } catch (const AgreedProblem& agreed) {
    problem = agreed.problem;
  } catch (const std::bad_alloc&) {
    fail_stop("there is no memory for its part of a commit or restore");
  }
  std::rethrow_exception(problem);
}

/// Runs `work`. If it throws, drops what it has prepared and the exchange that it has begun, so that nothing finishes
/// it later.
template <class Work>
auto StoreEngine::whole(Work work) {
  try {
    return work();
  } catch (...) {
    end_epoch();
    throw;
  }
}

/// Called when some ranks have called restore() more often than others while there was nothing to restore. After a
/// failure these calls would wait for all ranks. Collective.
void StoreEngine::refuse_lonely_restores() {
  const std::vector<int> counts = gather_padded(ranks_.comm, std::vector<int>{lonely_restores_}).all;
  std::map<int, std::vector<Rank>> ranks_by_count;
  for (int rank = 0; rank < ranks_.count(); ++rank)
    ranks_by_count[counts.at(static_cast<std::size_t>(rank))].push_back(Rank{rank});
  std::vector<std::string> parts;
  for (const auto& [count, ranks] : ranks_by_count)
    parts.push_back(fmt::format("{} {}", name_ranks(ranks), counted(static_cast<std::size_t>(count), "time")));
  throw agreement::OrderError(fmt::format(
      "before the first commit, restore() was called by {}: every rank must call it as often, because it waits for all "
      "ranks once there is something to restore",
      fmt::join(parts, ", by ")));
}

/// Makes sure by a ballot that all ranks are here. Without the ballot, this rank and a rank that has reached another
/// operation (an agreement, the end of its body) would wait for each other forever. `mine`: the remarks that this rank
/// adds to its vote. Afterwards all ranks know the same versions and groups.
agreement::Remarks StoreEngine::meet_for(Proposal proposal, agreement::Remarks mine) {
  if (ranks_.ballot == nullptr) throw agreement::Abandoned();
  // Provisional commits do not go to disk.
  const Version of_disk = held_.is_next_commit_provisional() ? Version{} : versions_.next();
  agreement::Remarks said = mine;
  if (disk_) said |= disk_->remarks(of_disk);
  if (groups_.are_known_to_all()) said |= knows_all_groups;
  if (arrays_.is_reached()) said |= arrays_are_agreed;
  said |= static_cast<agreement::Remarks>(has_restored_0_mod_3 << lonely_restores_ % 3);
  if (!ranks_.ballot->vote(proposal, true, said))
    throw EnvironmentError(fmt::format("a rank refused {}", name_of(proposal)));
  if (!(said & has_restored_as_often)) refuse_lonely_restores();
  lonely_restores_ = 0;
  if (disk_ && proposal == Proposal::commit) disk_->hear(said);
  if (versions_.may_differ()) {
    KnownVersions::Numbers known = versions_.told();
    call_mpi(
        [&] {
          return MPI_Allreduce(MPI_IN_PLACE, known.data(), static_cast<int>(known.size()), MPI_UINT64_T, MPI_MAX,
                               ranks_.comm);
        },
        "MPI_Allreduce");
    versions_.agree(known);
  }
  if (!(said & knows_all_groups)) groups_.agree(ranks_);
  return said;
}

// --- commit ----------------------------------------------------------------------------------------------------

Version StoreEngine::commit() {
  return together(Place::commit, [&] {
    begin_commit();
    return end_commit();
  });
}

void StoreEngine::commit_async() {
  together(Place::commit, [&] { begin_commit(); });
}

Version StoreEngine::finish_commit() {
  return together(Place::commit, [&] { return end_commit(); });
}

/// Returns the problem that prevents this rank from packing its members, or null. Local.
std::exception_ptr StoreEngine::prepare_members() {
  try {
    require_restored();
    groups_.prepare_commit();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// Returns true if this rank has received a request from outside. Provisional commits neither go to disk nor end the
/// job, so they ignore it.
bool StoreEngine::has_been_asked() const {
  return asker_.has_asked && !held_.is_next_commit_provisional() && asker_.has_asked();
}

/// Returns true if any rank has received a request from outside; then this commit goes to disk. The same on all ranks.
/// Collective.
bool StoreEngine::demand(agreement::Remarks said) {
  if (said & nothing_asked) return false;
  asker_.tell(ranks_.comm);
  if (disk_) disk_->demand(*ranks_.ballot, said);
  return true;
}

void StoreEngine::begin_commit() {
  end_commit();
  trace::Span span("commit");
  span.note("version", versions_.next().value);
  Stopwatch watch;
  commit_ = whole([&] { return pack_and_send(); });
  reach("commit.exchange");
  statistics_.commit_time += watch.elapsed();
}

/// Begins a commit if all ranks have come to it and can pack their members. Collective.
CommitUnderWay StoreEngine::pack_and_send() {
  const std::exception_ptr problem = prepare_members();
  const agreement::Remarks mine = if_so(problem == nullptr, can_be_packed) | if_so(!has_been_asked(), nothing_asked);
  const agreement::Remarks said = meet_for(Proposal::commit, mine);
  if (!(said & can_be_packed)) refuse_commit(ranks_, problem);
  if (!(said & arrays_are_agreed)) arrays_.reach(ranks_, members_.all());
  CommitUnderWay begun{versions_.next(), {}, nullptr, demand(said), layouts_so_far_};

  if (disk_) disk_->prepare(begun.version, members_.all());
  reach("commit.pack");
  groups_.for_each_in_use([&](MemberGroup& group, int tag) {
    group.begin_commit(begun.version, versions_.settled(), tag, disk_ && disk_->is_due(), begun.problem);
    begun.groups.push_back(&group);
  });
  return begun;
}

/// Completes the commit under way, if there is one. Then discards the holds that drop_provisional() has left to it.
Version StoreEngine::end_commit() {
  if (holds_to_drop_ == 0) return publish_commit_under_way();
  try {
    publish_commit_under_way();     // otherwise its messages would match those of a later commit
  } catch (const AgreedProblem&) {  // a commit that was refused is dropped already, on all ranks
  } catch (const UsageErrorOfRank&) {
  } catch (const RefusedCommit&) {
  }
  for (; holds_to_drop_ > 0; --holds_to_drop_) drop_hold();
  return versions_.published();
}

Version StoreEngine::publish_commit_under_way() {
  groups_.finish_restoring_redundancy();
  if (!commit_) return versions_.published();
  trace::Span span("commit");
  span.note("version", versions_.next().value);
  Stopwatch watch;
  const CommitUnderWay begun = *std::exchange(commit_, std::nullopt);
  const Version version = begun.version;
  require(version == versions_.next(), "no version is published between the beginning of a commit and its end");
  whole([&] { vote_on_commit(begun, ranks_); });
  publish_commit(begun, ranks_, groups_, versions_);
  layout_of_version_ = begun.layout;
  if (held_.next_commit_ends_a_hold()) let_go();
  if (disk_) {
    std::vector<std::span<const std::byte>> snapshots;
    for (MemberGroup* group : begun.groups) snapshots.push_back(group->own_snapshot(version));
    disk_->write(snapshots);
  }

  ++statistics_.commits;
  statistics_.commit_time += watch.elapsed();
  note_sizes();
  span.note("bytes", statistics_.changed_bytes);
  if (commit_listener_) commit_listener_();
  if (begun.is_requested) {
    if (disk_) disk_->finish(*ranks_.ballot, version);
    asker_.committed(version, version_on_disk() == version);
  }
  return version;
}

void StoreEngine::complete_pending() { commit_ ? static_cast<void>(finish_commit()) : groups_.publish_what_came(); }

std::vector<ByteCount> StoreEngine::block_sizes() const { return groups_.block_sizes(versions_.published()); }

void StoreEngine::hold() {
  held_.hold(versions_.published());
  groups_.hold(versions_.published());
}

void StoreEngine::let_go() {
  if (const auto version = held_.let_go()) groups_.let_go(*version);
}

Version StoreEngine::commit_and_let_go() {
  finish_commit();
  held_.end_with_next_commit();
  return commit();
}

void StoreEngine::take_back_provisional(Version version) {
  groups_.forget_newer(version);
  versions_.take_back(version);
}

void StoreEngine::drop_provisional() {
  if (commit_ || holds_to_drop_ > 0) {
    ++holds_to_drop_;  // other ranks may not be here to vote on the commit
  } else {
    drop_hold();
  }
}

void StoreEngine::drop_hold() {
  take_back_provisional(held_.last());
  let_go();
}

void StoreEngine::note_sizes() {
  const MemberGroups::SnapshotBytes bytes = groups_.snapshot_bytes();
  statistics_.snapshot_bytes = bytes.all;
  statistics_.changed_bytes = bytes.changed;
  statistics_.memory_bytes = (disk_ ? disk_->memory() : 0) + BlockReserve::instance().bytes() + groups_.memory();
}

void StoreEngine::finish_disk() {
  if (!disk_ || ranks_.ballot == nullptr) return;
  together(Place::commit, [&] {
    end_commit();
    disk_->finish(*ranks_.ballot, versions_.published());
  });
}

// --- restore ---------------------------------------------------------------------------------------------------

Version StoreEngine::restore() {
  return together(Place::restore, [&] { return restore_version({}, Fills::members); });
}

Version StoreEngine::restore(Version wanted) {
  return together(Place::restore, [&] { return restore_version(wanted, Fills::members); });
}

std::vector<Version> StoreEngine::restore_with_older(int older) {
  return together(Place::restore, [&]() -> std::vector<Version> {
    const bool is_first = statistics_.first_restore_time == Seconds{};
    const Version newest = restore_version({}, Fills::members);
    if (newest == Version{}) return {};
    std::vector<Version> all;
    if (older > 0) {
      Stopwatch watch;
      all = whole([&] { return restorer().bring_older(newest, static_cast<std::size_t>(older)); });
      note_restore_time(watch.elapsed(), is_first);
    }
    all.insert(all.begin(), newest);
    return all;
  });
}

std::span<const std::byte> StoreEngine::packed_member(Version version) {
  return members_of(groups_.usual().own_snapshot(version)).front().data;
}

Version StoreEngine::restore_others() {
  finish_commit();
  // Without members, the snapshot fills nothing.
  const struct MembersSetAside {
    explicit MembersSetAside(StoreEngine& store)
        : store_(store), members_(store.members_.set_aside()), of_groups_(store.groups_.set_aside_members()) {}
    ~MembersSetAside() {
      store_.members_.put_back(std::move(members_));
      store_.groups_.put_back(std::move(of_groups_));
    }
    StoreEngine& store_;
    Members members_;
    std::map<Redundancy, Members> of_groups_;
  } meanwhile(*this);
  return together(Place::restore, [&] { return restore_version({}, Fills::nothing); });
}

Version StoreEngine::restore_version(std::optional<Version> wanted, Fills what) {
  end_commit();
  if (wanted && held_.any() && *wanted < held_.last())
    throw UsageError(
        "restore(version) in a transaction cannot go back to before its beginning: return false, and restore after it");
  if (!wanted && !versions_.may_differ() && !versions_.any() && !disk_) {  // known without a ballot
    ++lonely_restores_;
    return Version{};
  }
  trace::Span span("restore");
  Stopwatch watch;
  const agreement::Remarks said = meet_for(Proposal::restore, if_so(what == Fills::members, gives_up_its_data));
  const Version newest = versions_.published();
  versions_.begin_restore();
  reach("restore.inventory");
  const Restorer::Restored restored = whole([&] { return restorer().restore(wanted); });
  versions_.restored(restored.version, (said & gives_up_its_data) != 0);
  roll_back_disk(restored, wanted || restored.version < newest);
  span.note("version", restored.version.value);
  return has_gone_back_to(restored, what, watch);
}

/// After a restore. `goes_back`: newer versions were given up, so those that are on disk must not be restored later.
void StoreEngine::roll_back_disk(const Restorer::Restored& restored, bool goes_back) {
  const bool is_from_disk = restored.origin == Origin::disk;
  if (disk_ && restored.version != Version{} && (goes_back || is_from_disk))
    disk_->go_on_from(restored.version, is_from_disk);
}

Version StoreEngine::restore_from(Rank from) {
  return together(Place::restore, [&] {
    end_commit();
    trace::Span span("restore");
    Stopwatch watch;
    meet_for(Proposal::restore, gives_up_its_data);
    restorer().require_rank_for_all(from);
    const Version newest = versions_.published();
    versions_.begin_restore();
    const Restorer::Restored restored = whole([&] { return restorer().restore_from(from); });
    versions_.restored(restored.version, false);  // the members differ from what their ranks committed
    roll_back_disk(restored, restored.version < newest);
    span.note("version", restored.version.value);
    return has_gone_back_to(restored, Fills::members, watch);
  });
}

Version StoreEngine::has_gone_back_to(Restorer::Restored restored, Fills what, Stopwatch watch) {
  if (what == Fills::members) {
    members_.note_restored(restored.version, std::move(restored.names), std::move(restored.elsewhere));
    layout_of_version_ = layouts_so_far_;
  }
  if (restored.version == Version{}) return restored.version;
  if (restored.origin == Origin::disk) versions_.forget_memory();
  origin_ = restored.origin;
  reach("restore.done");
  ++statistics_.restores;
  note_restore_time(watch.elapsed(), statistics_.first_restore_time == Seconds{});
  note_sizes();
  return restored.version;
}

/// `is_first`: it belongs to the first restore since the last recovery.
void StoreEngine::note_restore_time(Seconds time, bool is_first) {
  statistics_.restore_time += time;
  if (is_first) statistics_.first_restore_time += time;
}

void StoreEngine::save_what_is_left() {
  if (!disk_) return;
  together(Place::restore, [&] {
    meet_for(Proposal::restore, gives_up_its_data);
    if (!versions_.are_of_others(ranks_.count())) return;
    whole([&] { restorer().save_what_is_left(); });
  });
}

}  // namespace mend
