#include "fenix/data/group.hpp"

#include "agreement/ballot.hpp"
#include "base/error.hpp"
#include "base/telemetry/log.hpp"
#include "framework/recovery/engine.hpp"
#include "fenix/fenix.h"
#include "fenix/data/snapshot/archive.hpp"
#include "fenix/data/serializer.hpp"
#include "fenix/mlog/message_logs.hpp"
#include "store/snapshot/streaming_copy.hpp"
#include "transport/collectives.hpp"
#include "transport/requests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace mend::fenix {
namespace {

using agreement::Proposal;

/// The group as a member of the store. Its bytes are written to the snapshot before the commit, and read in place.
class GroupMember final : public Member {
 public:
  std::string shape() const override { return "Fenix data group"; }
  ByteCount size() const override { return 0; }
  void pack(std::span<std::byte>) const override {}
  void unpack(std::span<const std::byte>) override {}
};

constexpr const char* member_name = "group";
constexpr int tag_of_fetch = 3;  // the store uses other tags (store/placement/announce_changes.cpp)
constexpr std::size_t image_overhead = std::size_t{64} << 10;  // approximate size of a snapshot without its members

/// Mode 1 of the policy: pairs of ranks hold copies of each other. Mode 5: groups of ranks hold parities. The store
/// chooses the ranks, because it knows the nodes, so the separation has no effect.
Redundancy redundancy_of(const GroupSettings& settings) {
  if (settings.policy_name == FENIX_DATA_POLICY_LOCAL) return Redundancy::parse("local");
  if (settings.policy_value.empty() || settings.policy_value[0] == 1) return Redundancy::parse("partner");
  if (settings.policy_value[0] != 5) {
    throw UsageError(
        fmt::format("the policy's mode {} is none: it is 1 (copies) or 5 (parities)", settings.policy_value[0]));
  }
  return Redundancy::parse(fmt::format("xor:{}", settings.policy_value[2]));
}

/// Copies the elements of a snapshot out of its version slot, because other data will use the slot.
void own(FenixSnapshot& snapshot) {
  for (auto& [id, kept] : snapshot.members) {
    Elements& elements = kept.elements;
    if (!elements.owner) elements = own_elements(elements.known, copy_of(elements.bytes));
  }
}

/// Returns the content of the next commit if nothing is stored.
Staging staging_of(const FenixSnapshot& snapshot) {
  Staging staged;
  for (const auto& [id, kept] : snapshot.members)
    staged[id] = {kept.elements, kept.elements.known, {}, false, kept.elements.bytes.size(), false};
  return staged;
}

/// Returns the definition of the member; null if there is none.
template <class Definitions>
auto find_in(Definitions& definitions, int id) {
  const auto found = std::ranges::find(definitions, id, &Definition::id);
  return found == definitions.end() ? nullptr : &*found;
}

/// Returns the size of the member's elements; 0 if there is no such member.
std::size_t element_bytes_of(const std::vector<Definition>& definitions, int id) {
  const Definition* const found = find_in(definitions, id);
  return found == nullptr ? 0 : found->element_bytes;
}

/// Returns a snapshot that refers to the bytes in `image`.
FenixSnapshot read_snapshot(Version version, std::span<const std::byte> image) {
  const Record record = read_record(record_in(image));
  FenixSnapshot snapshot{record.time_stamp, version, {}};
  for (const RecordedMember& member : record.members) {
    if (member.offset > image.size() || member.bytes > image.size() - member.offset)
      throw EnvironmentError("a member of a Fenix data group lies beyond its snapshot");
    snapshot.members[member.id] = {{member.known, image.subspan(member.offset, member.bytes), {}},
                                   member.fresh,
                                   member.is_fresh,
                                   element_bytes_of(record.definitions, member.id)};
  }
  return snapshot;
}

/// Combines the flags of all ranks by `operation`. `flags`: the same number on all. Collective over the ranks.
void combine(std::vector<int>& flags, MPI_Op operation, MPI_Comm comm) {
  const auto count = static_cast<int>(flags.size());
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, flags.data(), count, MPI_INT, operation, comm); }, "MPI_Allreduce");
}

