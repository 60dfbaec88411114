// Deciding, after a failure, which version to go back to and who sends what to whom. Pure: every rank computes the
// same plan from the same inventory.

#pragma once

#include "base/ids.hpp"

#include <optional>
#include <span>
#include <vector>

namespace mend {

/// "`keeper` has an undamaged snapshot of `owner` at `version`, `size` bytes long." Plain, so that it can be sent.
struct Holding {
  Rank keeper;
  Rank owner;
  Version version;
  ByteCount size = 0;
};

/// A snapshot that must travel from one rank to another.
struct Transfer {
  Rank from;
  Rank to;
  Rank owner;
  ByteCount size = 0;
  bool operator==(const Transfer&) const = default;
};

struct RestorePlan {
  /// The newest version of which somebody has every rank's snapshot; nullopt when there is none.
  std::optional<Version> version;
  /// What to send so that each rank has its own snapshot and each holder its copies of that version.
  std::vector<Transfer> transfers;
  /// When there is no such version: whose snapshots are missing from the newest one that anybody has a part of.
  std::vector<Rank> missing;
  std::optional<Version> newest_seen;
};

/// `holders[r]`: who shall hold the copy of rank r (see choose_holders).
RestorePlan plan_restore(std::span<const Holding> inventory, std::span<const std::optional<Rank>> holders);

}  // namespace mend
