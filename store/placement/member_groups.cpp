#include "store/placement/member_groups.hpp"

#include "base/assert.hpp"
#include "transport/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace mend {
namespace {

constexpr int first_tag = 16;  // of the exchanges; each group has its own tag

}  // namespace

MemberGroups::MemberGroups(Redundancy usual, int versions, FindChanges how)
    : usual_(usual), versions_(versions), how_(how), in_use_{usual}, used_here_{usual} {
  groups_.try_emplace(usual_, usual_, versions_, how_);
}

void MemberGroups::begin_epoch(const EpochRanks& ranks, bool has_newcomers) {
  ranks_ = &ranks;
  for (auto& [redundancy, group] : groups_) group.begin_epoch(ranks.comm, ranks.nodes);
  if (has_newcomers) known_ = Known::perhaps_not;
}

void MemberGroups::end_epoch() {
  for (auto& [redundancy, group] : groups_) group.end_epoch();
}

/// Makes the group for this redundancy if there is none. Local; the other ranks learn of it before it is used.
MemberGroup& MemberGroups::add(Redundancy redundancy) {
  const auto [at, is_new] = groups_.try_emplace(redundancy, redundancy, versions_, how_);
  if (is_new) {
    known_ = Known::perhaps_not;
    if (ranks_ != nullptr) at->second.begin_epoch(ranks_->comm, ranks_->nodes);
  }
  return at->second;
}

void MemberGroups::protect(std::string_view name, std::shared_ptr<Member> member, Redundancy redundancy) {
  MemberGroup& its_group = add(redundancy);
  for (auto& [other, group] : groups_) {
    if (&group != &its_group) group.forget(name);  // in its own group it may stay watched
  }
  its_group.protect(name, std::move(member));
}

bool MemberGroups::has(std::string_view name, Redundancy redundancy) const {
  const auto group = groups_.find(redundancy);
  return group != groups_.end() && group->second.members().contains(name);
}

void MemberGroups::replace(std::string_view name, const std::shared_ptr<Member>& member) {
  for (auto& [redundancy, group] : groups_) {
    if (group.members().contains(name)) group.protect(name, member);
  }
}

void MemberGroups::forget(std::string_view name) {
  for (auto& [redundancy, group] : groups_) group.forget(name);
}

void MemberGroups::forget_members() {
  for (auto& [redundancy, group] : groups_) group.forget_members();
}

std::map<Redundancy, Members> MemberGroups::set_aside_members() {
  std::map<Redundancy, Members> aside;
  for (auto& [redundancy, group] : groups_) aside[redundancy] = group.set_aside_members();
  return aside;
}

void MemberGroups::put_back(std::map<Redundancy, Members> members) {
  for (auto& [redundancy, of_group] : members) groups_.at(redundancy).put_back(std::move(of_group));
}

std::set<Redundancy> MemberGroups::with_members() const {
  std::set<Redundancy> used;
  for (const auto& [redundancy, group] : groups_) {
    if (!group.members().empty()) used.insert(redundancy);
  }
  return used;
}

void MemberGroups::agree(const EpochRanks& ranks) {
  used_here_ = with_members();
  std::string mine;
  for (const auto& [redundancy, group] : groups_)
    mine += fmt::format("{}{}\n", used_here_.contains(redundancy) ? "+" : "", to_string(redundancy));
  in_use_.clear();
  for (const auto& lines : gather_lines(ranks.comm, std::move(mine))) {
    for (const std::string& line : lines) {
      const bool is_used = line.front() == '+';
      const Redundancy redundancy = Redundancy::parse(line.substr(is_used ? 1 : 0));
      add(redundancy);
      if (is_used) in_use_.insert(redundancy);
    }
  }
  if (in_use_.empty()) in_use_.insert(usual_);  // a version without members is also a version
  known_ = Known::by_all;
}

void MemberGroups::for_each(const std::function<void(MemberGroup&, int)>& work) {
  int tag = first_tag;
  for (auto& [redundancy, group] : groups_) work(group, tag++);
}

void MemberGroups::for_each_in_use(const std::function<void(MemberGroup&, int)>& work) {
  for_each([&](MemberGroup& group, int tag) {
    if (in_use_.contains(group.redundancy())) work(group, tag);
  });
}

void MemberGroups::for_each_planned(const JointPlan& plan,
                                    const std::function<void(MemberGroup&, int, const GatheringPlan&)>& work) {
  require(plan.groups.size() == groups_.size(), "a plan is made for the groups that there are");
  auto of_group = plan.groups.begin();
  for_each([&](MemberGroup& group, int tag) {
    if (*of_group) work(group, tag, **of_group);
    ++of_group;
  });
}

void MemberGroups::hold(Version version) {
  for (auto& [redundancy, group] : groups_) group.hold(version);
}

void MemberGroups::let_go(Version version) {
  for (auto& [redundancy, group] : groups_) group.let_go(version);
}

void MemberGroups::forget_old(Version newest) {
  for (auto& [redundancy, group] : groups_) group.forget_old(newest);
}

void MemberGroups::forget_older(Version oldest) {
  for (auto& [redundancy, group] : groups_) group.forget_older(oldest);
}

void MemberGroups::forget_newer(Version newest) {
  for (auto& [redundancy, group] : groups_) group.forget_newer(newest);
}

void MemberGroups::forget_sizes() {
  for (auto& [redundancy, group] : groups_) group.forget_sizes();
}

void MemberGroups::prepare_commit() {
  for (auto& [redundancy, group] : groups_) group.prepare_commit();
}

void MemberGroups::publish_what_came() {
  for (auto& [redundancy, group] : groups_) group.publish_what_came();
}

void MemberGroups::finish_restoring_redundancy() {
  for (auto& [redundancy, group] : groups_) group.finish_restoring_redundancy();
}

bool MemberGroups::is_restoring_redundancy() const {
  return std::ranges::any_of(groups_, [](const auto& entry) { return entry.second.is_restoring_redundancy(); });
}

std::set<Version> MemberGroups::versions() const {
  std::set<Version> known;
  for (const auto& [redundancy, group] : groups_) known.insert(group.versions().begin(), group.versions().end());
  return known;
}

std::vector<ByteCount> MemberGroups::block_sizes(Version version) const {
  std::vector<ByteCount> all;
  for (const auto& [redundancy, group] : groups_)
    std::ranges::copy(group.block_sizes(version), std::back_inserter(all));
  return all;
}

ByteCount MemberGroups::memory() const {
  ByteCount bytes = 0;
  for (const auto& [redundancy, group] : groups_) bytes += group.memory();
  return bytes;
}

MemberGroups::SnapshotBytes MemberGroups::snapshot_bytes() const {
  SnapshotBytes bytes;
  for (const auto& [redundancy, group] : groups_) {
    if (!in_use_.contains(redundancy)) continue;
    bytes.all += group.snapshot_bytes();
    bytes.changed += group.changed_bytes();
  }
  return bytes;
}

MemberGroups::Names MemberGroups::names_at(Version version) {
  Names all;
  for (auto& [redundancy, group] : groups_) all.merge(group.names_at(version));
  return all;
}

}  // namespace mend
