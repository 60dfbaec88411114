#include "store/disk/disk_tier.hpp"

#include "base/error.hpp"
#include "base/fault_point.hpp"
#include "base/telemetry/log.hpp"
#include "base/telemetry/trace.hpp"
#include "store/disk/durable_file.hpp"
#include "store/engine/ballot_remarks.hpp"
#include "store/snapshot/streaming_copy.hpp"
#include "transport/collectives.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <limits>
#include <random>
#include <set>

namespace mend {
namespace {

/// Returns the local time at which `file` was last written: "2026-11-23 08:40:01".
std::string written_at(const std::filesystem::path& file) {
  const auto moment = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(file));
  return fmt::format("{:%F %T}", fmt::localtime(std::chrono::system_clock::to_time_t(
                                     std::chrono::time_point_cast<std::chrono::system_clock::duration>(moment))));
}

constexpr std::size_t kept_versions = 2;

/// Completes a version whose rank files are complete and whose index is written under its unfinished name.
void complete(const std::filesystem::path& disk, const std::filesystem::path& folder, Manifest manifest,
              const std::string& viewers) {
  OpenFile(unfinished(folder / index_name), OpenFile::For::reading).sync();
  finish_file(folder / index_name);
  write_file(folder / viewers_name, viewers);
  for (std::size_t i = 0; i < manifest.parts.size(); ++i) {
    const Rank rank{static_cast<int>(i)};
    const std::filesystem::path file = folder / rank_file_name(rank);
    const FileSeal seal = read_seal(file);
    if (seal.version != manifest.version || seal.rank != rank)
      throw EnvironmentError(fmt::format("{} is not what was written", file.string()));
    manifest.files.push_back(seal);
  }
  sync_folder(disk);
  reach("disk.manifest");
  write_file(folder / manifest_name, to_text(manifest));
  reach("disk.clean");
  remove_old_versions(disk, kept_versions);
}

std::vector<Piece> lay_out(const std::filesystem::path& file, const DiskTier::Snapshots& snapshots) {
  std::vector<PackedMember> members;
  for (const auto snapshot : snapshots) std::ranges::move(members_of(snapshot), std::back_inserter(members));
  return lay_out_rank_file(file, members);
}

/// Writes the data into the file that lay_out() made.
void fill_in(const std::filesystem::path& file, const DiskTier::Snapshots& snapshots, std::span<const Piece> pieces,
             const FileSeal& seal) {
  for (const auto snapshot : snapshots) {
    if (const auto damage = find_damage(snapshot, seal.rank, seal.version)) {
      throw EnvironmentError(fmt::format("the data of rank {} at version {} in memory is damaged: {}", seal.rank.value,
                                         seal.version.value, *damage));
    }
  }
  fill_rank_file(file, pieces, seal);
}

/// The values that the ranks share before they write.
struct Attempt {
  std::size_t longest_text;
  std::uint32_t number;  ///< drawn by rank 0
};

/// Collective.
Attempt agree_on_attempt(MPI_Comm comm, bool draws, std::size_t longest_text) {
  std::array<std::uint64_t, 2> common{longest_text, draws ? std::random_device()() : 0};
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, common.data(), 2, MPI_UINT64_T, MPI_MAX, comm); }, "MPI_Allreduce");
  return {common[0], static_cast<std::uint32_t>(common[1])};
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) throw EnvironmentError(folder.string() + ": " + error.message());
}

}  // namespace

void DiskTier::begin_epoch(MPI_Comm comm, bool begins_job) {
  comm_ = comm;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks_);
  self_ = Rank{rank};
  has_abandoned_ = has_abandoned_ || stage_ == Stage::writing || stage_ == Stage::sealing;
  if (stage_ != Stage::given_up) stage_ = Stage::nothing;
  due_ = false;
  told_ = false;
  if (begins_job) ours_ = false;
}

// --- beside a commit -----------------------------------------------------------------------------------------------

