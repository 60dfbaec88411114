// The tree on which contributions go up and decisions come down.
//
// The links of a tree are not stored: a member's parent and children are computed from its number. Members are numbered
// 0 to size-1, and a parent's number is always smaller than those of its children. The root is always the lowest living
// member. The tree has two levels: consecutive members form groups (the processes of a node), each group is a k-ary
// tree of its own, and the lowest members of the groups form a k-ary tree among themselves. Groups of one member give a
// flat tree.
//
//        0 ------------- 4            groups of 4 (bin/bin): 0, 4, 8 lead;
//       / \  \          / \           8 is also a child of 0
//      1   2  8        5   6
//     /               /
//    3               7
//
// When members die the tree is mended, not rebuilt (ERA paper, section 2): the children of a dead member become
// children of its nearest living ancestor, and members without any living ancestor become children of the lowest living
// member. So a link changes only when one of its ends dies, and a new root knows which members to ask for the decisions
// of the roots before it. In the long run, mending gives some parents many children. Between two agreements, members
// that agree on the set of dead members may build a new tree without them (`without`).
//
// For groups of different sizes, number the members as if all groups were as large as the largest, and leave out the
// missing numbers from the start, as if those members had died.

#pragma once

#include "base/ids.hpp"
#include "base/process_set.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mend::agreement {

/// A member of the agreeing group, by its place in it: 0 to size-1. The service maps members to processes; the cores do
/// not know the processes.
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

/// A tree over the members 0..size-1, except those left out. Immutable; share one among all users.
class Tree {
 public:
  /// Throws UsageError if there are no members, or if a group size or an arity is zero.
  Tree(std::uint32_t size, Layout layout, ProcessSet left_out = {});

  std::uint32_t size() const { return size_; }
  const Layout& layout() const { return layout_; }
  const ProcessSet& left_out() const { return left_out_; }

  /// Parent(S, p): returns the parent of `member` when `dead` are dead; none if it is the root.
  std::optional<Member> parent(Member member, const ProcessSet& dead) const;

  /// Children(S, p): puts all q with parent(q, dead) == member into `children`, in ascending order (its memory is
  /// reused).
  void children(Member member, const ProcessSet& dead, std::vector<Member>& children) const;

  /// Returns the ancestors of `member` in the unmended tree that lie below `upper`, or all of them if `upper` is not an
  /// ancestor. These must be dead if `upper` is right to call itself the parent of `member`.
  ProcessSet between(Member member, Member upper) const;

  /// Returns the lowest living member; none if all are dead.
  std::optional<Member> root(const ProcessSet& dead) const;

  /// Returns true if mending around `dead` has given a member more than twice the children that a new tree could give
  /// it.
  bool degenerated(const ProcessSet& dead) const;

  /// Returns a new tree of the same form without `dead`.
  Tree without(const ProcessSet& dead) const;

 private:
  /// The member's place among the groups and in its group. Members left out are not counted.
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

  /// A set prepared for counting, in time logarithmic in its number of runs.
  class Gaps {
   public:
    Gaps() = default;
    explicit Gaps(const ProcessSet& set);
    /// Returns how many members of the set are smaller than `number`.
    std::uint32_t below(std::uint32_t number) const;
    /// Returns the `index`-th number (from 0) that is not in the set.
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
  Gaps gaps_;             // the members left out
  Gaps empty_groups_;     // by number: the groups of which all members are left out
  std::uint32_t groups_;  // the number of other groups
};

}  // namespace mend::agreement
