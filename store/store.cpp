#include "store/store.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "store/placement.hpp"
#include "transport/requests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

namespace mend {
namespace {

using agreement::Motion;

enum Tag { size_tag = 1, snapshot_tag = 2 };  // one restore's transfers use snapshot_tag + owner

std::span<std::byte> bytes_of(std::uint64_t& value) { return std::as_writable_bytes(std::span(&value, 1)); }

}  // namespace

void Store::begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch) {
  comm_ = comm;
  ballot_ = &ballot;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  self_ = Rank{rank};
  holders_ = choose_holders(nodes);
  ranks_may_differ_ = epoch > Epoch{0};
}

void Store::protect(std::string_view name, std::unique_ptr<Member> member) {
  if (name.empty()) throw UsageError("a protected member needs a name");
  members_.insert_or_assign(std::string(name), std::move(member));
}

/// Makes sure that all ranks are here. A rank that has come to something else (an agreement, the end of its body) would
/// otherwise be waited for in a message exchange, and wait itself, for ever; a ballot tells everyone.
void Store::meet_for(Motion motion) {
  if (!ballot_->vote(motion, true)) throw EnvironmentError(fmt::format("a rank refused {}", name_of(motion)));
}

bool Store::holds_for(Rank owner) const { return holders_[static_cast<std::size_t>(owner.value)] == self_; }

// --- commit ----------------------------------------------------------------------------------------------------

Version Store::commit() {
  const trace::Span span("commit");
  Stopwatch watch;
  meet_for(Motion::commit);
  catch_up_with_survivors();
  const Version version = published_.next();

  reach("commit.pack");
  Snapshot& own = shelves_[self_].slot_for(version);
  own.version = Version{};  // the slot's old content ends here; the published version is in the other slot
  pack(members_, self_, version, own);
  exchange_copies(version);

  reach("commit.vote");
  if (!ballot_->vote(Motion::commit, true)) throw EnvironmentError("a rank refused the commit");
  reach("commit.publish");
  publish(version);

  ++statistics_.commits;
  statistics_.commit_time += watch.elapsed();
  statistics_.snapshot_bytes = own.bytes.size();
  update_memory_statistics();
  return version;
}

/// Sends this rank's new snapshot to its holder, and receives those it holds.
void Store::exchange_copies(Version version) {
  std::uint64_t own_size = shelves_[self_].slot_for(version).bytes.size();
  std::map<Rank, std::uint64_t> sizes;
  const auto holder = holders_[static_cast<std::size_t>(self_.value)];
  {
    Requests requests(comm_);
    for (int i = 0; i < static_cast<int>(holders_.size()); ++i) {
      if (holds_for(Rank{i})) requests.receive(bytes_of(sizes[Rank{i}]), i, size_tag);
    }
    if (holder) requests.send(bytes_of(own_size), holder->value, size_tag);
    requests.wait_all();
  }
  Requests requests(comm_);
  for (const auto& [owner, size] : sizes) {
    Snapshot& copy = shelves_[owner].slot_for(version);
    copy.version = Version{};
    copy.owner = owner;
    copy.bytes.resize(size);
    requests.receive(copy.bytes, owner.value, snapshot_tag);
  }
  if (holder) requests.send(shelves_[self_].slot_for(version).bytes, holder->value, snapshot_tag);
  reach("commit.exchange");
  requests.wait_all();
}

void Store::publish(Version version) {
  shelves_[self_].slot_for(version).version = version;
  for (int i = 0; i < static_cast<int>(holders_.size()); ++i) {
    if (holds_for(Rank{i})) shelves_[Rank{i}].slot_for(version).version = version;
  }
  published_ = version;
}

/// In an epoch that began with a recovery and in which nothing was restored, a newcomer does not know yet how many
/// versions there were.
void Store::catch_up_with_survivors() {
  if (!ranks_may_differ_) return;
  std::uint64_t newest = published_.value;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &newest, 1, MPI_UINT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  published_ = Version{newest};
  ranks_may_differ_ = false;
}

// --- restore ---------------------------------------------------------------------------------------------------

