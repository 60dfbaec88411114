#include "store/placement/member_group.hpp"

#include "base/death/fail_stop.hpp"
#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/telemetry/log.hpp"
#include "store/engine/epoch_ranks.hpp"
#include "store/placement/announce_changes.hpp"
#include "store/restore/inventory.hpp"
#include "store/restore/redistribution.hpp"
#include "transport/collectives.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <ranges>
#include <utility>

namespace mend {
namespace {

constexpr auto any_version = std::numeric_limits<std::uint64_t>::max();

bool has_part_in(const Stripe& stripe, Rank rank) {
  const auto contains = [&](const std::vector<Rank>& ranks) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  };
  return contains(stripe.owners) || contains(stripe.holders);
}

/// Returns the steps that bring the blocks of all holders up to date after these changes. Each stripe has at least one
/// step: the header of a snapshot changes at every commit, and each stripe has the first piece of one owner.
std::vector<Combination> encode_all(const std::vector<Stripe>& stripes, const Sizes& sizes,
                                    std::span<const Changes> changes) {
  std::vector<Combination> work;
  for (const Stripe& stripe : stripes) {
    const std::vector<ByteRange> stale = stale_ranges(stripe, sizes, changes);
    for (std::size_t row = 0; row < stripe.holders.size(); ++row) {
      for (const ByteRange& range : stale) work.push_back(encode(stripe, row, sizes, range));
    }
  }
  return work;
}

/// Returns the sources in `work` that a rank sends.
std::vector<Source> given_by(Rank rank, std::span<const Combination> work) {
  std::vector<Source> given;
  for (const Combination& step : work) {
    std::ranges::copy_if(step.sources, std::back_inserter(given),
                         [&](const Source& source) { return source.from == rank; });
  }
  return given;
}

/// Runs `work`, which allocates memory for other ranks' data. If there is no memory, this process ends itself: the
/// other ranks are already sending, so it cannot refuse alone.
template <class Work>
auto with_memory(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    fail_stop("there is no memory for what it is to keep of other ranks' data");
  }
}

}  // namespace

void MemberGroup::forget(std::string_view name) {
  if (const auto at = members_.find(name); at != members_.end()) members_.erase(at);
  finder_.forget(name);
}

void MemberGroup::begin_epoch(MPI_Comm comm, std::span<const NodeId> nodes) {
  comm_ = comm;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  self_ = Rank{rank};
  const Redundancy fitting = redundancy_.fitting(static_cast<int>(nodes.size()));
  if (fitting != redundancy_ && self_ == Rank{0}) {
    log::warn(fmt::format("{} rank{} left, too few for redundancy {}: {} is used now", nodes.size(),
                          nodes.size() == 1 ? " is" : "s are", to_string(redundancy_), to_string(fitting)));
  }
  stripes_ = place(fitting, nodes);
  concerned_.clear();
  std::ranges::copy_if(stripes_, std::back_inserter(concerned_),
                       [&](const Stripe& s) { return has_part_in(s, self_); });
  sizes_.assign(nodes.size(), 0);
  finder_.begin_anew();
  forget_parts();
}

/// The communicator may be revoked.
void MemberGroup::end_epoch() {
  pack_ = nullptr;
  under_way_.reset();
  const ErrorsReturned quiet;
  for (const RedundancyExchange& one : redundancy_exchanges_) {
    try {
      if (one.has_only_snapshot_copies() && one.exchange->has_received_all())
        publish(one.exchange->work(), one.version);
    } catch (const std::exception&) {  // the copies will not arrive any more
    }
  }
  redundancy_exchanges_.clear();
}

void MemberGroup::forget_old(Version newest) {
  slots_of_versions_.forget_old(newest);
  std::erase_if(committed_in_, [&](Version version) {
    return version.value + static_cast<std::uint64_t>(versions_) <= newest.value && !slots_of_versions_.holds(version);
  });
}

void MemberGroup::forget_newer(Version newest) {
  slots_of_versions_.forget_newer(newest);
  finder_.begin_anew();
  forget_parts();
  std::erase_if(committed_in_, [&](Version version) { return version > newest; });
}

void MemberGroup::forget_older(Version oldest) {
  slots_of_versions_.forget_older(oldest);
  std::erase_if(committed_in_, [&](Version version) { return version < oldest; });
}

// --- commit ----------------------------------------------------------------------------------------------------

