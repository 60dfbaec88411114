#include "store/store_engine.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/log.hpp"
#include "base/place.hpp"
#include "base/trace.hpp"
#include "store/array_part.hpp"
#include "store/remarks.hpp"
#include "store/snapshot/hash.hpp"
#include "transport/mpi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <ranges>
#include <set>
#include <sstream>

namespace mend {
namespace {

using agreement::Motion;

constexpr int first_tag = 16;  // of the exchanges, one for each group

/// What all parts of an array have in common, for what is part of one.
std::optional<std::string> array_of(const Member& member) {
  const auto part = parse_array_part(member.shape());
  if (!part) return std::nullopt;
  return fmt::format("{} array [{}]", part->element, fmt::join(part->whole, ","));
}

/// What a member keeps when it is protected again: its shape; of a part, the array; of a View, all but its extents.
std::string kind_of(const Member& member) {
  if (auto array = array_of(member)) return *array;
  std::string shape = member.shape();
  if (shape.starts_with("View")) shape.erase(std::min(shape.find('['), shape.size()));
  return shape;
}

void require_replaceable(std::string_view name, const Member& known, const Member& wanted) {
  if (kind_of(known) == kind_of(wanted)) return;
  throw UsageError(fmt::format(
      "member '{}' is a {} already, and a {} cannot take its place: protect each object under a name of its own; what "
      "is protected again under its name, as the two arrays of a double buffer are in turn, is of one kind and shape",
      name, known.shape(), wanted.shape()));
}

/// What is lost, and what follows from that.
std::string describe_loss(const JointPlan& plan, std::string_view consequence) {
  const bool several = plan.missing.size() > 1;
  return fmt::format(
      "the data of rank{} {} at version {} is lost: {} died together with those who held what would bring it back, or "
      "that is corrupt; {}",
      several ? "s" : "", fmt::join(plan.missing | std::views::transform([](Rank rank) { return rank.value; }), ", "),
      plan.newest_seen->value, several ? "they" : "it", consequence);
}

std::string describe_versions(Version wanted, const std::vector<std::vector<Holding>>& inventories) {
  std::set<std::uint64_t> kept;
  for (const auto& inventory : inventories) {
    for (const Holding& holding : inventory) {
      if (!holding.block.owners.empty()) kept.insert(holding.version.value);
    }
  }
  return fmt::format("version {} cannot be restored: kept are {}; --mend-versions says how many", wanted.value,
                     kept.empty() ? "none" : fmt::format("{}", fmt::join(kept, ", ")));
}

}  // namespace

void StoreEngine::begin_epoch(MPI_Comm comm, agreement::Ballot& ballot, std::span<const NodeId> nodes, Epoch epoch,
                              std::span<const Rank> numbers) {
  comm_ = comm;
  ballot_ = &ballot;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  self_ = Rank{rank};
  nodes_.assign(nodes.begin(), nodes.end());
  numbers_.assign(numbers.begin(), numbers.end());
  for (int i = static_cast<int>(numbers_.size()); i < ranks(); ++i) numbers_.push_back(Rank{i});
  if (!held_.empty()) {  // the failure takes back what was provisional
    forget_newer(held_.front());
    published_ = std::min(published_, held_.front());
  }
  while (!held_.empty()) let_go();
  for (auto& [redundancy, group] : groups_) group.begin_epoch(comm, nodes_);
  settled_ = published_;
  is_first_epoch_ = epoch == Epoch{0};
  ranks_may_differ_ = !is_first_epoch_;
  groups_may_differ_ = groups_may_differ_ || !is_first_epoch_;
  if (disk_) disk_->begin_epoch(comm, is_first_epoch_);
}

void StoreEngine::end_epoch() {
  for (auto& [redundancy, group] : groups_) group.end_epoch();
}

void StoreEngine::protect(std::string_view name, std::unique_ptr<Member> member, Redundancy redundancy) {
  if (name.empty()) throw UsageError("a protected member needs a name");
  if (name.find('\n') != std::string_view::npos) throw UsageError("the name of a protected member is one line");
  if (disk_) require_name_for_disk(name);
  if (redundancy != redundancy_ && is_first_epoch_ && comm_ != MPI_COMM_NULL) redundancy.require_ranks(ranks());
  if (const auto known = members_.find(name); known != members_.end()) {
    require_replaceable(name, *known->second, *member);
    note_replaced(name, *known->second, *member);
  } else if (array_of(*member)) {
    arrays_may_differ_ = true;
  }
  add_group(redundancy);
  const std::shared_ptr<Member> shared = std::move(member);
  for (auto& [other, group] : groups_) group.forget(name);
  groups_.at(redundancy).protect(name, shared);
  members_.insert_or_assign(std::string(name), shared);
}

/// Two objects under one name at the beginning of the job: a restore would fill the second alone. Later, one may well
/// take the other's place.
void StoreEngine::note_replaced(std::string_view name, const Member& known, const Member& wanted) {
  const bool is_another = known.object() != nullptr && wanted.object() != nullptr && known.object() != wanted.object();
  if (is_another && is_first_epoch_ && published_ == Version{} && replaced_.empty()) replaced_ = name;
}

void StoreEngine::require_nothing_replaced() const {
  if (replaced_.empty() || !is_first_epoch_ || published_ != Version{}) return;
  throw UsageError(
      fmt::format("two objects were protected as '{}', and restore() would fill the second alone: protect each under a "
                  "name of its own, or only the one that is to be restored",
                  replaced_));
}

void StoreEngine::unprotect(std::string_view name) {
  const auto found = members_.find(name);
  if (found == members_.end())
    throw UsageError(fmt::format("there is no protected member '{}' that could be unprotected", name));
  members_.erase(found);
  for (auto& [redundancy, group] : groups_) group.forget(name);
}

KeptVersions StoreEngine::versions() const {
  std::set<Version> known;
  for (const auto& [redundancy, group] : groups_) known.insert(group.versions().begin(), group.versions().end());
  KeptVersions kept{{known.rbegin(), known.rend()}, {}};
  if (disk_) {
    std::ranges::transform(complete_versions(disk_->folder()), std::back_inserter(kept.on_disk),
                           [](const CompleteVersion& one) { return one.version; });
  }
  return kept;
}

void StoreEngine::forget_members() {
  members_.clear();
  replaced_.clear();
  arrays_may_differ_ = true;
  for (auto& [redundancy, group] : groups_) group.forget_members();
}

/// If there is none yet. Local: the others learn of it before it is used.
void StoreEngine::add_group(Redundancy redundancy) {
  const auto [at, is_new] = groups_.try_emplace(redundancy, redundancy, versions_, find_changes_);
  if (!is_new) return;
  groups_may_differ_ = true;
  if (comm_ != MPI_COMM_NULL) at->second.begin_epoch(comm_, nodes_);
}

/// Calls work(group, tag) for each, in the order that all ranks have.
void StoreEngine::for_each_group(const std::function<void(MemberGroup&, int)>& work) {
  int tag = first_tag;
  for (auto& [redundancy, group] : groups_) work(group, tag++);
}

/// The same for those of which there is something to restore, with the plan for it.
void StoreEngine::for_each_planned(const JointPlan& plan,
                                   const std::function<void(MemberGroup&, int, const GatheringPlan&)>& work) {
  auto of_group = plan.groups.begin();
  for_each_group([&](MemberGroup& group, int tag) {
    if (*of_group) work(group, tag, **of_group);
    ++of_group;
  });
}

/// Does `work`; if it throws, lets go of what that has begun, so that nothing finishes it later.
template <class Work>
auto StoreEngine::whole(Work work) {
  try {
    return work();
  } catch (...) {
    end_epoch();
    throw;
  }
}

/// Does `work` with what other ranks have committed; meanwhile, sizes are those of their snapshots.
template <class Work>
auto StoreEngine::as_of_then(Work work) {
  const struct SizesOfNow {
    explicit SizesOfNow(StoreEngine& store) : store_(store) {}
    ~SizesOfNow() {
      for (auto& [redundancy, group] : store_.groups_) group.forget_sizes();
    }
    StoreEngine& store_;
  } afterwards(*this);
  return work();
}

/// Makes sure that all ranks are here. A rank that has come to something else (an agreement, the end of its body) would
/// otherwise be waited for in a message exchange, and wait itself, for ever; a ballot tells everyone.
agreement::Remarks StoreEngine::meet_for(Motion motion) {
  if (ballot_ == nullptr) throw agreement::Abandoned();
  const bool is_provisional = held_.size() > (lets_go_ ? 1 : 0);  // and does not go to disk
  agreement::Remarks said =
      disk_ ? disk_->remarks(is_provisional ? Version{} : published_.next()) : agreement::Remarks{};
  if (!commit_problem_) said |= can_be_packed;
  if (!groups_may_differ_ && groups_with_members() == used_here_) said |= knows_all_groups;
  if (!arrays_may_differ_) said |= arrays_are_agreed;
  if (!keeps_members_) said |= gives_up_its_data;
  if (!ballot_->vote(motion, true, said)) throw EnvironmentError(fmt::format("a rank refused {}", name_of(motion)));
  if (disk_ && motion == Motion::commit) disk_->hear(said);
  catch_up_with_survivors();
  if (!(said & knows_all_groups)) agree_on_groups();
  return said;
}

/// In an epoch that began with a recovery and in which nothing was restored, a newcomer does not know yet how many
/// versions there were.
void StoreEngine::catch_up_with_survivors() {
  if (!ranks_may_differ_) return;
  std::array<std::uint64_t, 3> known{published_.value, static_cast<std::uint64_t>(committed_by_), announced_.value};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, known.data(), known.size(), MPI_UINT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  settled_ = published_ = Version{known[0]};
  committed_by_ = static_cast<int>(known[1]);
  announced_ = Version{known[2]};
  ranks_may_differ_ = false;
}

/// Has every rank know the groups of all, and which of them have members anywhere: those are committed. Collective.
void StoreEngine::agree_on_groups() {
  used_here_ = groups_with_members();
  std::string mine;
  for (const auto& [redundancy, group] : groups_)
    mine += fmt::format("{}{}\n", used_here_.contains(redundancy) ? "+" : "", to_string(redundancy));
  in_use_.clear();
  for (const auto& lines : gather_lines(std::move(mine))) {
    for (const std::string& line : lines) {
      const bool is_used = line.front() == '+';
      const Redundancy redundancy = Redundancy::parse(line.substr(is_used ? 1 : 0));
      add_group(redundancy);
      if (is_used) in_use_.insert(redundancy);
    }
  }
  if (in_use_.empty()) in_use_.insert(redundancy_);  // a version of nothing is one, too
  groups_may_differ_ = false;
}

/// Refuses ranks that mean different arrays by one name: such parts could not be given to other ranks. Throws on all
/// ranks alike. Collective.
void StoreEngine::agree_on_arrays() {
  std::string mine;
  for (const auto& [name, member] : members_) {
    if (const auto array = array_of(*member)) mine += fmt::format("{}\t{}\n", *array, name);
  }
  const std::uint64_t hash = hash_of(std::as_bytes(std::span(mine)));
  std::array<std::uint64_t, 2> extremes{hash, ~hash};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_UINT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  if (extremes[0] != ~extremes[1]) require_one_array_each(gather_lines(std::move(mine)));
  arrays_may_differ_ = false;
}

/// `arrays[r]`: what rank r has parts of, as "array<tab>name".
void StoreEngine::require_one_array_each(const std::vector<std::vector<std::string>>& arrays) const {
  std::map<std::string, std::pair<Rank, std::string>, std::less<>> first;
  for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
    for (const std::string& line : arrays[rank]) {
      const auto tab = line.find('\t');
      const std::string array = line.substr(0, tab);
      const std::string name = line.substr(tab + 1);
      const auto& [other, known] = first.try_emplace(name, numbers_[rank], array).first->second;
      if (known == array) continue;
      throw UsageError(
          fmt::format("ranks disagree about the array '{}': it is a {} for rank {}, and a {} for rank {}: give "
                      "mend::part the extents of the whole array, which are the same on all ranks",
                      name, known, other.value, array, numbers_[rank].value));
    }
  }
}