Version Store::restore() {
  if (!ranks_may_differ_ && published_ == Version{}) return Version{};  // known to all without asking
  const trace::Span span("restore");
  Stopwatch watch;
  meet_for(Motion::restore);
  catch_up_with_survivors();
  reach("restore.inventory");
  forget_damaged();
  const RestorePlan plan = plan_restore(gather_inventory(), holders_);
  if (!plan.version) {
    if (published_ == Version{}) return Version{};
    throw DataLoss(fmt::format(
        "the data of rank{} {} at version {} is lost: {} died together with everyone who held a copy, or every copy is "
        "corrupt; the job must be started again",
        plan.missing.size() > 1 ? "s" : "",
        fmt::join(plan.missing | std::views::transform([](Rank rank) { return rank.value; }), ", "),
        plan.newest_seen.value_or(published_).value, plan.missing.size() > 1 ? "they" : "it"));
  }
  const Version version = *plan.version;
  reach("restore.transfer");
  fetch(plan);
  const Snapshot& own = shelves_[self_].slot_for(version);

  std::string problem;
  reach("restore.unpack");
  if (const auto damage = find_damage(own)) {
    problem = fmt::format("the snapshot of rank {} at version {} arrived damaged: {}", self_.value, version.value, *damage);
  } else {
    try {
      unpack(own, members_);
    } catch (const UsageError& error) {
      problem = error.what();
    }
  }
  reach("restore.vote");
  const bool restored = ballot_->vote(Motion::restore, problem.empty());
  if (!problem.empty()) throw UsageError(problem);
  if (!restored) throw agreement::Abandoned();
  forget_all_but(version);
  published_ = version;
  reach("restore.done");

  ++statistics_.restores;
  statistics_.restore_time += watch.elapsed();
  statistics_.snapshot_bytes = own.bytes.size();
  update_memory_statistics();
  return version;
}

/// A damaged copy is not offered to anybody: as good as lost, and others may have a good one.
void Store::forget_damaged() {
  for (auto& [owner, shelf] : shelves_) {
    for (Snapshot& snapshot : shelf.slots) {
      if (snapshot.version == Version{}) continue;
      if (const auto damage = find_damage(snapshot)) {
        log::warn(fmt::format("a copy of rank {}'s snapshot at version {} cannot be used: {}", owner.value,
                              snapshot.version.value, *damage));
        snapshot.version = Version{};
      }
    }
  }
}

/// Everyone's undamaged published snapshots, known to all. In blocks of equal size, because Open MPI's MPI_Allgatherv
/// may return success without the data when a failure interrupts it (docs/open-mpi.md).
std::vector<Holding> Store::gather_inventory() {
  std::vector<Holding> mine;
  for (const auto& [owner, shelf] : shelves_) {
    for (const Snapshot& snapshot : shelf.slots) {
      if (snapshot.version != Version{}) mine.push_back({self_, owner, snapshot.version, snapshot.bytes.size()});
    }
  }
  auto most = static_cast<int>(mine.size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  mine.resize(static_cast<std::size_t>(most));  // the padding has version 0: not published
  std::vector<Holding> all(mine.size() * holders_.size());
  const int bytes = most * static_cast<int>(sizeof(Holding));
  check_mpi(MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm_), "MPI_Allgather");
  std::erase_if(all, [](const Holding& holding) { return holding.version == Version{}; });
  return all;
}

/// Carries out the plan's transfers that concern this rank.
void Store::fetch(const RestorePlan& plan) {
  Requests requests(comm_);
  std::vector<Snapshot*> arriving;
  for (const Transfer& transfer : plan.transfers) {
    Snapshot& snapshot = shelves_[transfer.owner].slot_for(*plan.version);
    const int tag = snapshot_tag + transfer.owner.value;
    if (transfer.to == self_) {
      snapshot.version = Version{};
      snapshot.owner = transfer.owner;
      snapshot.bytes.resize(transfer.size);
      requests.receive(snapshot.bytes, transfer.from.value, tag);
      arriving.push_back(&snapshot);
    }
    if (transfer.from == self_) requests.send(snapshot.bytes, transfer.to.value, tag);
  }
  reach("restore.exchange");
  requests.wait_all();
  for (Snapshot* snapshot : arriving) snapshot->version = *plan.version;
}

/// Frees what is not needed any more: other versions, and copies that other ranks hold now.
void Store::forget_all_but(Version version) {
  std::erase_if(shelves_, [&](const auto& entry) { return entry.first != self_ && !holds_for(entry.first); });
  for (auto& [owner, shelf] : shelves_) {
    for (Snapshot& snapshot : shelf.slots) {
      if (snapshot.version != version) snapshot.version = Version{};
    }
  }
}

void Store::update_memory_statistics() {
  statistics_.memory_bytes = 0;
  for (const auto& [owner, shelf] : shelves_) {
    for (const Snapshot& snapshot : shelf.slots) statistics_.memory_bytes += snapshot.bytes.capacity();
  }
}

}  // namespace mend
