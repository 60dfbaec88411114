// The tree that contributions climb and decisions come down.
//
// A tree is arithmetic, not memory: a member's parent and children are computed from its number. Members are
// numbered 0 to size-1 and a parent's number is always smaller than its children's; the lowest living member is
// the root, whatever dies. Two levels: consecutive members form groups (the processes of a node), each group is a
// k-ary tree of its own, and the lowest members of the groups form a k-ary tree among themselves. One member a
// group gives a flat tree.
//
//        0 ------------- 4            groups of 4 (bin/bin): 0, 4, 8 lead;
//       / \  \          / \           8 is also a child of 0
//      1   2  8        5   6
//     /               /
//    3               7
//
// When members die the tree is mended, not rebuilt (ERA paper, section 2): the children of a dead member become
// children of its nearest living ancestor, and those without any living ancestor become children of the lowest
// living member. So a link changes only when one of its ends dies, and whoever becomes root knows whom to ask
// what the roots before it have decided. Mending makes parents with many children in the long run; between two
// agreements, members who agree on who is dead may build a new tree in which those have no place (`without`).
//
// Groups of different sizes: number the members as if all groups were as large as the largest, and leave the holes
// out from the start, as if they had died.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend::agreement {

/// A member of the agreeing group, by its place in it: 0 to size-1. (What processes those are is known to the
/// service, not to the cores.)
using Member = ProcessId;

/// The form of a tree.
struct Layout {
  static constexpr std::uint32_t unbounded = 0xffffffff;

  std::uint32_t across = 2;      ///< children of a group's leader among the other leaders, at most
  std::uint32_t within = 2;      ///< children of a member inside its group, at most
  std::uint32_t group_size = 1;  ///< members of a group

  static Layout binary() { return k_ary(2); }
  static Layout star() { return k_ary(unbounded); }
  static Layout chain() { return k_ary(1); }
  static Layout k_ary(std::uint32_t k) { return {k, 1, 1}; }

  /// Reads "binary", "star", "chain", "5-ary", or two-level "bin/star:16" (the leaders of groups of 16 in a binary
  /// tree, each group's other members in a star around its leader). Throws UsageError on anything else.
  static Layout parse(std::string_view name);
  std::string to_string() const;

  bool operator==(const Layout&) const = default;
};

/// A tree over the members 0..size-1 without some who are left out. Immutable; share one among all who use it.
class Tree {
 public:
  /// Throws UsageError for no members, a group size or an arity of zero.
  Tree(std::uint32_t size, Layout layout, ProcessSet left_out = {});

  std::uint32_t size() const { return size_; }
  const Layout& layout() const { return layout_; }
  const ProcessSet& left_out() const { return left_out_; }

  /// Parent(S, p): the parent of `member` when `dead` are dead; none if it is the root.
  std::optional<Member> parent(Member member, const ProcessSet& dead) const;

  /// Children(S, p): all q with parent(q, dead) == member, ascending, into `children` (whose memory is reused).
  void children(Member member, const ProcessSet& dead, std::vector<Member>& children) const;

  /// The ancestors of `member` in the unmended tree that lie below `upper`, or all of them when `upper` is no
  /// ancestor: who must be dead if `upper` is right to call itself the parent of `member`.
  ProcessSet between(Member member, Member upper) const;

  /// The lowest member that lives; none when all are dead.
  std::optional<Member> root(const ProcessSet& dead) const;

  /// Whether mending around `dead` has given some member more than twice the children a new tree could give it.
  bool degenerated(const ProcessSet& dead) const;

  /// A new tree of the same form in which `dead` have no place.
  Tree without(const ProcessSet& dead) const;

 private:
  /// The member's place among the groups and in its group, the left out not counted.
  struct Place {
    std::uint32_t group;
    std::uint32_t in_group;
  };
  Place place_of(Member member) const;
  Member member_at(Place place) const;
  std::uint32_t living_in(std::uint32_t group) const;
  std::optional<Member> first_parent(Member member) const;
  template <class Function>
  void each_first_child(Member member, Function function) const;
  void add_living_below(Member member, const ProcessSet& dead, std::vector<Member>& found) const;

  /// A set made ready for counting, in time that grows with the logarithm of its runs.
  class Gaps {
   public:
    Gaps() = default;
    explicit Gaps(const ProcessSet& set);
    /// How many of the set are smaller than `number`.
    std::uint32_t below(std::uint32_t number) const;
    /// The `index`-th number (from 0) that is not in the set.
    std::uint32_t nth_outside(std::uint32_t index) const;
    bool empty() const { return runs_.empty(); }

   private:
    struct Run {
      std::uint32_t first;
      std::uint32_t size;
      std::uint32_t before;   // members of the set in the runs before this
      std::uint32_t outside;  // numbers below this run that are not in the set
    };
    std::vector<Run> runs_;
  };

  std::uint32_t size_;
  Layout layout_;
  ProcessSet left_out_;
  Gaps gaps_;             // the left out
  Gaps empty_groups_;     // by number: groups of which all are left out
  std::uint32_t groups_;  // the others
};

}  // namespace mend::agreement