/// The lines of each rank's text, but for empty ones. Collective.
std::vector<std::vector<std::string>> StoreEngine::gather_lines(std::string mine) const {
  auto longest = static_cast<int>(mine.size());
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  mine.resize(static_cast<std::size_t>(longest), '\n');
  std::string all(mine.size() * nodes_.size(), '\0');
  check_mpi(MPI_Allgather(mine.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, comm_), "MPI_Allgather");
  std::vector<std::vector<std::string>> lines(nodes_.size());
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    std::istringstream text(all.substr(rank * mine.size(), mine.size()));
    for (std::string line; std::getline(text, line);) {
      if (!line.empty()) lines[rank].push_back(line);
    }
  }
  return lines;
}

std::set<Redundancy> StoreEngine::groups_with_members() const {
  std::set<Redundancy> used;
  for (const auto& [redundancy, group] : groups_) {
    if (!group.members().empty()) used.insert(redundancy);
  }
  return used;
}

// --- commit ----------------------------------------------------------------------------------------------------

Version StoreEngine::commit() {
  const AtPlace at_place(Place::commit);
  commit_async();
  return finish_commit();
}

/// What is in the way of that, if anything. Local.
std::exception_ptr StoreEngine::prepare_members() {
  try {
    for (auto& [redundancy, group] : groups_) group.prepare_commit();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void StoreEngine::commit_async() {
  const AtPlace at_place(Place::commit);
  finish_commit();
  const trace::Span span("commit");
  Stopwatch watch;
  commit_problem_ = prepare_members();
  const agreement::Remarks said = meet_for(Motion::commit);
  if (!(said & can_be_packed)) refuse_commit(std::exchange(commit_problem_, nullptr));
  if (!(said & arrays_are_agreed)) agree_on_arrays();
  const Version version = published_.next();

  if (disk_) disk_->prepare(version, members_);
  reach("commit.pack");
  whole([&] {
    for_each_group([&](MemberGroup& group, int tag) {
      if (in_use_.contains(group.redundancy()))
        group.begin_commit(version, settled_, tag, disk_ && disk_->is_due(), commit_problem_);
    });
  });
  reach("commit.exchange");
  statistics_.commit_time += watch.elapsed();
}

Version StoreEngine::finish_commit() {
  const AtPlace at_place(Place::commit);
  std::vector<MemberGroup*> begun;  // not those that are new since
  for_each_group([&](MemberGroup& group, int) {
    if (group.is_under_way()) begun.push_back(&group);
  });
  if (begun.empty()) return published_;
  const trace::Span span("commit");
  Stopwatch watch;
  const Version version = published_.next();
  whole([&] {
    for (MemberGroup* group : begun) group->finish_commit(version);
    reach("commit.vote");
    if (!ballot_->vote(Motion::commit, commit_problem_ == nullptr))
      refuse_commit(std::exchange(commit_problem_, nullptr));
  });
  reach("commit.publish");
  for (MemberGroup* group : begun) group->publish_commit(version);
  for (auto& [redundancy, group] : groups_) {
    group.forget_old(version);
    if (committed_by_ != ranks()) group.forget_older(version);
  }
  committed_by_ = ranks();
  published_ = version;
  if (lets_go_) let_go();
  members_differ_ = false;
  if (disk_) {
    std::vector<std::span<const std::byte>> snapshots;
    for (MemberGroup* group : begun) snapshots.push_back(group->own_snapshot(version));
    disk_->write(snapshots);
  }

  ++statistics_.commits;
  statistics_.commit_time += watch.elapsed();
  note_sizes();
  if (commit_listener_) commit_listener_();
  return version;
}

std::vector<ByteCount> StoreEngine::block_sizes() const {
  std::vector<ByteCount> all;
  for (const auto& [redundancy, group] : groups_)
    std::ranges::copy(group.block_sizes(published_), std::back_inserter(all));
  return all;
}

void StoreEngine::hold() {
  held_.push_back(published_);
  for (auto& [redundancy, group] : groups_) group.hold(published_);
}

void StoreEngine::let_go() {
  const Version version = held_.back();
  held_.pop_back();
  lets_go_ = false;
  if (std::ranges::find(held_, version) != held_.end()) return;
  for (auto& [redundancy, group] : groups_) group.let_go(version);
}

Version StoreEngine::commit_and_let_go() {
  finish_commit();
  lets_go_ = true;
  return commit();
}

void StoreEngine::drop_provisional() {
  try {
    finish_commit();  // its messages would be taken for another's
  } catch (const ProcessFailure&) {
    throw;
  } catch (...) {  // refused, and so dropped
  }
  forget_newer(held_.back());
  settled_ = published_ = std::min(published_, held_.back());
  members_differ_ = true;
  let_go();
}

/// A commit was refused: throws, where it could not be packed, what was in the way, and everywhere else that this is
/// so. Collective.
void StoreEngine::refuse_commit(std::exception_ptr problem) const {
  constexpr int nobody = std::numeric_limits<int>::max();
  int first = problem ? self_.value : nobody;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  std::string text;
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "it threw what is no std::exception";
  }
  auto length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, first, comm_), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, first, comm_), "MPI_Bcast");
  if (problem) std::rethrow_exception(problem);
  throw EnvironmentError(
      fmt::format("nothing was committed, since rank {} could not pack what it protects: {}", first, text));
}