void MemberGroup::prepare_commit() {
  pack_ = nullptr;
  if (!in_parts_) pack_ = prepare(members_);
}

SnapshotInParts& MemberGroup::pack_in_parts(Version version, Version settled, ByteCount bytes) {
  require(members_.size() == 1, "a snapshot that is packed in parts is of one member");
  if (in_parts_) {
    require(version_in_parts_ == version, "what is packed in parts is the next version");
    return *in_parts_;
  }
  const Block snapshot = Block::snapshot_of(self_);
  const Version older = slots_of_versions_.older_in_slot(snapshot, version);
  Kept& own = slots_of_versions_.slot_for(snapshot, version);
  const auto& [name, member] = *members_.begin();
  version_in_parts_ = version;
  return in_parts_.emplace(name, member->shape(), bytes, own.bytes, older > settled);
}

void MemberGroup::begin_commit(Version version, Version settled, int tag, bool copied_on, std::exception_ptr& problem) {
  Changes mine = pack_own(version, settled, problem);
  mine.lacks_older_blocks = lacks_older_blocks(version, settled);
  const std::vector<Changes> changes = announce_changes(concerned_, comm_, mine, sizes_);
  std::vector<Combination> work = encode_all(concerned_, sizes_, changes);
  check_unchanged(work, copied_on, mine, version, problem);
  under_way_ = begin(std::move(work), version, tag);
}

/// If there is no memory, later commits find out whether they need that much.
void MemberGroup::reserve(ByteCount bytes) {
  if (in_parts_ || bytes < large_page || !redundancy_exchanges_.empty()) return;
  const Sizes sizes(sizes_.size(), bytes);
  try {
    slots_of_versions_.reserve(Block::snapshot_of(self_), bytes);
    for (const Stripe& stripe : concerned_) {
      for (std::size_t row = 0; row < stripe.holders.size(); ++row) {
        if (stripe.holders[row] == self_)
          slots_of_versions_.reserve(kept_block(stripe, row), kept_bytes(stripe, sizes));
      }
    }
  } catch (const std::bad_alloc&) {
  }
}

void MemberGroup::finish_commit(Version version) { wait_for(*under_way_, version); }

void MemberGroup::publish_commit(Version version) {
  require(under_way_ != nullptr, "a commit is published that has begun");
  slots_of_versions_.publish(Block::snapshot_of(self_), version);
  publish(under_way_->work(), version);
  under_way_.reset();
  forget_parts();
  note_committed(version);
}

/// Packs the members, over the older snapshot if there is one.
Changes MemberGroup::pack_members(Version version, Bytes& snapshot, std::optional<Version> older,
                                  std::exception_ptr& problem) {
  try {
    const Pack pack = pack_ ? std::exchange(pack_, nullptr) : prepare(members_);
    Changes changes = pack(self_, version, snapshot, older.has_value(), finder_.since(older.value_or(Version{})));
    finder_.learn(members_, changes);
    return changes;
  } catch (...) {
    problem = std::current_exception();
    return mend::pack({}, self_, version, snapshot);
  }
}

/// Returns true if a slot in which this rank is to keep a block for others does not have the block of the turn before.
/// Then the changes of the others cannot be applied to it.
bool MemberGroup::lacks_older_blocks(Version version, Version settled) {
  return std::ranges::any_of(concerned_, [&](const Stripe& stripe) {
    for (std::size_t row = 0; row < stripe.holders.size(); ++row) {
      if (stripe.holders[row] != self_) continue;
      if (slots_of_versions_.older_in_slot(kept_block(stripe, row), version) <= settled) return true;
    }
    return false;
  });
}

/// Packs this rank's snapshot into its slot. Packs over the older snapshot there if this epoch has committed it.
Changes MemberGroup::pack_own(Version version, Version settled, std::exception_ptr& problem) {
  const Block snapshot = Block::snapshot_of(self_);
  const Version older = slots_of_versions_.older_in_slot(snapshot, version);
  finder_.look(members_, version);
  Kept& own = slots_of_versions_.slot_for(snapshot, version);
  Changes changes;
  if (in_parts_) {
    require(version_in_parts_ == version, "what was packed in parts is committed");
    changes = in_parts_->finish(self_, version);
  } else {
    changes = pack_members(version, own.bytes, older > settled ? std::optional(older) : std::nullopt, problem);
  }
  own.sizes = {own.bytes.size()};
  sizes_[static_cast<std::size_t>(self_.value)] = own.bytes.size();
  changed_bytes_ = 0;
  for (const ByteRange& range : changes.ranges) changed_bytes_ += range.end - range.begin;
  return changes;
}

