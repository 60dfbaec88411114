// The memory of one process's store: for each block that it keeps, a slot for each of the last few versions.
//
// Versions take turns in the slots. A version that is being made uses the slot of the oldest one, so the newest
// published version is never overwritten. A version is not restored before it is published.

#pragma once

#include "base/ids.hpp"
#include "store/snapshot/block.hpp"
#include "store/snapshot/bytes.hpp"
#include "store/snapshot/pages.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mend {

/// A block at one version.
struct Kept {
  Version version;               ///< Version{0}: not published (empty, or being made)
  std::vector<ByteCount> sizes;  ///< of the snapshots of the block's owners
  Bytes bytes;
  std::vector<std::uint64_t> hashes;  ///< of the pages of a parity; snapshots contain their own hashes
  std::uint64_t seal = 0;             ///< hash of a parity's description and of `hashes`
};

/// Computes the hashes of a parity whose ranges `written` are new.
void seal(const Block& parity, Version version, std::span<const ByteRange> written, Kept& kept);

class VersionSlots {
 public:
  /// `versions`: the number of slots of a block; 2 or more.
  explicit VersionSlots(int versions) : versions_(static_cast<std::size_t>(versions)) {}

  /// Returns the slot for `version`, to be filled. Its previous contents are no longer published, but not erased.
  Kept& slot_for(const Block& block, Version version);
  /// Allocates memory for `bytes` bytes in each slot of a block that has no version. Throws std::bad_alloc.
  void reserve(const Block& block, ByteCount bytes);
  /// Returns the version that had the slot in the turn before; Version{0} if there is none. A version that is older
  /// still does not count: the block was not made in between, and nobody knows all that has changed since
  /// (store/snapshot/change_finder.hpp).
  Version older_in_slot(const Block& block, Version version);
  /// Returns `version` of a block, published or being made. It must exist.
  Kept& at(const Block& block, Version version);
  /// Publishes a block that has been made.
  void publish(const Block& block, Version version);

  /// Keeps this version even if its slot is needed again: its block is then set aside.
  void hold(Version version) { aside_.try_emplace(version); }
  bool holds(Version version) const { return aside_.contains(version); }
  /// Ends a hold. Blocks that were set aside return to their slots, unless a newer version is there.
  void let_go(Version version);

  /// Calls `visit` with every published block of every version.
  void visit(const std::function<void(const Block&, Kept&)>& visit);

  /// Frees the blocks of which all versions are older than the slots that end with `newest`: other ranks keep them now.
  void forget_old(Version newest);
  /// Forgets all versions newer than `newest`, because their numbers are reused.
  void forget_newer(Version newest);

  /// Forgets all versions older than `oldest`, because another number of ranks has made them.
  void forget_older(Version oldest);

  ByteCount memory() const;
  /// Returns the sizes of the blocks published at `version`.
  std::vector<ByteCount> sizes(Version version) const;

 private:
  Kept& slot(const Block& block, Version version);

  std::size_t versions_;
  std::map<Block, std::vector<Kept>> slots_of_versions_;
  std::map<Version, std::map<Block, Kept>> aside_;  // of held versions
};

/// Checks every hash of a published block. Returns what is damaged, such as "member 'u' is corrupt"; nothing if it is
/// sound.
std::optional<std::string> find_damage(const Block& block, const Kept& kept);

}  // namespace mend