void StoreEngine::note_sizes() {
  statistics_.snapshot_bytes = statistics_.changed_bytes = 0;
  statistics_.memory_bytes = (disk_ ? disk_->memory() : 0) + BlockReserve::instance().bytes();
  for (const auto& [redundancy, group] : groups_) {
    statistics_.memory_bytes += group.memory();
    if (!in_use_.contains(redundancy)) continue;
    statistics_.snapshot_bytes += group.snapshot_bytes();
    statistics_.changed_bytes += group.changed_bytes();
  }
}

void StoreEngine::finish_disk() {
  const AtPlace at_place(Place::commit);
  if (!disk_ || ballot_ == nullptr) return;
  finish_commit();
  disk_->finish(*ballot_);
}

// --- restore ---------------------------------------------------------------------------------------------------

Version StoreEngine::restore() {
  const AtPlace at_place(Place::restore);
  require_nothing_replaced();
  finish_commit();
  if (!ranks_may_differ_ && std::max(published_, announced_) == Version{} && !disk_)
    return Version{};  // known to all without asking
  return restore_version({});
}

Version StoreEngine::restore(Version wanted) {
  const AtPlace at_place(Place::restore);
  require_nothing_replaced();
  finish_commit();
  return restore_version(wanted);
}

Version StoreEngine::restore_version(std::optional<Version> wanted) {
  const trace::Span span("restore");
  Stopwatch watch;
  const bool fills_all = (meet_for(Motion::restore) & gives_up_its_data) != 0;
  members_differ_ = true;  // should this throw
  reach("restore.inventory");
  const Version version = whole([&] { return restore_what_is_planned(wanted); });
  members_differ_ = !fills_all;
  if (version == Version{}) return version;
  if (disk_ && (wanted || origin_ == Origin::disk)) disk_->go_on_from(version, origin_ == Origin::disk);
  return has_gone_back_to(version, watch);
}