/// Parities and files are also made from pages that have not changed and were packed for an older version. If such a
/// page was damaged since, the damage would spread undetected, so everything is packed again. A snapshot in parts
/// cannot be packed again here, so the commit is refused.
void MemberGroup::check_unchanged(std::span<const Combination> work, bool copied_on, const Changes& mine,
                                  Version version, std::exception_ptr& problem) {
  const bool checks_all = in_parts_ && in_parts_->has_older_pages();
  if (mine.everything && !checks_all) return;
  std::vector<ByteRange> used;
  for (const Source& source : given_by(self_, work)) used.push_back({source.offset, source.offset + source.length});
  if (copied_on) used.push_back({0, sizes_[static_cast<std::size_t>(self_.value)]});
  Kept& own = slots_of_versions_.at(Block::snapshot_of(self_), version);
  std::vector<ByteRange> unchanged = joined(std::move(used));
  if (!checks_all) unchanged = without(unchanged, mine.ranges);
  if (is_sound(own.bytes, unchanged)) return;
  if (in_parts_) {
    problem = std::make_exception_ptr(RefusedCommit(
        "memory of this process was damaged since a commit before: store what has changed since then once more"));
    return;
  }
  log::warn(fmt::format("the snapshot of rank {} was damaged in memory: it is packed again", self_.value));
  try {
    pack(members_, self_, version, own.bytes);
  } catch (...) {
    problem = std::current_exception();
  }
}

/// Prepares the slots of all blocks that this rank gets by `work`.
void MemberGroup::make_room(std::span<const Combination> work, Version version) {
  for (const Combination& step : work) {
    if (step.to != self_) continue;
    Kept& kept = slots_of_versions_.slot_for(step.target, version);
    kept.sizes = sizes_of(step.target, sizes_);
    resize_block(kept.bytes, step.whole);
  }
}

/// Begins to carry out this rank's part of `work`.
std::unique_ptr<Exchange> MemberGroup::begin(std::vector<Combination> work, Version version, int tag) {
  return with_memory([&] {
    make_room(work, version);
    return std::make_unique<Exchange>(std::move(work), comm_, tag,
                                      [this, version](const Block& block) { return find(block, version); });
  });
}

/// When this returns, the blocks that this rank makes are in their slots and sealed, but not published.
void MemberGroup::wait_for(Exchange& exchange, Version version) {
  with_memory([&] { exchange.finish(); });
  std::map<Block, std::vector<ByteRange>> made;
  for (const Combination& step : exchange.work()) {
    if (step.to == self_) made[step.target].push_back({step.offset, step.offset + step.length});
  }
  for (const auto& [block, ranges] : made) {
    if (!block.is_snapshot()) seal(block, version, ranges, slots_of_versions_.at(block, version));
  }
}

void MemberGroup::publish(std::span<const Combination> made, Version version) {
  for (const Combination& step : made) {
    if (step.to == self_) slots_of_versions_.publish(step.target, version);
  }
}

// --- restore ---------------------------------------------------------------------------------------------------

Inventory MemberGroup::gather_inventory(std::optional<Version> wanted) {
  int ranks = 0;
  MPI_Comm_size(comm_, &ranks);
  std::vector<std::uint64_t> mine{wanted ? wanted->value : any_version};
  write_committed(committed_in_, mine);
  slots_of_versions_.visit([&](const Block& block, Kept& kept) { write_holding(block, kept, mine); });
  const Gathered<std::uint64_t> all = gather_padded(comm_, mine);
  Inventory inventory;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto written = all.of(rank);
    if (written.front() != mine.front())
      throw UsageError("ranks restore different versions: all must ask for the same");
    read_inventory(Rank{rank}, written.subspan(1), inventory);
  }
  return inventory;
}

RestorePlan MemberGroup::plan(const Inventory& inventory, Version version) const {
  return plan_restore(inventory, stripes_, static_cast<int>(sizes_.size()), version);
}

void MemberGroup::begin_to_bring(const RestorePlan& plan, int tag) {
  sizes_ = plan.sizes;
  under_way_ = begin(plan.bring, *plan.version, tag);
}

