// The memory of one process's store: for each block that it keeps, a slot for each of the last few versions.
//
// Versions take turns in the slots. What is in the making has the slot of the oldest, so the newest published version
// is never overwritten; and it counts for nothing until it is published.

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
  Version version;               ///< Version{0}: this is nothing published (empty, or in the making)
  std::vector<ByteCount> sizes;  ///< of the snapshots of the block's owners
  Bytes bytes;
  std::vector<std::uint64_t> hashes;  ///< of a parity: of its pages. Snapshots carry hashes in themselves.
  std::uint64_t seal = 0;             ///< of a parity: of what it is, and of these
};

/// Hashes a parity in which these ranges are new.
void seal(const Block& parity, Version version, std::span<const ByteRange> written, Kept& kept);

class VersionSlots {
 public:
  /// `versions`: how many slots a block has; 2 or more.
  explicit VersionSlots(int versions) : versions_(static_cast<std::size_t>(versions)) {}

  /// A slot to fill for `version`. What it held is published no more, but lies there still.
  Kept& slot_for(const Block& block, Version version);
  /// Which older version is in that slot; Version{0} when there is none.
  Version older_in_slot(const Block& block, Version version);
  /// Where `version` of a block is or is made. There must be one.
  Kept& at(const Block& block, Version version);
  /// That a block that has been made is whole.
  void publish(const Block& block, Version version);

  /// Keeps this version from now on, also when the slots have come round: what is in its slot is put aside then.
  void hold(Version version) { aside_.try_emplace(version); }
  bool holds(Version version) const { return aside_.contains(version); }
  /// No more; what was put aside goes back to its slot, unless there is a newer version.
  void let_go(Version version);

  /// Calls `visit` with every block published, of every version.
  void visit(const std::function<void(const Block&, Kept&)>& visit);

  /// Frees what is older than the slots go back, seen from `newest`; such are blocks that are kept elsewhere now.
  void forget_old(Version newest);
  /// Forgets all newer versions: others will take their numbers.
  void forget_newer(Version newest);

  /// Forgets all older versions: they are of other ranks.
  void forget_older(Version oldest);

  ByteCount memory() const;
  /// Of the blocks published at `version`.
  std::vector<ByteCount> sizes(Version version) const;

 private:
  Kept& slot(const Block& block, Version version);

  std::size_t versions_;
  std::map<Block, std::vector<Kept>> slots_of_versions_;
  std::map<Version, std::map<Block, Kept>> aside_;  // of the versions held
};

/// What is wrong with a published block: nothing, or a description such as "member 'u' is corrupt". Checks every hash.
std::optional<std::string> find_damage(const Block& block, const Kept& kept);

}  // namespace mend