Version StoreEngine::has_gone_back_to(Version version, Stopwatch watch) {
  settled_ = published_ = version;
  reach("restore.done");
  ++statistics_.restores;
  statistics_.restore_time += watch.elapsed();
  note_sizes();
  return version;
}

Version StoreEngine::restore_what_is_planned(std::optional<Version> wanted) {
  if (!has_committed_by_others()) {
    for (;;) {
      const JointPlan plan = make_plan(wanted);
      if (!plan.version) return restore_from_disk(wanted, plan);
      if (restore_from_memory(plan)) return *plan.version;
    }
  }
  return as_of_then([&] {
    const JointPlan plan = plan_undamaged(wanted);
    return plan.version ? restore_of_other_ranks(plan) : restore_from_disk(wanted, plan);
  });
}

/// Whether it has: false when something is damaged of what the plan uses, or of what comes of it. What is, is forgotten
/// then, and nothing of this has been published. What is sent is on its way while it is checked by who sends it.
bool StoreEngine::restore_from_memory(const JointPlan& plan) {
  const Version version = *plan.version;
  reach("restore.transfer");
  for_each_planned(plan,
                   [](MemberGroup& group, int tag, const GatheringPlan& of) { group.begin_to_bring(of.restore, tag); });
  reach("restore.exchange");
  std::exception_ptr problem;
  unsigned damage = 0;
  constexpr unsigned of_parts = 1;
  constexpr unsigned of_a_whole = 2;
  require_all_committed(plan, problem);
  for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    if (group.forget_damaged_and_unpack(of.restore, problem)) damage |= of_parts;
  });
  for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    group.finish_bringing(version);
    if (!group.unpack_what_came(of.restore, problem)) damage |= of_a_whole;
  });
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &damage, 1, MPI_UNSIGNED, MPI_BOR, comm_), "MPI_Allreduce");
  if (damage == of_a_whole) {
    for (auto& [redundancy, group] : groups_) group.forget_blocks(version);
  }
  if (damage != 0) return false;
  // As soon as this rank knows that nothing is damaged anywhere: should somebody die now, this is not lost with it.
  for_each_planned(plan,
                   [&](MemberGroup& group, int, const GatheringPlan& of) { group.publish(of.restore.bring, version); });
  protect_again(plan);
  reach("restore.unpack");
  confirm(problem);
  forget_newer(version);
  origin_ = Origin::memory;
  return true;
}