agreement::Remarks DiskTier::remarks(Version version) {
  const bool busy = background_.busy();
  if (auto failure = background_.take_failure()) failure_ = std::move(failure);
  if (sealing_ && !busy) note_sealed();
  agreement::Remarks mine = 0;
  if (!busy) mine |= disk_is_idle;
  if (!failure_ && stage_ != Stage::given_up) mine |= disk_is_well;
  // A version under way counts as the last one, because hear() may complete it in this ballot.
  const bool is_under_way = stage_ == Stage::writing || stage_ == Stage::sealing;
  const Version last = is_under_way ? under_way_ : complete_;
  if (version.value >= last.value + static_cast<std::uint64_t>(options_.every)) mine |= version_is_due;
  if (ours_) mine |= folder_is_ours;
  return mine;
}

/// Called when rank 0's thread has ended the work that completes a version. After a failure the other ranks may not
/// know of that version, but one rank that does not say `version_is_due` is enough to delay the next one.
void DiskTier::note_sealed() {
  const Version sealed = *std::exchange(sealing_, std::nullopt);
  if (!failure_) complete_ = std::max(complete_, sealed);
}

void DiskTier::hear(agreement::Remarks all) {
  due_ = false;
  if (!(all & disk_is_well)) return give_up(all);
  if (!(all & disk_is_idle)) return;
  if (stage_ == Stage::writing) {
    stage_ = Stage::sealing;
    ours_ = true;  // rank 0 has renamed versions of other jobs, since it reported no error
    if (is_first()) seal(ranks_);
  } else {
    if (stage_ == Stage::sealing) complete_ = under_way_;
    stage_ = Stage::nothing;
    due_ = (all & version_is_due) != 0;
    if (due_) remove_abandoned();
    if (due_ && !(all & folder_is_ours) && is_first()) put_others_aside();
  }
}

/// Renames the versions of an earlier job from which this job did not continue. If their numbers were higher than this
/// job's, this job's versions would be removed as the older ones.
void DiskTier::put_others_aside() {
  const auto others = complete_versions(options_.folder);
  try {
    put_newer_aside(options_.folder, Version{});
  } catch (const std::exception& problem) {
    failure_ = problem.what();
    return;
  }
  if (others.empty()) return;
  log::warn(
      fmt::format("this job starts from the beginning, and the versions in {} that another job has written, up to "
                  "version {}, are renamed: restore() would have continued from them",
                  options_.folder.string(), others.front().version.value));
}

/// Removes incomplete versions that a failure has interrupted, so that they do not fill the disk. All threads are idle.
void DiskTier::remove_abandoned() {
  if (!std::exchange(has_abandoned_, false) || !is_first()) return;
  try {
    remove_old_versions(options_.folder, std::numeric_limits<std::size_t>::max());
  } catch (const EnvironmentError&) {  // they stay until a version is complete
  }
}

void DiskTier::give_up(agreement::Remarks all) {
  const Stage was = std::exchange(stage_, Stage::given_up);
  if (!background_.busy()) copy_ = Bytes();  // otherwise at a later commit
  if (std::exchange(told_, true)) return;
  if (was == Stage::writing) {
    remove_attempt();  // waits until the copy is not used any more
    copy_ = Bytes();
  }
  if (was == Stage::sealing && is_first()) remove_unless_complete();
  if ((all & disk_is_idle) != 0) remove_abandoned();
  const auto failure = std::exchange(failure_, std::nullopt);
  say_once(failure ? std::optional(fmt::format(
                         "no more checkpoints are written to disk, and the job goes on without them: {}", *failure))
                   : std::nullopt);
}

/// Removes the files of this attempt, which may have filled the disk. Its manifest was not begun, so they belong to no
/// version. The last rank that removes its files also removes the folder.
void DiskTier::remove_attempt() {
  background_.wait();
  const std::filesystem::path folder = folder_of(options_.folder, under_way_, attempt_);
  const std::filesystem::path file = folder / rank_file_name(self_);
  std::error_code ignored;
  for (const auto& name : {file, unfinished(file), folder}) std::filesystem::remove(name, ignored);
}

