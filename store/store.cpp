#include "store/store.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "store/announcement.hpp"
#include "store/inventory.hpp"
#include "store/redistribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ranges>
#include <set>

namespace mend {
namespace {

using agreement::Motion;

constexpr auto any_version = std::numeric_limits<std::uint64_t>::max();

bool has_part_in(const Stripe& stripe, Rank rank) {
  const auto contains = [&](const std::vector<Rank>& ranks) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); };
  return contains(stripe.owners) || contains(stripe.keepers);
}

/// What gives every keeper of these stripes what it shall keep, after these changes. There is something for each: the
/// header of a snapshot changes at every commit, and each stripe has one owner's first piece.
std::vector<Combination> encode_all(const std::vector<Stripe>& stripes, const Sizes& sizes, std::span<const Changes> changes) {
  std::vector<Combination> work;
  for (const Stripe& stripe : stripes) {
    const std::vector<ByteRange> stale = stale_ranges(stripe, sizes, changes);
    for (std::size_t row = 0; row < stripe.keepers.size(); ++row) {
      for (const ByteRange& range : stale) work.push_back(encode(stripe, row, sizes, range));
    }
  }
  return work;
}

/// What is lost, and what follows from that.
std::string describe_loss(const RestorePlan& plan, std::string_view consequence) {
  const bool several = plan.missing.size() > 1;
  return fmt::format(
      "the data of rank{} {} at version {} is lost: {} died together with those who held what would bring it back, or "
      "that is corrupt; {}",
      several ? "s" : "", fmt::join(plan.missing | std::views::transform([](Rank rank) { return rank.value; }), ", "),
      plan.newest_seen->value, several ? "they" : "it", consequence);
}

std::string describe_versions(Version wanted, const std::vector<Holding>& inventory) {
  std::set<std::uint64_t> kept;
  for (const Holding& holding : inventory) kept.insert(holding.version.value);
  return fmt::format("version {} cannot be restored: kept are {}; --mend-versions says how many", wanted.value,
                     kept.empty() ? "none" : fmt::format("{}", fmt::join(kept, ", ")));
}

}  // namespace

void Store::begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch) {
  comm_ = comm;
  ballot_ = &ballot;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  self_ = Rank{rank};
  const Redundancy fitting = redundancy_.fitting(static_cast<int>(nodes.size()));
  if (fitting != redundancy_ && self_ == Rank{0}) {
    log::warn(fmt::format("with {} ranks left there can be no redundancy {}: it is {} now", nodes.size(), to_string(redundancy_),
                          to_string(fitting)));
  }
  stripes_ = place(fitting, nodes);
  concerned_.clear();
  std::ranges::copy_if(stripes_, std::back_inserter(concerned_), [&](const Stripe& s) { return has_part_in(s, self_); });
  sizes_.assign(nodes.size(), 0);
  settled_ = published_;
  ranks_may_differ_ = epoch > Epoch{0};
  if (disk_) disk_->begin_epoch(comm);
}

void Store::protect(std::string_view name, std::unique_ptr<Member> member) {
  if (name.empty()) throw UsageError("a protected member needs a name");
  if (name.find('\n') != std::string_view::npos) throw UsageError("the name of a protected member is one line");
  members_.insert_or_assign(std::string(name), std::move(member));
}

/// Makes sure that all ranks are here. A rank that has come to something else (an agreement, the end of its body) would
/// otherwise be waited for in a message exchange, and wait itself, for ever; a ballot tells everyone.
void Store::meet_for(Motion motion) {
  if (ballot_ == nullptr) throw agreement::Abandoned();
  agreement::Remarks said = disk_ ? disk_->remarks(published_.next()) : agreement::Remarks{};
  if (!ballot_->vote(motion, true, said)) throw EnvironmentError(fmt::format("a rank refused {}", name_of(motion)));
  if (disk_ && motion == Motion::commit) disk_->hear(said);
}