/// Gives everyone what it is to have of a version that is undamaged.
void StoreEngine::bring_back(const JointPlan& plan) {
  reach("restore.transfer");
  for_each_planned(plan,
                   [](MemberGroup& group, int tag, const GatheringPlan& of) { group.begin_to_bring(of.restore, tag); });
  reach("restore.exchange");
  for_each_planned(plan, [&](MemberGroup& group, int, const GatheringPlan& of) {
    group.finish_bringing(*plan.version);
    group.publish(of.restore.bring, *plan.version);
  });
  protect_again(plan);
}

void StoreEngine::protect_again(const JointPlan& plan) {
  for_each_planned(
      plan, [](MemberGroup& group, int tag, const GatheringPlan& of) { group.begin_to_protect(of.restore, tag); });
  reach("restore.protect");
  for_each_planned(plan, [](MemberGroup& group, int, const GatheringPlan& of) { group.finish_protecting(of.restore); });
}

/// A member of a group that the version has nothing of was not protected like that when it was committed.
void StoreEngine::require_all_committed(const JointPlan& plan, std::exception_ptr& problem) {
  auto of_group = plan.groups.begin();
  for (const auto& [redundancy, group] : groups_) {
    if (*of_group++ || group.members().empty()) continue;
    problem = std::make_exception_ptr(
        UsageError(fmt::format("member '{}' is protected now but was not when version {} was committed, with "
                               "redundancy {}: protect the same members "
                               "before restore as before commit",
                               group.members().begin()->first, plan.version->value, to_string(redundancy))));
  }
}

