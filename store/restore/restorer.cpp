#include "store/restore/restorer.hpp"

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/log.hpp"
#include "store/array_part.hpp"
#include "transport/collectives.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mend {
namespace {

using agreement::Proposal;

/// Returns the message about the lost data and the consequence.
std::string describe_loss(const JointPlan& plan, std::string_view consequence) {
  const bool several = plan.missing.size() > 1;
  return fmt::format(
      "the data of rank{} {} at version {} is lost: the ranks that held its copies or parities died as well, or these "
      "are corrupt; {}",
      several ? "s" : "", fmt::join(plan.missing | std::views::transform([](Rank rank) { return rank.value; }), ", "),
      plan.newest_seen->value, consequence);
}

std::string describe_versions(Version wanted, const std::vector<Inventory>& inventories) {
  std::set<std::uint64_t> kept;
  for (const Inventory& inventory : inventories) {
    for (const Holding& holding : inventory.holdings) kept.insert(holding.version.value);
  }
  return fmt::format("version {} cannot be restored: kept are {}; --mend-versions says how many", wanted.value,
                     kept.empty() ? "none" : fmt::format("{}", fmt::join(kept, ", ")));
}

/// While it lives, the sizes are those of the snapshots of the ranks that committed the versions in memory.
class SizesOfThen {
 public:
  explicit SizesOfThen(MemberGroups& groups) : groups_(groups) {}
  ~SizesOfThen() { groups_.forget_sizes(); }
  SizesOfThen(const SizesOfThen&) = delete;
  SizesOfThen& operator=(const SizesOfThen&) = delete;

 private:
  MemberGroups& groups_;
};

/// For the scope in which an older version is brought back beside the newest.
class SizesKept {
 public:
  explicit SizesKept(MemberGroups& groups) : groups_(groups) {
    groups_.for_each([&](MemberGroup& group, int) { sizes_.push_back(group.sizes()); });
  }
  ~SizesKept() {
    auto of_group = sizes_.begin();
    groups_.for_each([&](MemberGroup& group, int) { group.set_sizes(std::move(*of_group++)); });
  }
  SizesKept(const SizesKept&) = delete;
  SizesKept& operator=(const SizesKept&) = delete;

 private:
  MemberGroups& groups_;
  std::vector<Sizes> sizes_;
};

}  // namespace

Restorer::Restored Restorer::restore(std::optional<Version> wanted) {
  if (are_of_others()) {
    const SizesOfThen of_then(groups_);
    for (;;) {
      const JointPlan plan = plan_undamaged(wanted);
      if (!plan.version) return restore_from_disk(wanted, plan);
      if (!bring_back(plan)) continue;
      if (auto restored = restore_of_other_ranks(plan)) return *std::move(restored);
    }
  }
  for (;;) {
    const JointPlan plan = make_plan(wanted);
    if (!plan.version) return restore_from_disk(wanted, plan);
    if (restore_from_memory(plan)) return from_memory(*plan.version);
  }
}

Restorer::Restored Restorer::from_memory(Version version) {
  return {version, Origin::memory, groups_.names_at(version), {}};
}

/// Returns false if data that the plan uses or brings is damaged. In that case the damaged data is discarded, and
/// nothing has been published. A rank checks the data that it sends while it is being sent.
bool Restorer::bring_undamaged(const JointPlan& plan, Fills what, std::exception_ptr& problem) {
  const Version version = *plan.version;
  const bool fills = what == Fills::members;
  reach("restore.transfer");
  groups_.for_each_planned(
      plan, [](MemberGroup& group, int tag, const GatheringPlan& of) { group.begin_to_bring(of.restore, tag); });
  reach("restore.exchange");
  unsigned damage = 0;
  constexpr unsigned of_parts = 1;
  constexpr unsigned of_a_whole = 2;
  if (fills) require_all_committed(plan, problem);
  groups_.for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    const bool any = fills ? group.forget_damaged_and_unpack(of.restore, problem) : group.forget_damaged_of(of.restore);
    if (any) damage |= of_parts;
  });
  groups_.for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    group.finish_bringing(version);
    const bool sound = fills ? group.unpack_what_came(of.restore, problem) : group.are_sound_what_came(of.restore);
    if (!sound) damage |= of_a_whole;
  });
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &damage, 1, MPI_UNSIGNED, MPI_BOR, ranks_.comm); },
           "MPI_Allreduce");
  if (damage == of_a_whole) {
    groups_.for_each([&](MemberGroup& group, int) { group.forget_blocks(version); });
  }
  if (damage != 0) return false;
  // Published as soon as no data is damaged on any rank, so that it is not lost if a process dies now.
  groups_.for_each_planned(
      plan, [&](MemberGroup& group, int, const GatheringPlan& of) { group.publish(of.restore.bring, version); });
  return true;
}