/// Called when the other ranks have written their files. Only rank 0 knows whether its thread has completed the
/// version.
void DiskTier::remove_unless_complete() {
  background_.wait();
  const std::filesystem::path folder = folder_of(options_.folder, under_way_, attempt_);
  std::error_code ignored;
  const auto manifest = std::filesystem::status(folder / manifest_name, ignored);
  if (manifest.type() == std::filesystem::file_type::not_found) std::filesystem::remove_all(folder, ignored);
}

bool DiskTier::say_once(const std::optional<std::string>& sentence) const {
  const std::optional<int> speaker = lowest_rank_with(comm_, sentence.has_value());
  if (speaker == self_.value) log::warn(*sentence);
  return speaker.has_value();
}

void DiskTier::prepare(Version version, const Members& members) {
  if (!due_) return;
  reach("disk.begin");
  const std::string mine = to_text(parts_of(members));
  const Attempt attempt = agree_on_attempt(comm_, is_first(), mine.size());
  std::string padded = mine;
  padded.resize(attempt.longest_text, '\0');
  all_parts_.assign(is_first() ? padded.size() * static_cast<std::size_t>(ranks_) : 0, '\0');
  const auto length = static_cast<int>(padded.size());
  call_mpi([&] { return MPI_Gather(padded.data(), length, MPI_CHAR, all_parts_.data(), length, MPI_CHAR, 0, comm_); },
           "MPI_Gather", all_parts_.size());
  if (left_out_until(version) > 0) left_out_ += left_out_until(version) - 1;
  under_way_ = begun_ = version;
  attempt_ = attempt.number;
}

/// Returns how many times a version was due since the last one was begun, up to `version`.
std::uint64_t DiskTier::left_out_until(Version version) const {
  if (begun_ == Version{} || version <= begun_) return 0;
  return (version.value - begun_.value) / static_cast<std::uint64_t>(options_.every);
}

void DiskTier::write(std::span<const std::span<const std::byte>> snapshots) {
  if (!std::exchange(due_, false)) return;
  const trace::Span span("disk");
  stage_ = Stage::writing;
  try {
    const Snapshots copies = copy(snapshots);
    const std::filesystem::path folder = folder_of(options_.folder, under_way_, attempt_);
    make_folder(folder);
    const std::filesystem::path file = folder / rank_file_name(self_);
    const FileSeal seal{under_way_, self_, ranks_, 0, 0};
    background_.begin([file, seal, copies, pieces = lay_out(file, copies)] { fill_in(file, copies, pieces, seal); });
  } catch (const std::exception& problem) {
    failure_ = problem.what();
  }
}

/// Copies the snapshots; returns the copies.
std::vector<std::span<const std::byte>> DiskTier::copy(std::span<const std::span<const std::byte>> snapshots) {
  ByteCount bytes = 0;
  for (const auto& snapshot : snapshots) bytes += snapshot.size();
  resize_block(copy_, bytes);
  std::span<std::byte> left = copy_;
  std::vector<std::span<const std::byte>> copies;
  for (const auto& snapshot : snapshots) {
    copy_past_caches(snapshot, left);
    copies.push_back(left.first(snapshot.size()));
    left = left.subspan(snapshot.size());
  }
  return copies;
}

/// Called on rank 0 when the files of all ranks are written: makes a version of them.
void DiskTier::seal(int ranks) {
  try {
    Manifest manifest{under_way_, {}, {}};
    const std::size_t length = all_parts_.size() / static_cast<std::size_t>(ranks);
    for (std::size_t at = 0; at < static_cast<std::size_t>(ranks); ++at) {
      manifest.parts.push_back(parse_parts(std::string_view(all_parts_).substr(at * length, length)));
    }
    const auto arrays = arrays_of(manifest.parts);
    const std::filesystem::path folder = folder_of(options_.folder, under_way_, attempt_);
    reach("disk.index");
    make_index(folder / index_name, arrays);
    background_.begin(
        [disk = options_.folder, folder, manifest, viewers = describe_for_viewers(index_name, under_way_, arrays)] {
          complete(disk, folder, manifest, viewers);
          log::notice(fmt::format("version {} is on disk, in {}", manifest.version.value, disk.string()));
        });
    sealing_ = under_way_;
  } catch (const std::exception& problem) {
    failure_ = problem.what();
  }
}

