// One rank's protected members at one version, packed into one block of bytes that explains itself:
//
//   | header | directory: name, shape, offset, size, hash of each member | member | member | ...
//
// The block is what is kept, what is sent or combined into parities, and what comes back, unchanged. Header and directory
// carry a hash as well, so a flipped bit anywhere is found.

#pragma once

#include "base/ids.hpp"
#include "store/member.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// Members by name.
using Members = std::map<std::string, std::unique_ptr<Member>, std::less<>>;

/// Packs `members` into `snapshot`, reusing its memory. Local.
void pack(const Members& members, Rank owner, Version version, std::vector<std::byte>& snapshot);

/// What is wrong with a snapshot: nothing, or a description such as "member 'u' is corrupt". Checks every hash, and
/// that it is `owner`'s at `version`. Local.
std::optional<std::string> find_damage(std::span<const std::byte> snapshot, Rank owner, Version version);

/// Fills `members` from an undamaged snapshot. Throws UsageError when a member is not in it or has another shape.
/// Members of the snapshot that are not protected any more are passed over. Local.
void unpack(std::span<const std::byte> snapshot, const Members& members);

}  // namespace mend