/// Gives arrays to other ranks than have committed them.
Version StoreEngine::restore_of_other_ranks(const JointPlan& plan) {
  const Version version = *plan.version;
  bring_back(plan);
  reach("restore.unpack");
  std::exception_ptr problem;
  require_all_committed(plan, problem);
  for_each_planned(plan, [](MemberGroup& group, int, const GatheringPlan& of) { group.redistribute_to_members(of); });
  const Parts parts = parts_of(members_);
  for (const auto& [name, member] : members_) {
    if (parts.contains(name) || problem) continue;
    problem =
        std::make_exception_ptr(UsageError(fmt::format("member '{}' is kept rank by rank, and version {} was committed "
                                                       "by {} ranks: protect it as mend::part of an array "
                                                       "or as mend::replicated",
                                                       name, version.value, committed_by_)));
  }
  confirm(problem);
  forget_newer(version);
  origin_ = Origin::memory;
  return version;
}

void StoreEngine::save_what_is_left() {
  if (!disk_) return;
  meet_for(Motion::restore);
  if (!has_committed_by_others()) return;
  whole([&] {
    as_of_then([&] {
      const JointPlan plan = plan_undamaged({});
      if (!plan.version) return;
      bring_back(plan);
      std::vector<Rank> writers;  // by rank of then
      std::vector<std::map<Rank, Bytes>> came;
      std::map<Rank, DiskTier::Snapshots> mine;
      for_each_planned(plan, [&](MemberGroup& group, int tag, const GatheringPlan& of) {
        if (writers.empty())
          std::ranges::transform(of.keepers, std::back_inserter(writers),
                                 [](const auto& keepers) { return keepers.front(); });
        const auto& given = came.emplace_back(group.bring_to(writers, of, tag));
        for (Rank rank{0}; rank.value < committed_by_; ++rank.value) {
          if (writers[static_cast<std::size_t>(rank.value)] != self_) continue;
          const auto at = given.find(rank);
          mine[rank].push_back(at != given.end() ? std::span<const std::byte>(at->second)
                                                 : group.snapshot_of(rank, *plan.version));
        }
      });
      disk_->save(*plan.version, committed_by_, mine);
    });
  });
}

