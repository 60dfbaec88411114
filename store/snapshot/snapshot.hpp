// One rank's protected members at one version, packed into one block of bytes that explains itself:
//
//   | header | directory: name, shape, offset, size of each member | hashes of all pages | member | member | ...
//
// The block is what is kept, what is sent or combined into parities, and what comes back, unchanged. Members are hashed
// page by page (store/snapshot/pages.hpp); header, directory and hashes are hashed as well, so a flipped bit anywhere
// is found. A snapshot that is packed over an older one, with the same directory, says which pages have changed: the
// others need not be copied nor sent.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/bytes.hpp"
#include "store/member.hpp"
#include "store/snapshot/pages.hpp"
#include "store/snapshot/part_boxes.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mend {

/// Members by name.
using Members = std::map<std::string, std::shared_ptr<Member>, std::less<>>;

/// What pack has written over an older snapshot.
struct Changes {
  bool everything = true;               ///< there was none, or none like it
  std::vector<ByteRange> ranges;        ///< otherwise: in ascending order, apart from each other
  std::vector<ByteCount> of_members{};  ///< how much of each member, in order of their names
};

/// By a member's name: ranges of its bytes outside of which it is known to be as it was when the older snapshot was
/// packed. Members that are not named may have changed anywhere.
using WrittenSince = std::map<std::string, std::vector<ByteRange>, std::less<>>;

/// Packs members into `snapshot`, reusing its memory and, with `over_older`, its content: then it holds a snapshot of
/// the same rank, whole when it was packed, and what is not `written` since is not read. Local.
using Pack =
    std::function<Changes(Rank owner, Version version, Bytes& snapshot, bool over_older, const WrittenSince& written)>;

/// Asks `members`, which must outlive what is returned, for their shapes and sizes. Throws what they throw, before
/// anything is overwritten. What is returned packs them, once. Local.
Pack prepare(const Members& members);

inline Changes pack(const Members& members, Rank owner, Version version, Bytes& snapshot, bool over_older = false,
                    const WrittenSince& written = {}) {
  return prepare(members)(owner, version, snapshot, over_older, written);
}

/// What is wrong with a snapshot: nothing, or a description such as "member 'u' is corrupt". Checks every hash, and
/// that it is `owner`'s at `version`. Local.
std::optional<std::string> find_damage(std::span<const std::byte> snapshot, Rank owner, Version version);

/// Whether the pages of members that have bytes in these ranges, in ascending order, are as they were packed. Local.
bool is_sound(std::span<const std::byte> snapshot, std::span<const ByteRange> ranges);

/// Fills `members` from a snapshot, and checks it as find_damage does meanwhile. Returns what is wrong with it: what
/// the members hold then is of no use. Throws UsageError, before any is filled, when a member is not in it or has
/// another shape. Members of the snapshot that are not protected any more are passed over. Local.
std::optional<std::string> unpack(std::span<const std::byte> snapshot, Rank owner, Version version,
                                  const Members& members);

/// A member as it lies in a snapshot.
struct PackedMember {
  std::string_view name;
  std::string_view shape;
  std::span<const std::byte> data;
};

/// The members of an undamaged snapshot, in order of their names; they lie where it lies. Throws DataLoss when its
/// directory is corrupt. Local.
std::vector<PackedMember> members_of(std::span<const std::byte> snapshot);

/// Those of the members that are parts of arrays. Local.
Parts parts_of(const Members& members);
Parts parts_of(std::span<const std::byte> snapshot);

}  // namespace mend
