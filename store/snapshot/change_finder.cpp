#include "store/snapshot/change_finder.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace mend {
namespace {

// Reading 4 KiB takes about a third of the time of a page fault.
constexpr ByteCount few = 8;       // a member is watched if less than this fraction of it has changed
constexpr ByteCount too_many = 4;  // it is not watched any more if more than this fraction of it was written

constexpr ByteCount worth_it = ByteCount{256} << 10;  // smaller members are read just as fast

constexpr unsigned most_needed = 64;  // commits that find little changed before a member is watched again

ByteCount sum(const std::vector<ByteRange>& ranges) {
  ByteCount bytes = 0;
  for (const ByteRange& range : ranges) bytes += range.end - range.begin;
  return bytes;
}

bool same(std::span<const std::byte> one, std::span<const std::byte> other) {
  return one.data() == other.data() && one.size() == other.size();
}

}  // namespace

void ChangeFinder::look(const Members& members, Version version) {
  if (!watched_.empty() && !may_watch()) watched_.clear();
  for (auto at = watched_.begin(); at != watched_.end();) {
    const auto member = members.find(at->first);
    const Verdict verdict = member == members.end() ? Verdict::has_moved : look(at->second, *member->second, version);
    if (verdict == Verdict::changes_much) {
      Candidate& candidate = candidates_[at->first];
      candidate = {0, std::min(2 * candidate.needed, most_needed)};
    }
    at = verdict == Verdict::goes_on ? std::next(at) : watched_.erase(at);
  }
}

ChangeFinder::Verdict ChangeFinder::look(Watched& watched, const Member& member, Version version) const {
  const auto memory = member.contiguous();
  if (watched.begun == Version{}) {
    watched.watch = DirtyPages::begin(memory);
    watched.begun = version;
    return Verdict::goes_on;
  }
  if (!watched.watch) return Verdict::goes_on;  // the kernel could not watch it, and is not asked again
  if (!same(memory, watched.watch->memory())) return Verdict::has_moved;
  auto written = watched.watch->take();
  if (!written) return Verdict::has_moved;
  if (sum(*written) > memory.size() / too_many) return Verdict::changes_much;
  while (!watched.looks.empty() && watched.looks.front().version.value + versions_ <= version.value)
    watched.looks.pop_front();
  watched.looks.push_back({version, *std::move(written)});
  return Verdict::goes_on;
}

WrittenSince ChangeFinder::since(Version older) const {
  WrittenSince known;
  for (const auto& [name, watched] : watched_) {
    if (!watched.watch || watched.begun > older) continue;
    std::vector<ByteRange> all;
    for (const Look& look : watched.looks) {
      if (look.version > older) all.insert(all.end(), look.written.begin(), look.written.end());
    }
    known.emplace(name, joined(std::move(all)));
  }
  return known;
}

void ChangeFinder::forget(std::string_view name) {
  if (const auto at = watched_.find(name); at != watched_.end()) watched_.erase(at);
}

void ChangeFinder::learn(const Members& members, const Changes& changes) {
  if (how_ == FindChanges::by_hash || changes.everything) return;
  std::vector<std::string_view> chosen;
  auto changed = changes.of_members.begin();
  for (const auto& [name, member] : members) {
    const ByteCount bytes = member->contiguous().size();
    const bool is_little = *changed++ < bytes / few && bytes >= worth_it;
    if (watched_.contains(name)) continue;
    Candidate& candidate = candidates_[name];
    candidate.in_a_row = is_little ? candidate.in_a_row + 1 : 0;
    if (candidate.in_a_row >= candidate.needed) chosen.push_back(name);
  }
  if (chosen.empty() || !may_watch()) return;
  for (const std::string_view name : chosen) watched_.try_emplace(std::string(name));
}

}  // namespace mend
