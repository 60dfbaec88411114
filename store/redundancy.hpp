// How a job's snapshots survive the death of the ranks that hold them.
//
// All schemes are cases of one. The snapshots of `data` ranks are cut into `data` pieces each. A stripe consists of one
// piece of each snapshot. Each stripe gets `parity` blocks, which other ranks keep. Any `data` blocks of a stripe are
// enough to rebuild the others.
//
//   scheme         data parity  in groups of   survives the loss of                       memory beside the snapshot
//   local             1      0  -              no rank                                    none
//   partner           1      1  -              any rank whose holder lives                1 snapshot
//   replicas:k        1      k  -              any ranks of each of which a holder lives  k snapshots
//   xor:g           g-1      1  g or more      any one rank of each group                 1/(g-1) of a snapshot
//   rs:k+m            k      m  k+m or more    any m ranks of each group                  m/k of a snapshot
//
// A group with more members has more data. The number of losses that it survives is the same.

#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace mend {

/// How the snapshots of a job, or of some of its members, survive the death of ranks. See the table above.
struct Redundancy {
  int data = 1;    ///< ranks whose snapshots share parities
  int parity = 1;  ///< parities, or copies when `data` is 1
  auto operator<=>(const Redundancy&) const = default;

  /// The forms that parse() accepts.
  static constexpr const char* forms = "{partner,replicas:K,xor:G,rs:K+M,local}";

  /// Parses "partner", "replicas:2", "xor:4", "rs:4+2" or "local". Throws UsageError for anything else.
  static Redundancy parse(std::string_view text);

  /// Returns true if each rank's snapshot is copied whole, rather than protected in a group with others.
  bool copies() const { return data == 1; }

  /// Returns the smallest number of ranks that can have this redundancy. A single rank may ask for a partner, and gets
  /// none.
  int least_ranks() const;

  /// Returns this redundancy if that many ranks can have it. Otherwise returns as many copies as the losses that this
  /// redundancy survives, but at most one copy for each other rank.
  Redundancy fitting(int ranks) const;

  /// Throws UsageError if parse() would make no such redundancy.
  void require_sense() const;
  /// Throws UsageError if `ranks` ranks are too few for this redundancy. Throws as require_sense.
  void require_ranks(int ranks) const;
};

/// Returns the text that Redundancy::parse accepts.
std::string to_string(const Redundancy& redundancy);

}  // namespace mend