bool Restorer::restore_from_memory(const JointPlan& plan) {
  std::exception_ptr problem;
  if (!bring_undamaged(plan, Fills::members, problem)) return false;
  reach("restore.unpack");
  confirm(problem);
  groups_.forget_newer(*plan.version);
  restore_redundancy(plan);
  return true;
}

std::vector<Version> Restorer::bring_older(Version than, std::size_t count) {
  const SizesKept of_newest(groups_);
  std::set<Version, std::greater<>> older;
  groups_.for_each([&](MemberGroup& group, int) {
    for (const Version version : group.gather_inventory({}).versions()) {
      if (version < than) older.insert(version);
    }
  });
  std::vector<Version> brought;
  std::vector<JointPlan> plans;
  for (const Version version : older | std::views::take(count)) {
    for (;;) {
      JointPlan plan = plan_of(version);
      if (!plan.version) break;  // a part of the version is lost
      std::exception_ptr none;
      if (!bring_undamaged(plan, Fills::nothing, none)) continue;
      brought.push_back(version);
      plans.push_back(std::move(plan));
      break;
    }
  }
  confirm(nullptr);
  std::ranges::for_each(plans, [this](const JointPlan& plan) { restore_redundancy(plan); });
  return brought;
}

/// Gives all ranks their blocks of an undamaged version. Returns false if a snapshot came damaged, although its sources
/// were not: then the version has been given up on all ranks.
bool Restorer::bring_back(const JointPlan& plan) {
  reach("restore.transfer");
  groups_.for_each_planned(
      plan, [](MemberGroup& group, int tag, const GatheringPlan& of) { group.begin_to_bring(of.restore, tag); });
  reach("restore.exchange");
  bool is_sound = true;
  groups_.for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    group.finish_bringing(*plan.version);
    is_sound = group.are_sound_what_came(of.restore) && is_sound;
  });
  if (!is_sound_on_all(is_sound, *plan.version)) return false;
  groups_.for_each_planned(
      plan, [&](MemberGroup& group, int, const GatheringPlan& of) { group.publish(of.restore.bring, *plan.version); });
  return true;
}

/// Discards the version on all ranks if it cannot be used on one.
bool Restorer::is_sound_on_all(bool is_sound, Version version) {
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &is_sound, 1, MPI_CXX_BOOL, MPI_LAND, ranks_.comm); },
           "MPI_Allreduce");
  if (!is_sound) groups_.for_each([&](MemberGroup& group, int) { group.forget_blocks(version); });
  return is_sound;
}

void Restorer::restore_redundancy(const JointPlan& plan) {
  groups_.for_each_planned(plan, [](MemberGroup& group, int tag, const GatheringPlan& of) {
    group.begin_restoring_redundancy(of.restore, tag);
  });
  reach("restore.protect");
  groups_.for_each_planned(plan, [](MemberGroup& group, int, const GatheringPlan&) { group.finish_parities(); });
}

/// Sets `problem` if a group has members but the version does not contain the group: then the members were not
/// protected with this redundancy at the commit.
void Restorer::require_all_committed(const JointPlan& plan, std::exception_ptr& problem) {
  auto of_group = plan.groups.begin();
  groups_.for_each([&](MemberGroup& group, int) {
    if (*of_group++ || group.members().empty()) return;
    problem = std::make_exception_ptr(
        UsageError(fmt::format("member '{}' is protected now but was not when version {} was committed, with "
                               "redundancy {}: protect the same members "
                               "before restore as before commit",
                               group.members().begin()->first, plan.version->value, to_string(group.redundancy()))));
  });
}

/// Restores arrays to another number of ranks than at the commit, after the ranks have their blocks. Returns nothing if
/// data came damaged: then the version has been given up on all ranks.
std::optional<Restorer::Restored> Restorer::restore_of_other_ranks(const JointPlan& plan) {
  const Version version = *plan.version;
  reach("restore.unpack");
  std::exception_ptr problem;
  require_all_committed(plan, problem);
  MemberGroups::Names names;
  bool is_sound = true;
  groups_.for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    auto arrays = group.redistribute_to_members(of);
    is_sound = arrays.has_value() && is_sound;
    if (arrays) names.merge(*std::move(arrays));
  });
  if (!is_sound_on_all(is_sound, version)) return std::nullopt;
  const Parts parts = parts_of(members_);
  for (const auto& [name, member] : members_) {
    if (parts.contains(name) || problem) continue;
    problem =
        std::make_exception_ptr(UsageError(fmt::format("member '{}' is kept rank by rank, and version {} was committed "
                                                       "by {} ranks: protect it as mend::part of an array "
                                                       "or as mend::replicated",
                                                       name, version.value, versions_.committed_by())));
  }
  confirm(problem);
  groups_.forget_newer(version);
  restore_redundancy(plan);
  return demanding({version, Origin::memory, std::move(names), {}});
}