/// Completes the version under way.
void DiskTier::settle(agreement::Ballot& ballot) {
  while (stage_ == Stage::writing || stage_ == Stage::sealing) {
    background_.wait();
    agreement::Remarks said = remarks(under_way_);
    if (!ballot.vote(agreement::Proposal::disk, true, said))
      throw EnvironmentError("a rank refused to end the writing to disk");
    hear(said);
  }
}

void DiskTier::demand(agreement::Ballot& ballot, agreement::Remarks all) {
  if (due_) return;
  background_.wait();
  const bool has_written = stage_ != Stage::nothing;  // otherwise hear() has renamed the versions of other jobs
  settle(ballot);
  if (stage_ == Stage::given_up) return;
  if (!has_written && !(all & folder_is_ours) && is_first()) put_others_aside();
  due_ = true;
}

void DiskTier::finish(agreement::Ballot& ballot, Version published) {
  background_.wait();  // also for work that a failure has made useless, so that all ranks are idle at the next
                       // commit that is due
  settle(ballot);
  due_ = false;
  left_out_ += left_out_until(published);
  if (begun_ != Version{}) begun_ = std::max(begun_, published);
  const std::uint64_t left_out = std::exchange(left_out_, 0);
  if (left_out == 0 || !is_first() || stage_ == Stage::given_up) return;
  log::notice(fmt::format(
      "{} not written to disk, because the one before was still being written; the newest on disk is version {}",
      left_out == 1 ? "1 version was" : fmt::format("{} versions were", left_out), complete_.value));
}

void DiskTier::save(Version version, int ranks, const std::map<Rank, Snapshots>& mine) {
  background_.wait();
  failure_.reset();
  if (knows_newer(version)) return;
  remove_abandoned();
  std::map<Rank, std::string> parts;
  std::size_t longest = 0;
  for (const auto& [rank, snapshots] : mine) {
    Parts of_all;
    for (const auto snapshot : snapshots) of_all.merge(parts_of(snapshot));
    parts[rank] = to_text(of_all);
    longest = std::max(longest, parts[rank].size());
  }
  const Attempt attempt = agree_on_attempt(comm_, is_first(), longest);
  std::string here(attempt.longest_text * static_cast<std::size_t>(ranks), '\0');
  for (const auto& [rank, text] : parts)
    here.replace(attempt.longest_text * static_cast<std::size_t>(rank.value), text.size(), text);
  all_parts_ = here;
  call_mpi(
      [&] {
        return MPI_Reduce(here.data(), all_parts_.data(), static_cast<int>(here.size()), MPI_BYTE, MPI_BOR, 0, comm_);
      },
      "MPI_Reduce", here.size());

  under_way_ = version;
  attempt_ = attempt.number;
  const std::filesystem::path folder = folder_of(options_.folder, under_way_, attempt_);
  reach("disk.save");
  try {
    make_folder(folder);
    for (const auto& [rank, snapshots] : mine) {
      const std::filesystem::path file = folder / rank_file_name(rank);
      fill_in(file, snapshots, lay_out(file, snapshots), {version, rank, ranks, 0, 0});
    }
  } catch (const std::exception& problem) {
    failure_ = problem.what();
  }
  const auto sentence = [&] {
    return failure_ ? std::optional(fmt::format("version {} cannot be written to disk: {}", version.value, *failure_))
                    : std::nullopt;
  };
  const bool is_written = !say_once(sentence());
  if (is_first() && is_written) {
    seal(ranks);
    background_.wait();
    if (auto failure = background_.take_failure()) failure_ = std::move(failure);
  }
  if (is_written && !say_once(sentence())) return;
  std::error_code ignored;
  if (is_first()) std::filesystem::remove_all(folder, ignored);
}