void vote(Engine& engine, Proposal proposal = Proposal::flag) {
  if (!engine.ballot().vote(proposal, true)) throw EnvironmentError("a rank refused to go on");
}

}  // namespace

Group::Group(int id, GroupSettings settings, Engine& engine)
    : id_(id),
      settings_(std::move(settings)),
      engine_(engine),
      informed_(engine.epoch_state().epoch == Epoch{0}),
      next_time_stamp_(settings_.start_time_stamp),
      image_([this](std::size_t bytes) -> SnapshotInParts& { return begin_snapshot(bytes); }),
      local_images_(is_local() ? static_cast<std::size_t>(settings_.depth) + 2 : 0) {
  redundancy_of(settings_).require_ranks(engine.first_size());  // newcomers must refuse it too: survivors wait for them
  make_store();
}

Group::~Group() = default;

// --- after a failure -------------------------------------------------------------------------------------------

bool Group::is_local() const { return settings_.policy_name == FENIX_DATA_POLICY_LOCAL; }

void Group::make_store() {
  store_.emplace(redundancy_of(settings_), settings_.depth + 2);
  store_->protect(member_name, std::make_unique<GroupMember>());
  engine_.take_into_epoch(*store_);
}

void Group::lose_ranks() {
  store_->forget_everything();
  ranks_.clear();
}

/// Returns true if this rank has been in the group since all committed data was last safe, and ranks were given up
/// since then. Local.
bool Group::has_lost_ranks() const {
  const auto gives_up = [](const RecoveryReport& recovery) { return !recovery.given_up.empty(); };
  return informed_ && std::ranges::any_of(engine_.recoveries().subspan(recoveries_), gives_up);
}

/// Makes sure that all ranks are here for the same group: data of one group must not be taken for that of another.
/// Ranks may have given different depths, and Fenix allows each of them. A newcomer takes the depth of the others,
/// because they may have committed. Before the first commit, the largest depth counts. Collective over the ranks.
Group::RanksSince Group::agree() {
  vote(engine_, Proposal::restore);  // all ranks are here
  const bool is_new = !informed_;
  std::array<int, 6> most{
      is_new ? -1 : settings_.depth, settings_.depth, has_lost_ranks() ? 1 : 0, is_new ? 1 : 0, id_, -id_};
  call_mpi(
      [&] {
        return MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_INT, MPI_MAX,
                             engine_.epoch_state().store.get());
      },
      "MPI_Allreduce");
  const int largest_id = most[4];
  const int smallest_id = -most[5];
  if (smallest_id != largest_id) {
    throw UsageError(
        fmt::format("ranks are at different Fenix data groups, {} and {}: create and commit groups in the "
                    "same order on all ranks",
                    smallest_id, largest_id));
  }
  const int depth = most[0] >= 0 ? most[0] : most[1];
  has_depth_agreed_ = true;
  if (depth != settings_.depth) {
    take_out_of_image();
    end_image();
    settings_.depth = depth;
    make_store();
  }
  return {most[2] != 0, most[3] != 0};
}

std::optional<int> Group::rank_of(int rank_there) const {
  if (rank_there < 0 || static_cast<std::size_t>(rank_there) >= ranks_.size()) return std::nullopt;
  return ranks_[static_cast<std::size_t>(rank_there)];
}

void Group::end_epoch() {
  if (message_logs().recovers_in_place() && (!image_.is_begun() || image_epoch_ == engine_.epoch_state().epoch)) {
    take_out_of_image();
    store_->end_epoch();
    return end_image();
  }
  store_->end_epoch();
}

