// How a job's snapshots are made to survive the death of those who hold them.
//
// All schemes are one: the snapshots of `data` ranks are cut into as many pieces, one piece of each makes a stripe, and
// each stripe gets `parity` blocks, kept by other ranks. Any `data` blocks of a stripe bring back the rest.
//
//   scheme         data parity  in groups of   survives the loss of                       memory beside the snapshot
//   local             1      0  -              nobody                                     none
//   partner           1      1  -              any rank whose holder lives                1 snapshot
//   replicas:k        1      k  -              any ranks of each of which a holder lives  k snapshots
//   xor:g           g-1      1  g or more      any one rank of each group                 1/(g-1) of a snapshot
//   rs:k+m            k      m  k+m or more    any m ranks of each group                  m/k of a snapshot
//
// A group that has more members has more data: the number of losses it survives is the same.

#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace mend {

struct Redundancy {
  int data = 1;
  int parity = 1;
  auto operator<=>(const Redundancy&) const = default;

  /// "partner", "replicas:2", "xor:4", "rs:4+2" or "local". Throws UsageError for anything else.
  static Redundancy parse(std::string_view text);

  /// Whether each rank's snapshot is protected by itself, by whole copies, rather than in a group with others.
  bool copies() const { return data == 1; }

  /// The fewest ranks of a job that can have it. A single rank may ask for a partner: it does without.
  int least_ranks() const;

  /// The same; or, where so few ranks cannot have it, copies: as many as it survives losses, one a rank at most.
  Redundancy fitting(int ranks) const;

  /// Throws UsageError, with a sentence, when so few ranks cannot have it.
  void require_ranks(int ranks) const;
};

/// As parse takes it.
std::string to_string(const Redundancy& redundancy);

}  // namespace mend
