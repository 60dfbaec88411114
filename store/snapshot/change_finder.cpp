#include "store/snapshot/change_finder.hpp"

#include <iterator>
#include <utility>

namespace mend {
namespace {

// Reading 4 KiB takes about a third of the time of a page fault.
constexpr ByteCount few = 8;       // a member is watched if less than this fraction of it has changed
constexpr ByteCount too_many = 4;  // it is not watched any more if more than this fraction of it was written

constexpr ByteCount worth_it = ByteCount{256} << 10;  // smaller members are read just as fast

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
  for (auto at = watched_.begin(); at != watched_.end();) {
    const auto member = members.find(at->first);
    const bool goes_on = member != members.end() && look(at->second, *member->second, version);
    at = goes_on ? std::next(at) : watched_.erase(at);
  }
}

/// Returns true if the member is to be watched further.
bool ChangeFinder::look(Watched& watched, const Member& member, Version version) const {
  const auto memory = member.contiguous();
  if (watched.begun == Version{}) {
    watched.watch = DirtyPages::begin(memory);
    watched.begun = version;
    return true;
  }
  if (!watched.watch) return true;  // the kernel could not watch it, and is not asked again
  if (!same(memory, watched.watch->memory())) return false;
  auto written = watched.watch->take();
  if (!written || sum(*written) > memory.size() / too_many) return false;
  while (!watched.looks.empty() && watched.looks.front().version.value + versions_ <= version.value)
    watched.looks.pop_front();
  watched.looks.push_back({version, *std::move(written)});
  return true;
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

void ChangeFinder::learn(const Members& members, const Changes& changes) {
  if (how_ == FindChanges::by_hash || changes.everything) return;
  auto changed = changes.of_members.begin();
  for (const auto& [name, member] : members) {
    const ByteCount bytes = member->contiguous().size();
    if (*changed++ < bytes / few && bytes >= worth_it) watched_.try_emplace(name);
  }
}

}  // namespace mend