Version StoreEngine::restore_others() {
  const AtPlace at_place(Place::restore);
  finish_commit();
  // A snapshot fills the members that there are.
  const struct MembersSetAside {
    explicit MembersSetAside(StoreEngine& store) : store_(store), members_(std::exchange(store.members_, {})) {
      store.keeps_members_ = true;
      for (auto& [redundancy, group] : store_.groups_) of_groups_[redundancy] = group.set_aside_members();
    }
    ~MembersSetAside() {
      store_.keeps_members_ = false;
      store_.members_ = std::move(members_);
      for (auto& [redundancy, members] : of_groups_) store_.groups_.at(redundancy).put_back(std::move(members));
    }
    StoreEngine& store_;
    Members members_;
    std::map<Redundancy, Members> of_groups_;
  } meanwhile(*this);
  return restore();
}

Version StoreEngine::restore_from(Rank from) {
  const AtPlace at_place(Place::restore);
  finish_commit();
  const trace::Span span("restore");
  Stopwatch watch;
  meet_for(Motion::restore);
  from = find_rank(from);
  members_differ_ = true;  // from now on
  if (has_committed_by_others()) {
    throw UsageError(fmt::format(
        "another rank's data cannot be had from a version that {} ranks have committed: restore() first, and commit",
        committed_by_));
  }
  reach("restore.inventory");
  const JointPlan plan = plan_undamaged({});
  if (!plan.version && disk_ && (plan.newest_seen || published_ != Version{} || disk_->find(members_, {}))) {
    throw UsageError(
        "another rank's data is not in memory any more, and cannot be had from disk: restore() first, and commit");
  }
  if (!plan.version) return restore_from_disk({}, plan);
  const Version version = *plan.version;
  whole([&] { bring_back(plan); });
  reach("restore.unpack");
  std::exception_ptr problem;
  require_all_committed(plan, problem);
  for_each_planned(plan, [&](MemberGroup& group, int tag, const GatheringPlan&) {
    group.unpack_snapshot_of(from, version, tag, problem);
  });
  confirm(problem);
  forget_newer(version);
  origin_ = Origin::memory;
  return has_gone_back_to(version, watch);
}

/// The rank of the communicator that the application calls so. Throws UsageError on all ranks, should one of them be
/// wrong: else it would leave the others waiting. Collective.
Rank StoreEngine::find_rank(Rank asked_for) const {
  constexpr int none = std::numeric_limits<int>::min();
  const auto found = std::ranges::find(numbers_, asked_for);
  int wrong = found != numbers_.end() ? none : asked_for.value;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  if (wrong != none) {
    const bool gave_up_some = numbers_.back() >= Rank{ranks()};
    throw UsageError(fmt::format(
        "there is no rank {} to restore from: there are {}{}", wrong, ranks(),
        gave_up_some
            ? fmt::format(", which are {}",
                          fmt::join(numbers_ | std::views::transform([](Rank rank) { return rank.value; }), ", "))
            : ""));
  }
  return Rank{static_cast<int>(found - numbers_.begin())};
}