void Group::finish_copies() {
  try {
    store_->finish_commit();
  } catch (const std::exception&) {  // the next collective call fails as well
  }
}

void Group::catch_up() {
  const Epoch now = engine_.epoch_state().epoch;
  if (caught_up_ == now) return;
  open_.clear();
  // A call that continues after a recovery in place needs the elements that it has stored. If ranks were given up, no
  // call continues.
  const bool keeps_staged = message_logs().recovers_in_place() && informed_ && !has_lost_ranks() &&
                            !has_dropped_staged_ && (!image_.is_begun() || image_epoch_ == now);
  if (keeps_staged) {
    take_out_of_image();
  } else {
    staged_.clear();
    has_dropped_staged_ = true;  // also if another failure interrupts this, and the next call begins again
  }
  end_image();
  if (is_local()) {
    informed_ = true;  // no other rank has anything to tell
  } else {
    const RanksSince ranks = agree();
    std::vector<Definition> recorded;
    if (ranks.were_given_up) {
      keep_own_history(ranks.were_taken_over);
    } else {
      recorded = restore();
    }
    share_definitions(std::move(recorded));
    if (ranks.were_given_up) commit_history_anew();
  }
  if (!keeps_staged) stage_newest();
  has_dropped_staged_ = false;
  caught_up_ = now;
  recoveries_ = engine_.recoveries().size();
}

/// The snapshots in the store are forgotten, because the ranks now have other numbers. A survivor still has its own
/// history, but a newcomer has none. If there is a newcomer, all ranks drop theirs, so that all continue alike.
void Group::keep_own_history(bool has_newcomers) {
  for (FenixSnapshot& snapshot : history_) own(snapshot);
  try {
    store_->restore();  // all ranks agree on the number of the next version
  } catch (const DataLoss&) {
  }
  const bool had_any = keep_common_history();
  if (!has_newcomers) return;
  history_.clear();
  if (had_any && engine_.rank() == Rank{0}) {
    log::warn(
        "what was committed to a Fenix data group is lost: some ranks were given up and others taken over at once");
  }
}

/// Forgets the snapshots that a rank has deleted alone: all ranks commit their history again, in as many commits.
/// Returns true if any rank had a snapshot. Collective over the ranks.
bool Group::keep_common_history() {
  constexpr std::int64_t none = -1;  // time stamps begin at 0
  std::vector<std::int64_t> mine;
  for (const FenixSnapshot& snapshot : history_) mine.push_back(snapshot.time_stamp);
  const auto all = gather_padded(engine_.epoch_state().store.get(), std::move(mine), none);
  std::erase_if(history_, [&](const FenixSnapshot& snapshot) {
    for (int rank = 0; rank < engine_.epoch_state().roster.size(); ++rank) {
      const auto theirs = all.of(rank);
      if (std::ranges::find(theirs, std::int64_t{snapshot.time_stamp}) == theirs.end()) return true;
    }
    return false;
  });
  return std::ranges::any_of(all.all, [](std::int64_t time_stamp) { return time_stamp != none; });
}

/// Commits the history again, so that other ranks hold copies of it. The oldest snapshot is committed first: if another
/// failure interrupts this, the older snapshots are complete.
void Group::commit_history_anew() {
  const std::deque<FenixSnapshot> before = std::exchange(history_, {});
  try {
    for (auto snapshot = before.rbegin(); snapshot != before.rend(); ++snapshot) {
      Staging staged = staging_of(*snapshot);
      for (const auto& [id, kept] : snapshot->members) {
        staged.at(id).fresh = kept.fresh;
        staged.at(id).is_fresh = kept.is_fresh;
      }
      history_.push_front(commit_image(snapshot->time_stamp, staged));
    }
  } catch (...) {
    history_ = before;
    throw;
  }
}