/// In an epoch that began with a recovery and in which nothing was restored, a newcomer does not know yet how many
/// versions there were.
void Store::catch_up_with_survivors() {
  if (!ranks_may_differ_) return;
  std::array<std::uint64_t, 2> known{published_.value, static_cast<std::uint64_t>(committed_by_)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, known.data(), 2, MPI_UINT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  settled_ = published_ = Version{known[0]};
  committed_by_ = static_cast<int>(known[1]);
  ranks_may_differ_ = false;
}

// --- commit ----------------------------------------------------------------------------------------------------

Version Store::commit() {
  commit_async();
  return finish_commit();
}

void Store::commit_async() {
  finish_commit();
  const trace::Span span("commit");
  Stopwatch watch;
  meet_for(Motion::commit);
  catch_up_with_survivors();
  const Version version = published_.next();

  if (disk_) disk_->prepare(version, members_);
  reach("commit.pack");
  const std::vector<Changes> changes = exchange_changes(concerned_, comm_, pack_own(version), sizes_);
  under_way_ = begin(encode_all(concerned_, sizes_, changes), version);
  reach("commit.exchange");
  statistics_.commit_time += watch.elapsed();
}

Version Store::finish_commit() {
  if (!under_way_) return published_;
  const trace::Span span("commit");
  Stopwatch watch;
  const std::unique_ptr<Exchange> exchange = std::move(under_way_);
  const Version version = published_.next();
  finish(*exchange, version);

  reach("commit.vote");
  if (!ballot_->vote(Motion::commit, true)) throw EnvironmentError("a rank refused the commit");
  reach("commit.publish");
  shelves_.publish(Block::snapshot_of(self_), version);
  publish(exchange->work(), version);
  shelves_.forget_old(version);
  if (committed_by_ != ranks()) shelves_.forget_older(version);
  committed_by_ = ranks();
  published_ = version;
  if (disk_) disk_->write(shelves_.at(Block::snapshot_of(self_), version).bytes);

  ++statistics_.commits;
  statistics_.commit_time += watch.elapsed();
  note_sizes();
  return version;
}

void Store::note_sizes() {
  statistics_.snapshot_bytes = sizes_[static_cast<std::size_t>(self_.value)];
  statistics_.memory_bytes = shelves_.memory() + (disk_ ? disk_->memory() : 0);
}

/// Packs this rank's snapshot into its slot; over the older one there if all who have copies or parities of that have
/// them still.
Changes Store::pack_own(Version version) {
  const Block snapshot = Block::snapshot_of(self_);
  const bool over_older = shelves_.older_in_slot(snapshot, version) > settled_;
  Kept& own = shelves_.slot_for(snapshot, version);
  Changes changes = pack(members_, self_, version, own.bytes, over_older);
  own.sizes = {own.bytes.size()};
  sizes_[static_cast<std::size_t>(self_.value)] = own.bytes.size();
  statistics_.changed_bytes = 0;
  for (const ByteRange& range : changes.ranges) statistics_.changed_bytes += range.end - range.begin;
  return changes;
}

/// Prepares the slots of all that this rank gets by `work`.
void Store::make_room(std::span<const Combination> work, Version version) {
  for (const Combination& step : work) {
    if (step.to != self_) continue;
    Kept& kept = shelves_.slot_for(step.target, version);
    kept.sizes = sizes_of(step.target, sizes_);
    kept.bytes.resize(step.whole);
  }
}

/// Begins to carry out this rank's part of `work`.
std::unique_ptr<Exchange> Store::begin(std::vector<Combination> work, Version version) {
  make_room(work, version);
  return std::make_unique<Exchange>(std::move(work), comm_, [this, version](const Block& block) {
    return std::span(shelves_.at(block, version).bytes);
  });
}

/// When it returns, what this rank makes is in its slots, sealed, and not yet published.
void Store::finish(Exchange& exchange, Version version) {
  exchange.finish();
  std::map<Block, std::vector<ByteRange>> made;
  for (const Combination& step : exchange.work()) {
    if (step.to == self_) made[step.target].push_back({step.offset, step.offset + step.length});
  }
  for (const auto& [block, ranges] : made) {
    if (!block.is_snapshot()) seal(block, version, ranges, shelves_.at(block, version));
  }
}

void Store::publish(std::span<const Combination> made, Version version) {
  for (const Combination& step : made) {
    if (step.to == self_) shelves_.publish(step.target, version);
  }
}

void Store::finish_disk() {
  if (disk_ && ballot_ != nullptr) disk_->finish(*ballot_);
}

// --- restore ---------------------------------------------------------------------------------------------------

Version Store::restore() {
  finish_commit();
  if (!ranks_may_differ_ && published_ == Version{} && !disk_) return Version{};  // known to all without asking
  return restore_version({});
}

Version Store::restore(Version wanted) {
  finish_commit();
  return restore_version(wanted);
}

Version Store::restore_version(std::optional<Version> wanted) {
  const trace::Span span("restore");
  Stopwatch watch;
  meet_for(Motion::restore);
  catch_up_with_survivors();
  reach("restore.inventory");
  const Version version = restore_what_is_planned(wanted);
  if (version == Version{}) return version;
  if (disk_ && (wanted || origin_ == Origin::disk)) disk_->go_on_from(version);
  return has_gone_back_to(version, watch);
}

Version Store::has_gone_back_to(Version version, Stopwatch watch) {
  settled_ = published_ = version;
  reach("restore.done");
  ++statistics_.restores;
  statistics_.restore_time += watch.elapsed();
  note_sizes();
  return version;
}

Version Store::restore_what_is_planned(std::optional<Version> wanted) {
  if (committed_by_ == 0 || committed_by_ == ranks()) {
    const RestorePlan plan = plan_undamaged(wanted);
    return plan.version ? restore_from_memory(plan) : restore_from_disk(wanted, plan);
  }
  // Meanwhile, the sizes are those of the snapshots of the ranks of then.
  const struct SizesOfNow {
    explicit SizesOfNow(Sizes& sizes) : sizes_(sizes), ranks_(sizes.size()) {}
    ~SizesOfNow() { sizes_.assign(ranks_, 0); }
    Sizes& sizes_;
    std::size_t ranks_;
  } back_then(sizes_);
  const GatheringPlan plan = gathering_undamaged(wanted);
  return plan.restore.version ? restore_of_other_ranks(plan) : restore_from_disk(wanted, plan.restore);
}

Version Store::restore_from_memory(const RestorePlan& plan) {
  const bool has_arrived = bring_back(plan);
  reach("restore.unpack");
  confirm(try_unpack(*plan.version, has_arrived));
  shelves_.forget_newer(*plan.version);
  origin_ = Origin::memory;
  return *plan.version;
}

/// Gives everyone what it is to have of a version; returns whether this rank's own snapshot has come from others.
bool Store::bring_back(const RestorePlan& plan) {
  const Version version = *plan.version;
  reach("restore.transfer");
  const auto bringing = begin(plan.bring, version);
  reach("restore.exchange");
  finish(*bringing, version);
  publish(plan.bring, version);  // at once: should somebody die now, this is not lost with it
  const auto protecting = begin(plan.protect, version);
  reach("restore.protect");
  finish(*protecting, version);
  publish(plan.protect, version);
  return std::ranges::any_of(plan.bring, [&](const Combination& step) {
    return step.to == self_ && step.target == Block::snapshot_of(self_);
  });
}

/// Gives arrays to other ranks than have committed them.
Version Store::restore_of_other_ranks(const GatheringPlan& plan) {
  const Version version = *plan.restore.version;
  bring_back(plan.restore);
  reach("restore.unpack");
  redistribute(comm_, plan.keepers, [&](Rank owner) { return std::span<const std::byte>(shelves_.at(Block::snapshot_of(owner), version).bytes); },
               members_);
  std::exception_ptr problem;
  const Parts parts = parts_of(members_);
  for (const auto& [name, member] : members_) {
    if (parts.contains(name) || problem) continue;
    problem = std::make_exception_ptr(UsageError(
        fmt::format("member '{}' is kept rank by rank, and version {} was committed by {} ranks: protect it as mend::part of an array "
                    "or as mend::replicated",
                    name, version.value, committed_by_)));
  }
  confirm(problem);
  shelves_.forget_newer(version);
  origin_ = Origin::memory;
  return version;
}

Version Store::restore_from(Rank from) {
  if (from < Rank{0} || from >= Rank{ranks()}) throw UsageError(fmt::format("there is no rank {} to restore from: there are {}", from.value, ranks()));
  finish_commit();
  const trace::Span span("restore");
  Stopwatch watch;
  meet_for(Motion::restore);
  catch_up_with_survivors();
  if (committed_by_ != 0 && committed_by_ != ranks()) {
    throw UsageError(fmt::format("another rank's data cannot be had from a version that {} ranks have committed: restore() first, and commit", committed_by_));
  }
  reach("restore.inventory");
  const RestorePlan plan = plan_undamaged({});
  if (!plan.version) return restore_from_disk({}, plan);
  const Version version = *plan.version;
  const bool has_arrived = bring_back(plan);
  reach("restore.unpack");
  const Bytes other = fetch_snapshot_of(from, version);
  std::exception_ptr problem;
  if (from == self_) {
    problem = try_unpack(version, has_arrived);
  } else {
    try {
      if (const auto damage = find_damage(other, from, version)) throw DataLoss(fmt::format("the data of rank {} came damaged ({})", from.value, *damage));
      unpack(other, members_);
    } catch (...) {
      problem = std::current_exception();
    }
  }
  confirm(problem);
  shelves_.forget_newer(version);
  origin_ = Origin::memory;
  return has_gone_back_to(version, watch);
}

/// A copy for this moment, of what each rank has of its own. Collective; nothing for a rank that names itself.
Bytes Store::fetch_snapshot_of(Rank from, Version version) {
  std::vector<int> all(sizes_.size());
  check_mpi(MPI_Allgather(&from.value, 1, MPI_INT, all.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  std::vector<Combination> work;
  for (std::size_t to = 0; to < all.size(); ++to) {
    const Rank owner{all[to]};
    const Rank asker{static_cast<int>(to)};
    if (owner != asker) work.push_back(copy(owner, owner, asker, sizes_));
  }
  Bytes other(from == self_ ? 0 : sizes_[static_cast<std::size_t>(from.value)]);
  Exchange exchange(std::move(work), comm_, [&](const Block& block) {
    return block == Block::snapshot_of(self_) ? std::span<std::byte>(shelves_.at(block, version).bytes) : std::span<std::byte>(other);
  });
  exchange.finish();
  return other;
}

/// What memory does not have any more, or not yet; Version{0} when nothing was ever committed.
Version Store::restore_from_disk(std::optional<Version> wanted, const RestorePlan& plan) {
  const auto version = disk_ ? disk_->find(members_, wanted) : std::nullopt;
  if (!version) {
    if (plan.newest_seen) throw DataLoss(describe_loss(plan, "the job must be started again"));
    if (wanted) throw UsageError(fmt::format("version {} cannot be restored: it is kept neither in memory nor on disk", wanted->value));
    if (published_ != Version{}) {
      throw DataLoss(fmt::format("version {} was restored from disk and is not there any more; the job must be started again", published_.value));
    }
    if (disk_) confirm(nullptr);
    return Version{};
  }
  if (plan.newest_seen && self_ == Rank{0}) {
    log::warn(describe_loss(plan, fmt::format("all go back to version {}, which is on disk", version->value)));
  }
  std::exception_ptr problem;
  try {
    disk_->fill(members_);
  } catch (...) {
    problem = std::current_exception();
  }
  confirm(problem);
  shelves_.forget_newer(Version{});
  committed_by_ = 0;
  origin_ = Origin::disk;
  return *version;
}

/// Ends a restore: it has worked on all ranks, or on none.
void Store::confirm(std::exception_ptr problem) {
  reach("restore.vote");
  const bool restored = ballot_->vote(Motion::restore, problem == nullptr);
  if (problem) std::rethrow_exception(problem);
  if (!restored) throw agreement::Abandoned();
}

/// A plan that builds on nothing that is damaged. Only the version that it chooses is checked, and if anything of that
/// is damaged somewhere, it is forgotten and planned anew.
RestorePlan Store::plan_undamaged(std::optional<Version> wanted) {
  for (;;) {
    const std::vector<Holding> inventory = gather_inventory(wanted);
    RestorePlan plan = plan_restore(inventory, stripes_, static_cast<int>(sizes_.size()), wanted);
    if (wanted && !plan.newest_seen && !disk_) throw UsageError(describe_versions(*wanted, inventory));
    if (!plan.version || is_undamaged(plan)) return plan;
  }
}

/// The same, of what other ranks have committed.
GatheringPlan Store::gathering_undamaged(std::optional<Version> wanted) {
  const int now = ranks();
  for (;;) {
    sizes_.assign(static_cast<std::size_t>(now), 0);
    GatheringPlan plan = plan_gathering(gather_inventory(wanted), committed_by_, now, wanted);
    if (!plan.restore.version || is_undamaged(plan.restore)) return plan;
  }
}

/// Whether nothing is damaged of what anybody has of the version chosen; what is, is forgotten. Collective.
bool Store::is_undamaged(const RestorePlan& plan) {
  sizes_ = plan.sizes;
  make_room(plan.bring, *plan.version);  // a newcomer's memory is got while the others check theirs
  int damaged = forget_damaged(*plan.version) ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &damaged, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  return damaged == 0;
}

/// What is damaged is not offered to anybody: as good as lost, and others may have a good one, or its parities. Returns
/// whether there was any.
bool Store::forget_damaged(Version version) {
  bool any = false;
  shelves_.visit([&](const Block& block, Kept& kept) {
    if (kept.version != version) return;
    const auto damage = find_damage(block, kept);
    if (!damage) return;
    any = true;
    log::warn(fmt::format("a {} rank{} {} at version {} cannot be used: {}",
                          block.is_snapshot() ? "copy of the snapshot of" : "parity of the snapshots of",
                          block.is_snapshot() ? "" : "s",
                          fmt::join(block.owners | std::views::transform([](Rank rank) { return rank.value; }), ", "),
                          kept.version.value, *damage));
    kept.version = Version{};
  });
  return any;
}

/// Everyone's published blocks, known to all, who must want the same version. In parts of equal size, because Open MPI's
/// MPI_Allgatherv may return success without the data when a failure interrupts it (docs/open-mpi.md).
std::vector<Holding> Store::gather_inventory(std::optional<Version> wanted) {
  std::vector<std::uint64_t> mine{wanted ? wanted->value : any_version};
  shelves_.visit([&](const Block& block, Kept& kept) { write_holding(block, kept, mine); });
  auto most = static_cast<int>(mine.size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  mine.resize(static_cast<std::size_t>(most));
  std::vector<std::uint64_t> all(mine.size() * sizes_.size());
  check_mpi(MPI_Allgather(mine.data(), most, MPI_UINT64_T, all.data(), most, MPI_UINT64_T, comm_), "MPI_Allgather");
  std::vector<Holding> inventory;
  for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
    const std::span<const std::uint64_t> written = std::span(all).subspan(rank * mine.size(), mine.size());
    if (written.front() != mine.front()) throw UsageError("ranks restore different versions: all must ask for the same");
    read_holdings(Rank{static_cast<int>(rank)}, written.subspan(1), inventory);
  }
  return inventory;
}

/// Fills the members, out of what was checked or else has arrived since; returns what is in the way of that.
std::exception_ptr Store::try_unpack(Version version, bool has_arrived) {
  const std::span<const std::byte> own = shelves_.at(Block::snapshot_of(self_), version).bytes;
  try {
    if (const auto damage = has_arrived ? find_damage(own, self_, version) : std::nullopt) {
      throw DataLoss(fmt::format("the data of rank {} at version {} is lost: it came back damaged ({})", self_.value,
                                 version.value, *damage));
    }
    unpack(own, members_);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace mend