/// A rank need not have a part of each array that others have written. It must only protect those that nobody protects.
/// Collective.
Restorer::Restored Restorer::demanding(Restored restored) const {
  for (const std::string& text : gather_texts(ranks_.comm, to_text(parts_of(members_)))) {
    for (const auto& [name, part] : parse_parts(text))
      if (auto known = restored.names.extract(name)) restored.elsewhere.insert(std::move(known));
  }
  return restored;
}

void Restorer::save_what_is_left() {
  require(disk_ != nullptr, "what is left is saved where there is a disk");
  const SizesOfThen of_then(groups_);
  for (;;) {
    const JointPlan plan = plan_undamaged({});
    if (!plan.version) return;
    if (!bring_back(plan)) continue;
    const Version version = *plan.version;
    std::vector<Rank> writers;  // by rank of the job that committed
    std::vector<std::map<Rank, Bytes>> came;
    std::map<Rank, DiskTier::Snapshots> mine;
    bool is_sound = true;
    groups_.for_each_planned(plan, [&](MemberGroup& group, int tag, const GatheringPlan& of) {
      if (writers.empty())
        std::ranges::transform(of.holders, std::back_inserter(writers),
                               [](const auto& holders) { return holders.front(); });
      const auto& given = came.emplace_back(group.bring_to(writers, of, tag));
      for (const auto& [owner, snapshot] : given) is_sound = is_sound && !find_damage(snapshot, owner, version);
      for (Rank rank{0}; rank.value < versions_.committed_by(); ++rank.value) {
        if (writers[static_cast<std::size_t>(rank.value)] != ranks_.self) continue;
        const auto at = given.find(rank);
        mine[rank].push_back(at != given.end() ? std::span<const std::byte>(at->second)
                                               : group.snapshot_of(rank, version));
      }
    });
    if (!is_sound_on_all(is_sound, version)) continue;
    disk_->save(version, versions_.committed_by(), mine);
    return;
  }
}

Restorer::Restored Restorer::restore_from(Rank from) {
  if (are_of_others()) {
    throw UsageError(
        fmt::format("another rank's data cannot be restored from a version that {} ranks have committed: restore() "
                    "first, and commit",
                    versions_.committed_by()));
  }
  reach("restore.inventory");
  JointPlan plan;
  do {
    plan = plan_undamaged({});
    if (!plan.version && disk_ != nullptr &&
        (plan.newest_seen || versions_.published() != Version{} || disk_->find(members_, {}))) {
      throw UsageError(
          "another rank's data is no longer in memory, and cannot be restored from disk: restore() first, and commit");
    }
    if (!plan.version) return restore_from_disk({}, plan);
  } while (!bring_back(plan));
  const Version version = *plan.version;
  reach("restore.unpack");
  std::exception_ptr problem;
  require_all_committed(plan, problem);
  groups_.for_each_planned(plan, [&](MemberGroup& group, int tag, const GatheringPlan&) {
    group.unpack_snapshot_of(from, version, tag, problem);
  });
  confirm(problem);
  groups_.forget_newer(version);
  restore_redundancy(plan);
  return from_memory(version);
}

void Restorer::require_rank_for_all(Rank asked_for) const {
  constexpr int none = std::numeric_limits<int>::min();
  int wrong = asked_for >= Rank{0} && asked_for < Rank{ranks_.count()} ? none : asked_for.value;
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, ranks_.comm); }, "MPI_Allreduce");
  if (wrong == none) return;
  throw UsageError(fmt::format("there is no rank {} to restore from: there are {}", wrong, ranks_.count()));
}

/// Returns the message about a version of which no rank has any part.
std::string Restorer::describe_total_loss(std::string_view consequence) const {
  const bool all_died = versions_.published() == Version{};
  return all_died ? fmt::format(
                        "all ranks have died, and the data that they committed is lost: no living process has any part "
                        "of it; {}",
                        consequence)
                  : fmt::format("version {} is lost: no living process has any part of it; {}",
                                versions_.published().value, consequence);
}