/// Returns the text of the store without the end of its sentence, because here the job continues; followed by the ranks
/// that have died since the data was last safe.
std::string Group::describe(const DataLoss& loss) const {
  const std::string text = loss.what();
  std::vector<std::string> dead;
  for (const RecoveryReport& recovery : engine_.recoveries().subspan(recoveries_)) {
    for (const Replacement& one : recovery.replacements)
      dead.push_back(fmt::format("rank {} (process {})", one.rank.value, one.dead.value));
  }
  return fmt::format("{}; the Fenix data group is empty; since the last commit or restore have died: {}",
                     text.substr(0, text.rfind("; ")), fmt::join(dead, ", "));
}

/// One rank prints the warning: `teller`, which has committed, if there is one; otherwise rank 0.
void Group::warn_of_loss(std::optional<int> teller) {
  if (loss_ && engine_.rank().value == teller.value_or(0)) log::warn(*loss_);
  loss_.reset();
}

/// Returns the definitions in the newest snapshot of this rank.
std::vector<Definition> Group::restore() {
  history_.clear();
  const Seconds before = store_->statistics().restore_time;
  std::vector<Version> versions;
  try {
    versions = store_->restore_with_older(settings_.depth);
    engine_.note_restore(store_->statistics().restore_time - before);
  } catch (const DataLoss& loss) {
    loss_ = describe(loss);
    return {};
  }
  if (versions.empty()) return {};
  Record newest = read_record(record_in(store_->packed_member(versions.front())));
  next_time_stamp_ = newest.time_stamp + 1;
  const auto is_kept = [&](Version version) {
    return version == versions.front() ||
           std::ranges::find(newest.older, version, &KeptBeside::version) != newest.older.end();
  };
  for (const Version version : versions) {
    if (is_kept(version)) history_.push_back(read_snapshot(version, store_->packed_member(version)));
  }
  return std::move(newest.definitions);
}

/// Takes over definitions of members that this rank does not have.
void Group::learn(std::vector<Definition> definitions) {
  for (Definition& definition : definitions) {
    if (find(definition.id) == nullptr) definitions_.push_back(std::move(definition));
  }
}

void Group::stage_newest() {
  staged_.clear();
  if (!history_.empty()) staged_ = staging_of(history_.front());
  std::erase_if(staged_, [this](const auto& staged) { return find(staged.first) == nullptr; });
}

/// Sends newcomers the data that only survivors have: members that were created and never committed, if all survivors
/// have them, and, if nothing was restored, the next time stamp. The first survivor sends it. `recorded`: the
/// definitions in this rank's snapshot, which a newcomer takes first, because members may differ between ranks.
void Group::share_definitions(std::vector<Definition> recorded) {
  const MPI_Comm comm = engine_.epoch_state().store.get();
  const std::optional<int> teller = lowest_rank_with(comm, informed_);
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &next_time_stamp_, 1, MPI_INT, MPI_MAX, comm); }, "MPI_Allreduce");
  Bytes bytes = write_definitions(definitions_);
  std::vector<Definition> shared;
  if (teller) {
    broadcast_bytes(comm, *teller, bytes);
    shared = known_to_all_informed(read_definitions(bytes));
  }
  drop_deleted(recorded);
  vote(engine_);
  if (!informed_) {
    learn(std::move(recorded));
    learn(std::move(shared));
  }
  for (FenixSnapshot& snapshot : history_)
    std::erase_if(snapshot.members,
                  [&](const auto& kept) { return !has(kept.first, kept.second.element_bytes, snapshot.time_stamp); });
  // After a rollback, new members are in the next snapshot.
  for (Definition& one : definitions_) one.since = std::min(one.since, next_time_stamp_);
  warn_of_loss(teller);
  informed_ = true;
}

/// Returns true if the member with this number and elements of this size, in the snapshot with this time stamp, is
/// there. Local.
bool Group::has(int id, std::size_t element_bytes, int time_stamp) const {
  const Definition* const found = find_in(definitions_, id);
  return found != nullptr && found->element_bytes == element_bytes && found->since <= time_stamp;
}

