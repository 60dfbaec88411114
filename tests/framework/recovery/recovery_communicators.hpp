// The objects in which processes wait: communicators, and the points at which their members' calls meet.
//
// A communicator belongs to its members and can be revoked. A call on it matches the others' n-th call of its kind. The
// point at which these calls meet records which members have come, what they contribute, and what was decided.

#pragma once

#include "tests/framework/recovery/recovery_scene.hpp"
#include "transport/simulated/explorer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace mend::recovery {

/// The operation in which a process waits.
enum class Op : std::uint8_t {
  nothing,
  agree,
  settle,
  shrink,
  split,
  found,
  meet,
  connect,
  merge,
  admit,
  exchange,
  save,
  park,
  start,
};
inline constexpr std::size_t collective = 12;  // the number of Ops below park

struct Comm {
  bool used = false;
  bool revoked = false;
  std::uint8_t size = 0;
  Mask members = 0;
  Mask reported = 0;  // deaths that an agreement has reported
  std::array<std::uint8_t, most> order{};
  std::array<std::array<std::uint8_t, most>, collective> calls{};

  std::uint8_t earliest(std::size_t op, Mask living, std::size_t count) const {
    std::uint8_t least = 0xff;
    for (std::size_t p = 0; p < count; ++p) {
      if (living & members & (1U << p)) least = std::min(least, calls[op][p]);
    }
    return least;
  }
  void add_to(transport::Fingerprint& print, Mask living, std::size_t count) const {
    print.add(std::uint64_t{used} | std::uint64_t{revoked} << 1U | std::uint64_t{members} << 16U |
              std::uint64_t{reported} << 32U);
    if (!used) return;
    for (std::size_t op = 0; op < collective; ++op) {
      const std::uint8_t least = earliest(op, living, count);
      std::uint64_t word = op;
      for (std::size_t p = 0; p < count; ++p) {
        if (living & members & (1U << p)) word = word * 5 + (calls[op][p] - least);
      }
      print.add(word);
    }
  }
};

/// The point at which the members' n-th calls of one kind meet.
struct Point {
  CommId comm = none;
  Op op = Op::nothing;
  std::uint8_t number = 0;
  std::uint8_t tag = 0;
  bool decided = false;
  bool disturbed = false;
  bool died = false;      // reported with the decision
  bool may_fail = false;  // a member died while the others were in it
  CommId made = none;
  Mask entered = 0;
  Mask returned = 0;
  Mask data = 0;
  std::uint32_t value = 0;
  std::array<std::uint32_t, most> contributions{};

  void add_to(transport::Fingerprint& print, const Comm& of, Mask living, std::size_t count) const {
    print.add(
        std::uint64_t{comm} | static_cast<std::uint64_t>(op) << 8U |
        std::uint64_t(static_cast<std::uint8_t>(number - of.earliest(static_cast<std::size_t>(op), living, count)))
            << 16U |
        std::uint64_t{tag} << 24U | std::uint64_t{made} << 32U | std::uint64_t{decided} << 40U |
        std::uint64_t{disturbed} << 41U | std::uint64_t{died} << 42U | std::uint64_t{may_fail} << 43U);
    print.add(std::uint64_t{entered} | std::uint64_t{returned} << 16U | std::uint64_t{data} << 32U);
    print.add(value);
    if (decided) return;
    for (std::size_t p = 0; p < count; ++p) {
      if (entered & (1U << p)) print.add(contributions[p]);
    }
  }
};

template <class Points>
auto* find_point(Points& points, CommId comm, Op op, std::uint8_t number) {
  const auto is_it = [&](const Point& at) { return at.comm == comm && at.op == op && at.number == number; };
  const auto found = std::ranges::find_if(points, is_it);
  return found == points.end() ? nullptr : &*found;
}

/// All communicators that any process still has, and the points of calls on them.
struct Communicators {
  std::vector<Comm> all;
  std::vector<Point> points;

  Comm& operator[](CommId id) { return all[id]; }
  const Comm& operator[](CommId id) const { return all[id]; }

  /// Makes a communicator of `members`, in the order that they have in `like`, followed by `last`.
  CommId make(Mask members, const Comm& like, std::optional<std::uint8_t> last = {}) {
    CommId id = 0;
    while (id < all.size() && all[id].used) ++id;
    if (id == all.size()) all.emplace_back();
    Comm made;
    made.used = true;
    made.members = members;
    for (std::size_t i = 0; i < like.size; ++i) {
      if (members >> like.order[i] & 1U) made.order[made.size++] = like.order[i];
    }
    if (last) made.order[made.size++] = *last;
    all[id] = made;
    return id;
  }

  void revoke(CommId id) {
    if (id != none) all[id].revoked = true;
  }

  std::vector<ProcessId> members_of(CommId id) const {
    std::vector<ProcessId> members;
    for (std::size_t i = 0; i < all[id].size; ++i) members.push_back(ProcessId{all[id].order[i]});
    return members;
  }

  Point* find(CommId comm, Op op, std::uint8_t number) { return find_point(points, comm, op, number); }
  const Point* find(CommId comm, Op op, std::uint8_t number) const { return find_point(points, comm, op, number); }

  /// Enters p's next call of its kind. The point is made if p is the first to come.
  Point& enter(std::size_t p, CommId comm, Op op, std::uint8_t tag) {
    const std::uint8_t number = all[comm].calls[static_cast<std::size_t>(op)][p]++;
    Point* point = find(comm, op, number);
    if (!point) {
      Point made;
      made.comm = comm;
      made.op = op;
      made.number = number;
      made.tag = tag;
      points.push_back(made);
      point = &points.back();
    }
    point->entered = static_cast<Mask>(point->entered | 1U << p);
    return *point;
  }

  bool every_member_entered(const Point& point) const { return (all[point.comm].members & ~point.entered) == 0; }
};

/// The member before p in the ring of the communicator.
inline std::uint8_t before_in_ring(const Comm& comm, std::size_t p) {
  for (std::size_t i = 0; i < comm.size; ++i) {
    if (comm.order[i] == p) return comm.order[(i + comm.size - 1) % comm.size];
  }
  return static_cast<std::uint8_t>(p);
}

}  // namespace mend::recovery