/// Restores a version that is not in memory. Returns Version{0} if nothing was ever committed.
Restorer::Restored Restorer::restore_from_disk(std::optional<Version> wanted, const JointPlan& plan) {
  const auto version = disk_ != nullptr ? disk_->find(members_, wanted) : std::nullopt;
  if (!version) {
    if (plan.newest_seen) {
      throw DataLoss(describe_loss(plan, wanted ? "another version may be whole" : "the job must be started again"));
    }
    if (wanted)
      throw UsageError(
          fmt::format("version {} cannot be restored: it is kept neither in memory nor on disk", wanted->value));
    if (versions_.any()) {
      throw DataLoss(describe_total_loss(disk_ != nullptr ? "nothing is on disk, and the job must be started again"
                                                          : "the job must be started again"));
    }
    if (disk_ != nullptr) confirm(nullptr);
    return {};
  }
  if (ranks_.self == Rank{0}) {
    const std::string consequence = fmt::format("all go back to version {}, which is on disk", version->value);
    if (plan.newest_seen) {
      log::warn(describe_loss(plan, consequence));
    } else if (versions_.any()) {
      log::warn(describe_total_loss(consequence));
    }
  }
  std::exception_ptr problem;
  try {
    disk_->fill(members_);
  } catch (...) {
    problem = std::current_exception();
  }
  confirm(problem);
  groups_.forget_newer(Version{});
  Restored restored = demanding({*version, Origin::disk, disk_->arrays(), {}});
  for (const std::string& name : disk_->own_names()) {
    restored.elsewhere.erase(name);
    restored.names.insert(name);
  }
  return restored;
}

/// Ends a restore by a ballot: it has succeeded on all ranks, or on none.
void Restorer::confirm(std::exception_ptr problem) {
  reach("restore.vote");
  const bool restored = ranks_.ballot->vote(Proposal::restore, problem == nullptr);
  if (problem) throw AgreedProblem{problem};
  if (!restored) throw agreement::Abandoned();
}

/// Makes the plan for the newest version that all groups can have, or for `wanted`. Collective.
JointPlan Restorer::make_plan(std::optional<Version> wanted) {
  std::vector<MemberGroup*> groups;
  std::vector<Inventory> inventories;
  groups_.for_each([&](MemberGroup& group, int) {
    groups.push_back(&group);
    inventories.push_back(group.gather_inventory(wanted));
  });
  if (wanted) {
    std::vector<Inventory> others = inventories;
    for (Inventory& inventory : others) inventory.keep_only(*wanted);
    const bool kept =
        std::ranges::any_of(others, [](const Inventory& inventory) { return !inventory.holdings.empty(); });
    if (!kept && disk_ == nullptr && !are_of_others()) throw UsageError(describe_versions(*wanted, inventories));
    inventories = std::move(others);
  }
  return plan_jointly(inventories, [&](std::size_t group, Version version) {
    if (are_of_others()) return plan_gathering(inventories[group], versions_.committed_by(), ranks_.count(), version);
    return GatheringPlan{groups[group]->plan(inventories[group], version), {}};
  });
}

/// For this version alone, which some rank has a part of. Collective.
JointPlan Restorer::plan_of(Version version) {
  std::vector<MemberGroup*> groups;
  std::vector<Inventory> inventories;
  groups_.for_each([&](MemberGroup& group, int) {
    groups.push_back(&group);
    inventories.push_back(group.gather_inventory(version));
    inventories.back().keep_only(version);
  });
  return plan_jointly(inventories, [&](std::size_t group, Version one) {
    return GatheringPlan{groups[group]->plan(inventories[group], one), {}};
  });
}

/// Makes a plan without damaged data. Only the chosen version is checked. If any of its blocks is damaged, it is
/// discarded, and the plan is made again.
JointPlan Restorer::plan_undamaged(std::optional<Version> wanted) {
  for (;;) {
    JointPlan plan = make_plan(wanted);
    if (!plan.version || is_undamaged(plan)) return plan;
  }
}

/// Returns true if no rank has a damaged block of the chosen version. Damaged blocks are discarded. Collective.
bool Restorer::is_undamaged(const JointPlan& plan) {
  bool damaged = false;
  groups_.for_each([&](MemberGroup& group, int) { damaged = group.forget_damaged(*plan.version) || damaged; });
  return !is_so_anywhere(damaged);
}

/// Collective.
bool Restorer::is_so_anywhere(bool here) const {
  int anywhere = here ? 1 : 0;
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &anywhere, 1, MPI_INT, MPI_MAX, ranks_.comm); }, "MPI_Allreduce");
  return anywhere != 0;
}

}  // namespace mend