/// Returns those of the definitions that all ranks have which know the group's members. `definitions`: the same on all
/// ranks. Collective over the ranks.
std::vector<Definition> Group::known_to_all_informed(const std::vector<Definition>& definitions) const {
  std::vector<int> is_known;
  for (const Definition& one : definitions) {
    const Definition* const mine = find_in(definitions_, one.id);
    is_known.push_back(!informed_ || (mine != nullptr && mine->element_bytes == one.element_bytes) ? 1 : 0);
  }
  std::vector<Definition> known;
  if (is_known.empty()) return known;
  combine(is_known, MPI_MIN, engine_.epoch_state().store.get());
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (is_known[i] != 0) known.push_back(definitions[i]);
  }
  return known;
}

/// Removes the members that a survivor has deleted since its snapshot, unless another survivor still has them. A member
/// that was deleted and created again is another member. Collective over the ranks.
void Group::drop_deleted(std::vector<Definition>& recorded) const {
  const MPI_Comm comm = engine_.epoch_state().store.get();
  const int newest = next_time_stamp_ - 1;
  std::vector<std::uint64_t> mine;  // for each member its number, and the size of its elements
  for (const Definition& one : recorded) {
    if (informed_ && !has(one.id, one.element_bytes, newest))
      mine.insert(mine.end(), {static_cast<std::uint64_t>(one.id), one.element_bytes});
  }
  const std::vector<std::uint64_t> deleted = gather_padded(comm, std::move(mine)).all;
  std::vector<int> is_kept;
  for (std::size_t at = 0; at < deleted.size(); at += 2)
    is_kept.push_back(informed_ && has(static_cast<int>(deleted[at]), deleted[at + 1], newest) ? 1 : 0);
  if (is_kept.empty()) return;
  combine(is_kept, MPI_MAX, comm);
  std::erase_if(recorded, [&](const Definition& one) {
    for (std::size_t i = 0; i < is_kept.size(); ++i) {
      const bool is_this =
          deleted[2 * i] == static_cast<std::uint64_t>(one.id) && deleted[2 * i + 1] == one.element_bytes;
      if (is_this && is_kept[i] == 0) return true;
    }
    return false;
  });
}

// --- members ---------------------------------------------------------------------------------------------------

Definition* Group::find(int id) { return find_in(definitions_, id); }

void Group::define(const Definition& definition) {
  if (Definition* known = find(definition.id)) {
    const int since = known->since;
    *known = definition;
    known->since = since;
  } else {
    definitions_.push_back(definition);
    definitions_.back().since = next_time_stamp_;
    new_members_.insert(definition.id);
    reserve();
  }
}

/// Allocates memory for the first snapshots, so that no commit waits for the kernel to clear it. If several large
/// members are created, memory is allocated anew, each time with room for further members.
void Group::reserve() {
  if (caught_up_ != engine_.epoch_state().epoch) return;  // the history may be in slots that the store has forgotten
  std::size_t needed = image_overhead;
  for (const auto& [id, bytes] : expected_sizes()) needed += bytes + bytes / 1024;
  if (image_.is_begun() || needed <= reserved_) return;
  reserved_ = reserved_ == 0 ? needed : needed + needed / 2;
  if (!is_local()) return store_->reserve(reserved_);
  for (mend::Bytes& image : local_images_) {
    if (image.empty() && reserved_ >= large_page) image.reserve(reserved_);
  }
}

void Group::remove(int id) {
  open_.erase(id);
  std::erase_if(definitions_, [id](const Definition& definition) { return definition.id == id; });
  new_members_.erase(id);
  staged_.erase(id);
  image_.forget(id);
  for (FenixSnapshot& snapshot : history_) snapshot.members.erase(id);
}

bool Group::has_data(int id) const {
  return staged_.contains(id) ||
         std::ranges::any_of(history_, [id](const FenixSnapshot& snapshot) { return snapshot.members.contains(id); });
}