void StoreEngine::forget_newer(Version newest) {
  for (auto& [redundancy, group] : groups_) group.forget_newer(newest);
}

/// Of what nobody has anything any more.
std::string StoreEngine::describe_total_loss(std::string_view consequence) const {
  const bool all_died = published_ == Version{};
  return all_died
             ? fmt::format(
                   "all ranks have died, and what they had committed is lost: nobody lives who has any of it; {}",
                   consequence)
             : fmt::format("version {} is lost: nobody lives who has any of it; {}", published_.value, consequence);
}

/// What memory does not have any more, or not yet; Version{0} when nothing was ever committed.
Version StoreEngine::restore_from_disk(std::optional<Version> wanted, const JointPlan& plan) {
  const auto version = disk_ ? disk_->find(members_, wanted) : std::nullopt;
  if (!version) {
    if (plan.newest_seen) {
      throw DataLoss(describe_loss(plan, wanted ? "another version may be whole" : "the job must be started again"));
    }
    if (wanted)
      throw UsageError(
          fmt::format("version {} cannot be restored: it is kept neither in memory nor on disk", wanted->value));
    if (published_ != Version{} || announced_ != Version{}) {
      throw DataLoss(describe_total_loss(disk_ ? "nothing is on disk, and the job must be started again"
                                               : "the job must be started again"));
    }
    if (disk_) confirm(nullptr);
    return Version{};
  }
  if (self_ == Rank{0}) {
    const std::string consequence = fmt::format("all go back to version {}, which is on disk", version->value);
    if (plan.newest_seen) {
      log::warn(describe_loss(plan, consequence));
    } else if (published_ != Version{} || announced_ != Version{}) {
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
  forget_newer(Version{});
  committed_by_ = 0;
  origin_ = Origin::disk;
  return *version;
}

/// Ends a restore: it has worked on all ranks, or on none.
void StoreEngine::confirm(std::exception_ptr problem) {
  reach("restore.vote");
  const bool restored = ballot_->vote(Motion::restore, problem == nullptr);
  if (problem) std::rethrow_exception(problem);
  if (!restored) throw agreement::Abandoned();
}

/// For the newest version that all groups can have, or the one that is wanted. Collective.
JointPlan StoreEngine::make_plan(std::optional<Version> wanted) {
  std::vector<MemberGroup*> groups;
  std::vector<std::vector<Holding>> inventories;
  for_each_group([&](MemberGroup& group, int) {
    groups.push_back(&group);
    inventories.push_back(group.gather_inventory(wanted));
  });
  if (wanted) {
    auto others = inventories;
    for (auto& inventory : others)
      std::erase_if(inventory, [&](const Holding& holding) { return holding.version != *wanted; });
    const bool kept = std::ranges::any_of(others | std::views::join,
                                          [](const Holding& holding) { return !holding.block.owners.empty(); });
    if (!kept && !disk_ && !has_committed_by_others()) throw UsageError(describe_versions(*wanted, inventories));
    inventories = std::move(others);
  }
  return plan_jointly(inventories, [&](std::size_t group, Version version) {
    if (has_committed_by_others()) return plan_gathering(inventories[group], committed_by_, ranks(), version);
    return GatheringPlan{groups[group]->plan(inventories[group], version), {}};
  });
}

/// A plan that builds on nothing that is damaged. Only the version that it chooses is checked, and if anything of that
/// is damaged somewhere, it is forgotten and planned anew.
JointPlan StoreEngine::plan_undamaged(std::optional<Version> wanted) {
  for (;;) {
    JointPlan plan = make_plan(wanted);
    if (!plan.version || is_undamaged(plan)) return plan;
  }
}

/// Whether nothing is damaged of what anybody has of the version chosen; what is, is forgotten. Collective.
bool StoreEngine::is_undamaged(const JointPlan& plan) {
  bool damaged = false;
  for (auto& [redundancy, group] : groups_) damaged = group.forget_damaged(*plan.version) || damaged;
  return !is_so_anywhere(damaged);
}

/// Collective.
bool StoreEngine::is_so_anywhere(bool here) const {
  int anywhere = here ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &anywhere, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  return anywhere != 0;
}

}  // namespace mend