void MemberGroup::finish_bringing(Version version) {
  wait_for(*under_way_, version);
  under_way_.reset();
}

void MemberGroup::begin_restoring_redundancy(const RestorePlan& plan, int tag) {
  sizes_ = plan.sizes;
  note_committed(*plan.version);
  if (!plan.protect.empty()) redundancy_exchanges_.push_back({begin(plan.protect, *plan.version, tag), *plan.version});
}

bool MemberGroup::RedundancyExchange::has_only_snapshot_copies() const {
  return std::ranges::all_of(exchange->work(),
                             [](const Combination& step) { return step.is_copy() && step.target.is_snapshot(); });
}

/// Finishes one rebuild, and forgets it. If this throws, the rebuild stays until the end of the epoch.
MemberGroup::RedundancyExchanges::iterator MemberGroup::complete(RedundancyExchanges::iterator one) {
  wait_for(*one->exchange, one->version);
  publish(one->exchange->work(), one->version);
  return redundancy_exchanges_.erase(one);
}

void MemberGroup::finish_parities() {
  for (auto one = redundancy_exchanges_.begin(); one != redundancy_exchanges_.end();)
    one = one->has_only_snapshot_copies() ? one + 1 : complete(one);
}

void MemberGroup::publish_what_came() {
  for (auto one = redundancy_exchanges_.begin(); one != redundancy_exchanges_.end();)
    one = one->exchange->is_done() ? complete(one) : one + 1;
}

void MemberGroup::finish_restoring_redundancy() {
  while (!redundancy_exchanges_.empty()) complete(redundancy_exchanges_.begin());
}

bool MemberGroup::forget_damaged(Version version) {
  return forget_if(version, [](const Block& block, const Kept& kept) { return find_damage(block, kept); });
}

bool MemberGroup::forget_damaged_and_unpack(const RestorePlan& plan, std::exception_ptr& problem) {
  const std::set<Block> given = blocks_given_by(plan);
  return forget_if(*plan.version, [&](const Block& block, const Kept& kept) -> std::optional<std::string> {
    if (block == Block::snapshot_of(self_) && !members_.empty())
      return try_unpack(kept.bytes, self_, kept.version, problem);
    return given.contains(block) ? find_damage(block, kept) : std::nullopt;
  });
}

bool MemberGroup::forget_damaged_of(const RestorePlan& plan) {
  std::set<Block> used = blocks_given_by(plan);
  used.insert(Block::snapshot_of(self_));
  return forget_if(*plan.version, [&](const Block& block, const Kept& kept) {
    return used.contains(block) ? find_damage(block, kept) : std::nullopt;
  });
}

/// Returns the blocks that this rank sends by the plan.
std::set<Block> MemberGroup::blocks_given_by(const RestorePlan& plan) const {
  std::set<Block> given;
  for (const std::vector<Combination>* steps : {&plan.bring, &plan.protect}) {
    for (const Source& source : given_by(self_, *steps)) given.insert(source.block);
  }
  return given;
}