// --- the image --------------------------------------------------------------------------------------------------

SnapshotInParts& Group::begin_snapshot(std::size_t bytes) {
  if (!is_local()) return store_->pack_in_parts(bytes);
  mend::Bytes& image = local_images_[next_version().value % local_images_.size()];
  return local_parts_.emplace(member_name, std::string(), bytes, image, false);
}

Version Group::next_version() const { return (is_local() ? local_version_ : store_->version()).next(); }

/// Allocates places for the members that are likely to be stored.
void Group::begin_image() {
  const Epoch now = engine_.epoch_state().epoch;
  if (image_.is_begun() && image_epoch_ == now) return;
  if (image_.is_begun()) {  // a failure has dropped it, and this rank has not noticed yet
    end_image();
    stage_newest();
  }
  image_epoch_ = now;
  keep_what_is_overwritten();
  image_.begin(expected_sizes());
}

/// Returns the size of the members that are likely to be in the next snapshot.
Image::Sizes Group::expected_sizes() const {
  Image::Sizes sizes;
  for (const Definition& definition : definitions_) {
    if (new_members_.contains(definition.id)) sizes[definition.id] = definition.count * definition.element_bytes;
  }
  for (const auto& [id, staged] : staged_) sizes[id] = std::max(sizes[id], staged.bytes);
  return sizes;
}

void Group::end_image() {
  image_.end();
  local_parts_.reset();
  store_->forget_parts();
}

/// Copies staged elements out of the version slots, because the image is dropped and restored snapshots take the slots.
/// Elements in an image that was dropped before are lost.
void Group::take_out_of_image() {
  if (!image_.is_begun()) std::erase_if(staged_, [](const auto& staged) { return staged.second.in_image; });
  for (auto& [id, staged] : staged_) {
    const bool was_in_image = std::exchange(staged.in_image, false);
    if (!was_in_image && staged.newest.owner) continue;
    const auto bytes = was_in_image ? image_.at(image_.offset_of(id), staged.bytes) : staged.newest.bytes;
    staged.newest = own_elements(staged.known, copy_of(bytes));
  }
}

/// Copies snapshots out of the slot that the next image takes. The slot holds some if newer snapshots were deleted.
void Group::keep_what_is_overwritten() {
  const std::uint64_t slots = static_cast<std::uint64_t>(settings_.depth) + 2;
  for (FenixSnapshot& snapshot : history_) {
    if (snapshot.version.value + slots <= next_version().value) own(snapshot);
  }
}

// --- store and commit ------------------------------------------------------------------------------------------

/// Returns the content of the member in the next commit as of now, from element 0 on, with zeros where nothing was
/// stored.
Bytes Group::content_of(int id, std::size_t bytes) const {
  Bytes content(bytes);
  const auto found = staged_.find(id);
  if (found == staged_.end()) return content;
  const StagedMember& staged = found->second;
  const auto had = staged.in_image ? image_.at(image_.offset_of(id), staged.bytes) : staged.newest.bytes;
  std::ranges::copy(had.first(std::min(had.size(), bytes)), content.begin());
  return content;
}

/// Fills the member in the image outside `regions`: with its earlier contents, or zeros where nothing was stored.
void Group::prepare_place(const StagedMember& staged, const Definition& definition, const Regions& regions,
                          const Regions& known) {
  const auto bytes = [&](std::size_t elements) { return elements * definition.element_bytes; };
  image_.make_room(definition.id, bytes(known.end()));
  const bool is_replaced = known == regions;
  if (!staged.in_image && !is_replaced) image_.write(definition.id, 0, staged.newest.bytes);
  std::size_t end = staged.in_image || !is_replaced ? staged.known.end() : 0;
  for (const Region& region : known.all()) {
    if (region.begin > end) image_.clear(definition.id, bytes(end), bytes(region.begin));
    end = std::max(end, region.end);
  }
}