/// Returns true if this version or a newer one of this job is on disk. Renames the versions of other jobs. Collective.
bool DiskTier::knows_newer(Version version) {
  int all_ours = ours_ ? 1 : 0;
  call_mpi([&] { return MPI_Allreduce(MPI_IN_PLACE, &all_ours, 1, MPI_INT, MPI_MIN, comm_); }, "MPI_Allreduce");
  std::array<int, 2> known{0, 1};  // the version is on disk; the folder has versions of this job only
  if (is_first() && all_ours == 0) {
    put_others_aside();
    known[1] = failure_ ? 0 : 1;
  } else if (is_first()) {
    const auto there = complete_versions(options_.folder);
    known[0] = !there.empty() && there.front().version >= version ? 1 : 0;
  }
  call_mpi([&] { return MPI_Bcast(known.data(), 2, MPI_INT, 0, comm_); }, "MPI_Bcast");
  ours_ = known[1] != 0;
  return known[0] != 0;
}

// --- restoring -----------------------------------------------------------------------------------------------------

std::optional<Version> DiskTier::find(const Members& members, std::optional<Version> wanted) {
  reach("disk.read");
  std::vector<CompleteVersion> there;
  std::string problem;
  if (is_first()) {
    background_.wait();  // the thread may be about to complete a version and to remove others
    std::error_code error;
    there = complete_versions(options_.folder, error);
    if (error) problem = error.message();
    std::erase_if(there, [&](const CompleteVersion& version) { return wanted && version.version != *wanted; });
  }
  broadcast_bytes(comm_, 0, problem);
  if (!problem.empty()) {
    throw NothingUsable(
        fmt::format("the folder {} for checkpoints on disk cannot be read: {}", options_.folder.string(), problem));
  }
  bool any = false;
  for (std::size_t next = 0;; ++next) {
    int left = next < there.size() ? 1 : 0;
    call_mpi([&] { return MPI_Bcast(&left, 1, MPI_INT, 0, comm_); }, "MPI_Bcast");
    if (left == 0) break;
    any = true;
    found_ = share(is_first() ? std::optional(there[next]) : std::nullopt);
    if (!found_) continue;
    const auto damage = damage_in(*found_, members);
    const Version version = found_->manifest.version;
    if (!say_once(damage ? std::optional(fmt::format("version {} on disk cannot be used: {}", version.value, *damage))
                         : std::nullopt)) {
      return version;
    }
  }
  found_.reset();
  if (!any) return std::nullopt;
  if (wanted)
    throw NothingUsable(fmt::format("version {} in {} cannot be used; another version may be whole", wanted->value,
                                    options_.folder.string()));
  throw NothingUsable(
      fmt::format("no version of the data in {} can be used; to start from the beginning, give another folder",
                  options_.folder.string()));
}

/// Rank 0 sends a version to all ranks. Returns nothing if its manifest is damaged.
std::optional<DiskTier::Found> DiskTier::share(std::optional<CompleteVersion> version) {
  std::string folder;
  std::string text;
  std::optional<std::string> problem;
  const auto attempt = [&](auto work) {
    try {
      work();
    } catch (const EnvironmentError& error) {
      problem = fmt::format("a version on disk cannot be used: {}", error.what());
    }
  };
  if (version) {
    folder = version->folder.string();
    attempt([&] { text = read_file(version->folder / manifest_name); });
  }
  broadcast_bytes(comm_, 0, folder);
  broadcast_bytes(comm_, 0, text);
  Found found{folder, {}, {}};
  attempt([&] {
    if (problem) return;
    found.manifest = parse_manifest(text, (found.folder / manifest_name).string());
    found.arrays = arrays_of(found.manifest.parts);
  });
  if (say_once(problem)) return std::nullopt;
  return found;
}

/// Checks the files from which this rank needs data. Returns the damage, if any.
std::optional<std::string> DiskTier::damage_in(const Found& found, const Members& members) const {
  std::set<Rank> needed;
  for (const auto& [name, member] : members) {
    const auto part = parse_array_part(member->shape());
    const auto array = found.arrays.find(name);
    if (!part && self_.value < found.manifest.ranks()) needed.insert(self_);
    if (!part || array == found.arrays.end()) continue;
    for (const auto& piece : array->second.pieces) {
      if (piece.part.whole.size() == part->whole.size() && overlap(piece.part, *part)) needed.insert(piece.rank);
    }
  }
  for (const Rank rank : needed) {
    const auto& seal = found.manifest.files[static_cast<std::size_t>(rank.value)];
    if (auto damage = find_damage(found.folder / rank_file_name(rank), seal)) return damage;
  }
  return std::nullopt;
}

