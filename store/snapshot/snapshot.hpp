// One rank's protected members at one version, packed into one self-describing block of bytes:
//
//   | header | directory: name, shape, offset, size of each member | hashes of all pages | member | member | ...
//
// The block is kept, sent, combined into parities and restored unchanged. Members are hashed page by page
// (store/snapshot/pages.hpp); header, directory and hashes are hashed as well, so a flipped bit anywhere is found. When
// a snapshot is packed over an older one with the same directory, pack reports which pages have changed: the others
// need not be copied or sent.

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

/// The changes that pack has made to an older snapshot.
struct Changes {
  bool everything = true;               ///< there was no older snapshot, or it had another directory
  std::vector<ByteRange> ranges;        ///< otherwise: disjoint ranges, in ascending order
  std::vector<ByteCount> of_members{};  ///< the changed bytes of each member, in order of their names
  bool lacks_older_blocks = false;      ///< this rank lacks older blocks that it is to keep for others, so it needs all
                                        ///< of theirs (MemberGroup)
};

/// By member name: ranges of its bytes outside of which it is known to be unchanged since the older snapshot was
/// packed. Members that are not named may have changed anywhere.
using WrittenSince = std::map<std::string, std::vector<ByteRange>, std::less<>>;

/// Packs members into `snapshot`, and reuses its memory and, with `over_older`, its content. With `over_older`,
/// `snapshot` must hold a snapshot of the same rank, and data that is not in `written` is not read; if the snapshot's
/// directory or hashes are damaged, all is packed anew. Local.
using Pack =
    std::function<Changes(Rank owner, Version version, Bytes& snapshot, bool over_older, const WrittenSince& written)>;

/// Asks `members` for their shapes and sizes. Returns a function that packs them, to be called at most once, while
/// `members` is as it was. When the function is destroyed, called or not, it ends the members' packing
/// (Member::end_pack). Throws the members' exceptions, before anything is overwritten. Local.
Pack prepare(const Members& members);

inline Changes pack(const Members& members, Rank owner, Version version, Bytes& snapshot, bool over_older = false,
                    const WrittenSince& written = {}) {
  return prepare(members)(owner, version, snapshot, over_older, written);
}

/// Returns the damage of a snapshot, such as "member 'u' is corrupt"; nothing if it is sound. Checks every hash, and
/// that it is `owner`'s at `version`. Local.
std::optional<std::string> find_damage(std::span<const std::byte> snapshot, Rank owner, Version version);

/// Returns true if the directory of a snapshot, with the hashes of all pages, is as it was packed. Local.
bool has_sound_directory(std::span<const std::byte> snapshot);

/// Returns true if the pages of members that have bytes in these ascending ranges are as they were packed. Local.
bool is_sound(std::span<const std::byte> snapshot, std::span<const ByteRange> ranges);

/// Fills `members` from a snapshot, and checks it like find_damage at the same time. Returns the damage, if any; the
/// members' data is then invalid. Throws UsageError, before any member is filled, if a member is not in the snapshot or
/// has another shape. Members of the snapshot that are not protected any more are skipped. Local.
std::optional<std::string> unpack(std::span<const std::byte> snapshot, Rank owner, Version version,
                                  const Members& members);

/// A member inside a snapshot.
struct PackedMember {
  std::string_view name;
  std::string_view shape;
  std::span<const std::byte> data;
};

/// Returns the members of an undamaged snapshot, in order of their names. They refer to the snapshot's memory. Throws
/// DataLoss if its directory is corrupt. Local.
std::vector<PackedMember> members_of(std::span<const std::byte> snapshot);

/// Returns the members that are parts of arrays. Local.
Parts parts_of(const Members& members);
Parts parts_of(std::span<const std::byte> snapshot);

}  // namespace mend