void Group::stage(const Definition& definition, const Regions& regions) {
  if (regions.empty()) {
    begin_image();
    staged_[definition.id].is_fresh = true;
    return;
  }
  if (definition.buffer == nullptr && !definition.serializer) {
    throw UsageError(fmt::format(
        "member {} has no buffer here yet: restore it, or set FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER", definition.id));
  }
  begin_image();
  const auto before = staged_.find(definition.id);
  Regions known = before == staged_.end() ? Regions() : before->second.known;
  known.add(regions);
  const std::size_t bytes = known.end() * definition.element_bytes;
  if (definition.serializer) {
    Bytes content = content_of(definition.id, bytes);
    write_elements_of(definition, regions, content);  // if it throws, nothing was staged
    image_.make_room(definition.id, bytes);
    image_.write(definition.id, 0, content);
  } else {
    prepare_place(staged_[definition.id], definition, regions, known);
    const auto* buffer = static_cast<const std::byte*>(definition.buffer);
    const std::size_t last = std::max(definition.count, regions.end());
    for (const Region& region : regions.all()) {
      const std::size_t begin = region.begin * definition.element_bytes;
      const std::size_t end = region.end * definition.element_bytes;
      const std::size_t gap = region.end == last ? definition.gap : 0;
      image_.write(definition.id, begin, {buffer + begin, end - gap - begin});
      if (gap > 0) image_.clear(definition.id, end - gap, end);
    }
  }
  StagedMember& staged = staged_[definition.id];
  staged.known = std::move(known);
  staged.fresh.add(regions);
  staged.is_fresh = true;
  staged.bytes = bytes;
  staged.in_image = true;
}

void Group::unstage(int id) {
  staged_.erase(id);
  if (history_.empty()) return;
  Staging committed = staging_of(history_.front());
  if (auto member = committed.extract(id)) staged_.insert(std::move(member));
}

void Group::stage_whole(const Definition& definition) { stage_bytes(definition, write_whole(definition)); }

void Group::stage_bytes(const Definition& definition, Bytes bytes) {
  const Regions all = Regions::first((bytes.size() + definition.element_bytes - 1) / definition.element_bytes);
  require_countable(definition, all.end());
  bytes.resize(all.end() * definition.element_bytes);
  begin_image();
  image_.make_room(definition.id, bytes.size());
  image_.write(definition.id, 0, bytes);
  staged_[definition.id] = {{}, all, all, true, bytes.size(), true};
}

/// Commits the staged elements as a snapshot with this time stamp. Collective over the ranks, except with the local
/// policy.
FenixSnapshot Group::commit_image(int time_stamp, Staging& staged) {
  begin_image();
  Record record{time_stamp, {}, definitions_, {}};
  for (const FenixSnapshot& older : history_) record.older.push_back({older.time_stamp, older.version});
  for (auto& [id, member] : staged) {
    if (!std::exchange(member.in_image, true)) {
      image_.make_room(id, member.bytes);
      image_.write(id, 0, member.newest.bytes);
    }
    record.members.push_back({id, image_.offset_of(id), member.bytes, member.known, member.fresh, member.is_fresh});
  }
  image_.write_record(write(record));
  FenixSnapshot snapshot{time_stamp, next_version(), {}};
  for (const RecordedMember& member : record.members) {
    snapshot.members[member.id] = {{member.known, image_.at(member.offset, member.bytes), {}},
                                   member.fresh,
                                   member.is_fresh,
                                   element_bytes_of(record.definitions, member.id)};
  }
  if (is_local()) {
    local_parts_->finish(engine_.rank(), snapshot.version);
    local_version_ = snapshot.version;
    local_parts_.reset();
  } else {
    commit_to_store();
  }
  image_.end();
  return snapshot;
}