/// Discards blocks that are damaged, and reports them. They count as lost: other ranks may have a good copy, or the
/// parities. Returns true if there are any.
template <class FindDamage>
bool MemberGroup::forget_if(Version version, FindDamage damage_of) {
  bool any = false;
  slots_of_versions_.visit([&](const Block& block, Kept& kept) {
    if (kept.version != version) return;
    const std::optional<std::string> damage = damage_of(block, kept);
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

bool MemberGroup::unpack_what_came(const RestorePlan& plan, std::exception_ptr& problem) {
  if (!brings_own(plan)) return true;
  const auto came = find(Block::snapshot_of(self_), *plan.version);
  return is_sound_as_it_came(try_unpack(came, self_, *plan.version, problem), self_, *plan.version);
}

bool MemberGroup::are_sound_what_came(const RestorePlan& plan) {
  std::set<Block> snapshots;
  for (const Combination& step : plan.bring) {
    if (step.to == self_ && step.target.is_snapshot()) snapshots.insert(step.target);
  }
  bool are_sound = true;
  for (const Block& snapshot : snapshots) {
    const Rank owner = snapshot.owners.front();
    const auto damage = mend::find_damage(find(snapshot, *plan.version), owner, *plan.version);
    are_sound = is_sound_as_it_came(damage, owner, *plan.version) && are_sound;
  }
  return are_sound;
}

bool MemberGroup::brings_own(const RestorePlan& plan) const {
  return std::ranges::any_of(plan.bring, [&](const Combination& step) {
    return step.to == self_ && step.target == Block::snapshot_of(self_);
  });
}

bool MemberGroup::is_sound_as_it_came(const std::optional<std::string>& damage, Rank owner, Version version) {
  if (damage)
    log::warn(fmt::format("the snapshot of rank {} at version {} came back damaged: {}", owner.value, version.value,
                          *damage));
  return !damage;
}

void MemberGroup::forget_blocks(Version version) {
  slots_of_versions_.visit([&](const Block&, Kept& kept) {
    if (kept.version == version) kept.version = Version{};
  });
}

/// Fills the members from a snapshot and checks it at the same time. Returns the damage, if any.
std::optional<std::string> MemberGroup::try_unpack(std::span<const std::byte> snapshot, Rank owner, Version version,
                                                   std::exception_ptr& problem) {
  try {
    return unpack(snapshot, owner, version, members_);
  } catch (...) {
    problem = std::current_exception();
    return std::nullopt;
  }
}

/// The snapshot of the other rank is kept only during this call.
void MemberGroup::unpack_snapshot_of(Rank from, Version version, int tag, std::exception_ptr& problem) {
  std::vector<int> all(sizes_.size());
  call_mpi([&] { return MPI_Allgather(&from.value, 1, MPI_INT, all.data(), 1, MPI_INT, comm_); }, "MPI_Allgather");
  std::vector<Combination> work;
  for (std::size_t to = 0; to < all.size(); ++to) {
    const Rank owner{all[to]};
    const Rank asker{static_cast<int>(to)};
    if (owner != asker) work.push_back(copy(owner, owner, asker, sizes_));
  }
  Bytes other = with_memory([&] { return Bytes(from == self_ ? 0 : sizes_[static_cast<std::size_t>(from.value)]); });
  Exchange exchange(std::move(work), comm_, tag, [&](const Block& block) {
    return block == Block::snapshot_of(self_) ? find(block, version) : std::span<std::byte>(other);
  });
  exchange.finish();
  const std::span<const std::byte> wanted = from == self_ ? own_snapshot(version) : other;
  if (const auto damage = try_unpack(wanted, from, version, problem)) {
    problem =
        std::make_exception_ptr(DataLoss(fmt::format("the data of rank {} came damaged ({})", from.value, *damage)));
  }
}

std::optional<std::set<std::string, std::less<>>> MemberGroup::redistribute_to_members(const GatheringPlan& plan) {
  return with_memory([&] {
    return redistribute(
        comm_, plan.holders, [&](Rank owner) { return find(Block::snapshot_of(owner), *plan.restore.version); },
        members_);
  });
}

std::set<std::string, std::less<>> MemberGroup::names_at(Version version) {
  std::set<std::string, std::less<>> names;
  slots_of_versions_.visit([&](const Block& block, Kept& kept) {
    if (kept.version != version || block != Block::snapshot_of(self_)) return;
    for (const PackedMember& member : members_of(kept.bytes)) names.emplace(member.name);
  });
  return names;
}

std::map<Rank, Bytes> MemberGroup::bring_to(std::span<const Rank> writers, const GatheringPlan& plan, int tag) {
  std::map<Rank, Bytes> came;
  std::vector<Combination> work;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const Rank owner{static_cast<int>(i)};
    const std::vector<Rank>& holders = plan.holders[i];
    if (std::ranges::find(holders, writers[i]) != holders.end()) continue;
    work.push_back(copy(owner, holders.front(), writers[i], plan.restore.sizes));
    if (writers[i] == self_) came.emplace(owner, with_memory([&] { return Bytes(plan.restore.sizes[i]); }));
  }
  Exchange exchange(std::move(work), comm_, tag, [&](const Block& block) {
    const auto at = came.find(block.owners.front());
    return at != came.end() ? std::span<std::byte>(at->second) : find(block, *plan.restore.version);
  });
  with_memory([&] { exchange.finish(); });
  return came;
}

void MemberGroup::forget_sizes() {
  int ranks = 0;
  MPI_Comm_size(comm_, &ranks);
  sizes_.assign(static_cast<std::size_t>(ranks), 0);
}

}  // namespace mend