void DiskTier::fill(const Members& members) const {
  for (const auto& [name, member] : members) {
    if (const auto part = parse_array_part(member->shape()))
      fill_part(*found_, name, *member, *part);
    else
      fill_own(*found_, name, *member);
  }
  if (is_first()) {
    log::notice(fmt::format("continues from version {} in {}, written at {}", found_->manifest.version.value,
                            options_.folder.string(), written_at(found_->folder / manifest_name)));
  }
}

std::set<std::string, std::less<>> DiskTier::arrays() const {
  std::set<std::string, std::less<>> all;
  for (const auto& [name, array] : found_->arrays) all.insert(name);
  return all;
}

std::set<std::string, std::less<>> DiskTier::own_names() const {
  std::set<std::string, std::less<>> own;
  if (found_->manifest.ranks() != ranks_) return own;
  for (const auto& [name, part] : found_->manifest.parts[static_cast<std::size_t>(self_.value)]) own.insert(name);
  try {
    for (std::string& name : RankFile(found_->folder / rank_file_name(self_)).names()) own.insert(std::move(name));
  } catch (const EnvironmentError& error) {  // none of its members was needed
    log::debug(fmt::format("the members of rank {} on disk are not known: {}", self_.value, error.what()));
  }
  return own;
}

void DiskTier::fill_part(const Found& found, const std::string& name, Member& member, const ArrayPart& part) const {
  const auto at = found.arrays.find(name);
  if (at == found.arrays.end()) {
    throw UsageError(fmt::format("member '{}' is a {} but version {} on disk has no such array", name, to_string(part),
                                 found.manifest.version.value));
  }
  const SharedArray& array = at->second;
  require_same_array(name, part, array);
  Bytes bytes(part.bytes());
  Unfound unfound(part);
  for (const auto& [rank, stored] : array.pieces) {
    if (!overlap(stored, part)) continue;
    RankFile(found.folder / rank_file_name(rank)).read_overlap(name, stored, part, bytes);
    unfound.take_out(stored);
  }
  if (const std::size_t missing = unfound.elements(); missing > 0) {
    throw UsageError(fmt::format("{} elements of member '{}', a {}, belonged to no rank when version {} was committed",
                                 missing, name, to_string(part), found.manifest.version.value));
  }
  member.unpack(bytes);
}

void DiskTier::fill_own(const Found& found, const std::string& name, Member& member) const {
  const Manifest& manifest = found.manifest;
  if (manifest.ranks() != ranks_) {
    throw UsageError(
        fmt::format("member '{}' is kept rank by rank, and version {} on disk was written by {} ranks: start that "
                    "many, or protect it as "
                    "mend::part of an array or as mend::replicated",
                    name, manifest.version.value, manifest.ranks()));
  }
  const auto kept = RankFile(found.folder / rank_file_name(self_)).read_member(name);
  if (!kept) {
    throw UsageError(
        fmt::format("member '{}' is protected now but was not when version {} was committed: protect the same members "
                    "before restore as before commit",
                    name, manifest.version.value));
  }
  if (kept->shape != member.shape()) {
    throw UsageError(fmt::format("member '{}' is protected as {} but was committed as {}: restore needs the same shape",
                                 name, member.shape(), kept->shape));
  }
  member.unpack(kept->bytes);
}

void DiskTier::go_on_from(Version version, bool found_here) {
  ours_ = ours_ || found_here;
  found_.reset();
  complete_ = found_here ? version : std::min(complete_, version);
  if (sealing_ && *sealing_ > version) sealing_.reset();
  const bool goes_on = stage_ == Stage::writing || stage_ == Stage::sealing;
  if (goes_on && under_way_ > version) {
    if (stage_ == Stage::writing) remove_attempt();
    stage_ = Stage::nothing;  // if it is complete by now, it is renamed with the other newer versions
  }
  if (!is_first()) return;
  try {
    background_.wait();
    put_newer_aside(options_.folder, version);
  } catch (const std::exception& problem) {
    failure_ = problem.what();
  }
}

}  // namespace mend