/// A version that was published before this rank met a failure exists on all ranks.
void Group::commit_to_store() {
  const Version before = store_->version();
  try {
    store_->commit();
  } catch (const ProcessFailure&) {
    if (store_->version() == before) throw;
  }
}

int Group::commit() {
  catch_up();
  if (!has_depth_agreed_ && !is_local()) agree();
  const int time_stamp = next_time_stamp_;
  std::deque<FenixSnapshot> before = history_;
  if (history_.size() > static_cast<std::size_t>(settings_.depth)) history_.pop_back();
  try {
    history_.push_front(commit_image(time_stamp, staged_));
  } catch (...) {
    history_ = std::move(before);
    throw;
  }
  ++next_time_stamp_;
  recoveries_ = engine_.recoveries().size();
  new_members_.clear();
  staged_ = staging_of(history_.front());
  return time_stamp;
}

// --- snapshots -------------------------------------------------------------------------------------------------

const FenixSnapshot* Group::snapshot_at(int time_stamp) const {
  constexpr std::array means_newest{FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SNAPSHOT_ALL, FENIX_TIME_STAMP_MAX};
  if (std::ranges::find(means_newest, time_stamp) != means_newest.end()) return newest();
  const auto found = std::ranges::find(history_, time_stamp, &FenixSnapshot::time_stamp);
  return found != history_.end() ? &*found : nullptr;
}

bool Group::forget(int time_stamp) {
  return std::erase_if(history_, [&](const FenixSnapshot& snapshot) {
           return time_stamp == FENIX_DATA_SNAPSHOT_ALL || snapshot.time_stamp == time_stamp;
         }) > 0;
}

std::optional<Elements> Group::fetch(const std::optional<Elements>& mine, int source) {
  vote(engine_);  // all ranks are here
  const MPI_Comm comm = engine_.epoch_state().store.get();
  const auto ranks = static_cast<std::size_t>(engine_.epoch_state().roster.size());
  std::vector<int> wanted(ranks);
  call_mpi([&] { return MPI_Allgather(&source, 1, MPI_INT, wanted.data(), 1, MPI_INT, comm); }, "MPI_Allgather");

  const Bytes lent = mine ? write_elements(*mine) : Bytes{};
  std::vector<std::uint64_t> lent_sizes(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    lent_sizes[rank] = wanted[rank] == engine_.rank().value ? lent.size() : 0;
  std::vector<std::uint64_t> sizes(ranks);
  call_mpi([&] { return MPI_Alltoall(lent_sizes.data(), 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm); },
           "MPI_Alltoall");
  const int self = engine_.rank().value;
  Bytes borrowed = source == self ? lent : Bytes(sizes[static_cast<std::size_t>(source)]);
  Requests requests(comm);
  if (source != self && !borrowed.empty()) requests.receive(borrowed, source, tag_of_fetch);
  for (int rank = 0; rank < static_cast<int>(ranks); ++rank) {
    if (rank != self && lent_sizes[static_cast<std::size_t>(rank)] > 0) requests.send(lent, rank, tag_of_fetch);
  }
  requests.wait_all();
  vote(engine_);
  if (borrowed.empty()) return std::nullopt;
  return read_elements(borrowed);
}

Elements own_elements(Regions known, Bytes bytes) {
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  const std::span<const std::byte> all = *owner;
  return {std::move(known), all, std::move(owner)};
}

void copy_elements(const Elements& elements, const Definition& definition, const Regions& which, std::byte* target) {
  for (const Region& region : which.all()) {
    const std::size_t begin = region.begin * definition.element_bytes;
    const std::size_t end = region.end * definition.element_bytes - (region.end == which.end() ? definition.gap : 0);
    const std::span from = elements.bytes.subspan(begin, end - begin);
    if (from.size() >= beyond_caches) {
      copy_past_caches(from, {target + begin, from.size()});
    } else {
      std::memcpy(target + begin, from.data(), from.size());
    }
  }
}

}  // namespace mend::fenix
