// One rank's protected members at one version, packed into one block of bytes that explains itself:
//
//   | header | directory: name, shape, offset, size, hash of each member | member | member | ...
//
// The block is what is kept, what is sent to the partner and what comes back from it, unchanged. Header and
// directory carry a hash as well, so a flipped bit anywhere is found.

#pragma once

#include "base/ids.hpp"
#include "store/member.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mend {

/// Members by name.
using Members = std::map<std::string, std::unique_ptr<Member>, std::less<>>;

struct Snapshot {
  Rank owner;
  Version version;  ///< Version{0}: this is no published snapshot (empty, or in the making)
  std::vector<std::byte> bytes;
};

/// Packs `members` into `snapshot.bytes`, reusing its memory. Leaves snapshot.version alone: packing publishes
/// nothing. Local.
void pack(const Members& members, Rank owner, Version version, Snapshot& snapshot);

/// What is wrong with the bytes: nothing, or a description such as "member 'u' is corrupt". Checks every hash, and
/// that the block is `owner`'s at `version`. Local.
std::optional<std::string> find_damage(const Snapshot& snapshot);

/// Fills `members` from an undamaged snapshot. Throws UsageError when a member is not in it or has another shape.
/// Members of the snapshot that are not protected any more are passed over. Local.
void unpack(const Snapshot& snapshot, const Members& members);

}  // namespace mend
