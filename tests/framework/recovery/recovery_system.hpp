// A job whose processes are recovery cores, over a small model of what they stand on.
//
// What is modelled, each as weak as the real one may be:
//   - Communicators belong to their members and can be revoked. A call on one matches the others' n-th call of its
//   kind.
//   - An agreement is decided when all living members have come. What a dead member has contributed is in it, or its
//     death is reported. The decision reaches each member at a time of its own. When a member dies after it was
//     decided, its messages may be lost: then those that still wait need an answer, from members that are in a call
//     which answers (an agreement, settling, waiting for a newcomer), and not from one that computes, is parked or
//     waits in MPI.
//   - Shrinking makes a communicator of the living, and perhaps of those that died while it was made. If a member
//     dies meanwhile, it may fail in one process and succeed in another.
//   - Other collective calls wait for all. If a member dies, its next neighbour sees that, the others may not. A call
//     ends with an error when its communicator was revoked.
//   - The first world is made with the library's agreement, which answers from inside any call of the library.
//   - A parked process is told of ranks that die, and of calls. A call is lost if the caller dies at once.
//   - A newcomer takes part as long as it lives and its host does.
//   - A body exchanges data in a ring, restores with the others when the epoch is not the first, exchanges data
//     again and returns. Each rank's data is with the rank and with the next one.
// Faults: a process dies, between two steps or between two actions of one; one process's call fails though nobody died.

#pragma once

#include "framework/recovery/core_impl.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mend::recovery {

/// What job is looked at, and what may go wrong in it.
struct Scene {
  int ranks = 3;
  int spares = 1;
  int newcomers = 0;  ///< processes that can be started
  Policy policy = {};
  bool disk = false;
  int spawn_tries = 10;
  int deaths = 1;
  int errors = 0;               ///< processes of which calls may fail that succeed elsewhere
  bool from_the_start = false;  ///< the first world too
  bool faulty = false;          ///< who dies would do so again, which one process knows
};

inline constexpr std::size_t most = 10;
using Mask = std::uint16_t;
using CommId = std::uint8_t;
inline constexpr CommId none = 0xff;

template <Rule omitted>
class System {
 public:
  using Core = BasicCore<omitted>;

  enum class Kind : std::uint8_t { decide, go, fail, notice, newcomer_ends, error, crash };
  struct Step {
    Kind kind = Kind::go;
    std::uint8_t who = 0;    ///< the process, or the point that is decided
    std::uint8_t which = 0;  ///< the one noticed; the way of deciding or dying
    std::uint8_t cut = 0;    ///< if not 0: dies after so many actions
  };

  explicit System(const Scene& scene) : scene_(std::make_shared<Scene>(scene)) {
    deaths_left_ = 0;
    errors_left_ = 0;
    std::vector<ProcessId> launched;
    std::vector<Placed> introduced;
    const auto total = static_cast<std::uint32_t>(scene.ranks + scene.spares);
    Comm world;
    world.used = true;
    for (std::uint32_t p = 0; p < total; ++p) {
      launched.push_back(ProcessId{p});
      introduced.push_back({ProcessId{p}, NodeId{p}});
      world.members = static_cast<Mask>(world.members | 1U << p);
      world.order[world.size++] = static_cast<std::uint8_t>(p);
      living_ = static_cast<Mask>(living_ | 1U << p);
    }
    comms_.push_back(world);
    nodes_.resize(total + static_cast<std::size_t>(scene.newcomers));
    for (std::uint32_t p = 0; p < nodes_.size(); ++p) nodes_[p] = std::make_shared<Node>();
    for (std::uint32_t p = 0; p < total; ++p) {
      Node& node = touch(p);
      node.core.emplace(setup(p), launched, introduced, scene.ranks);
      node.base = 0;
      node.data = data_of(p, scene.ranks);
    }
    for (std::uint32_t p = 0; p < total; ++p) act(p, touch(p).core->step(Begin{}), 0, nullptr);
    if (!scene.from_the_start) make_first_world();
    deaths_left_ = scene.deaths;
    errors_left_ = scene.errors;
  }

  // --- what can happen ---------------------------------------------------------------------------------------------

  bool progresses(Step step) const { return step.cut == 0 && step.kind != Kind::error && step.kind != Kind::crash; }

  std::vector<Step> steps() const {
    std::vector<Step> all;
    for (std::uint8_t i = 0; i < points_.size(); ++i) {
      if (!can_decide(points_[i])) continue;
      // At once: nobody can tell whether something else happens before.
      all.push_back({Kind::decide, i, 0, 0});
      if (undecided_dead(points_[i]) != 0) all.push_back({Kind::decide, i, 1, 0});
      return all;
    }
    for (std::uint8_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p)) continue;
      const Node& node = *nodes_[p];
      const std::size_t before = all.size();
      if (can_go(p)) {
        all.push_back({Kind::go, p, 0, 0});
        if (hears_ruling(node) && all_dead() != node.noticed) all.push_back({Kind::go, p, 1, 0});
      }
      if (can_fail(p)) all.push_back({Kind::fail, p, 0, 0});
      for (std::uint8_t q = 0; q < nodes_.size(); ++q) {
        if (can_notice(p, q)) all.push_back({Kind::notice, p, q, 0});
      }
      if (must_end(p)) all.push_back({Kind::newcomer_ends, p, 0, 0});
      if (deaths_left_ > 0) {
        const std::size_t after = all.size();
        for (std::size_t i = before; i < after; ++i) {
          if (all[i].kind == Kind::newcomer_ends) continue;
          for (std::uint8_t cut = 1; cut <= 3; ++cut) all.push_back({all[i].kind, p, all[i].which, cut});
        }
        all.push_back({Kind::crash, p, 0, 0});
        if (would_disturb(p)) all.push_back({Kind::crash, p, 1, 0});
      }
      if (can_err(p)) all.push_back({Kind::error, p, 0, 0});
    }
    return all;
  }

  /// `told`: is given a line for each thing that a process has done.
  bool take(Step step, std::string* told) {
    const std::uint8_t p = step.who;
    switch (step.kind) {
      case Kind::decide: decide(points_[p], step.which == 1); break;
      case Kind::go:
        if (!go(p, step.which == 1, step.cut, told)) return false;
        break;
      case Kind::fail:
        if (!fail(p, step.cut, told)) return false;
        break;
      case Kind::notice: {
        Node& node = touch(p);
        node.noticed = static_cast<Mask>(node.noticed | 1U << step.which);
        if (!feed(p, ProcessDied{ProcessId{step.which}}, step.cut, told)) return false;
        break;
      }
      case Kind::newcomer_ends:
        if (told) *told += fmt::format("  {} ends, because its host has died\n", p);
        crash(p, false);
        break;
      case Kind::error: err(p, told); break;
      case Kind::crash:
        if (told) *told += fmt::format("  {} dies{}\n", p, step.which == 1 ? ", and what it has sent is lost" : "");
        --deaths_left_;
        crash(p, step.which == 1);
        break;
    }
    tidy();
    return true;
  }

  transport::Fingerprint print() const {
    transport::Fingerprint print;
    print.add(living_ | std::uint64_t{errors_left_ > 0} << 16U | std::uint64_t(deaths_left_) << 20U |
              std::uint64_t{lost_} << 32U | std::uint64_t{saved_} << 48U);
    for (std::size_t p = 0; p < nodes_.size(); ++p) print.add(nodes_[p]->print());
    for (const Comm& comm : comms_) comm.add_to(print, living_, nodes_.size());
    for (const Point& point : points_) point.add_to(print, comms_[point.comm], living_, nodes_.size());
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      for (std::size_t by = 0; by < nodes_.size(); ++by) print.add(calls_[p][by]);
    }
    print.add(complaint_.size());
    return print;
  }

  // --- the promises ------------------------------------------------------------------------------------------------

  std::optional<std::string> broken(bool at_rest) const {
    if (!complaint_.empty()) return complaint_;
    const Node* first = nullptr;
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p) || !nodes_[p]->core) continue;
      const Node& node = *nodes_[p];
      if (at_rest && !node.end)
        return fmt::format("Termination: {} waits for ever, {}", p, to_string(node.core->state()));
      for (std::size_t q = 0; q < p; ++q) {
        if (!lives(q) || !nodes_[q]->core) continue;
        if (auto apart = apart_from(node, *nodes_[q])) return fmt::format("Agreement: {} and {} {}", q, p, *apart);
      }
      first = first ? first : &node;
    }
    const bool had_data = first && !first->core->first_world();
    const auto is_vacant = [](Ending why) { return why == Ending::nobody_left || why == Ending::rank_fails; };
    if (had_data && first->end && is_vacant(first->end->why) && scene_->disk && at_rest) {
      Mask left = 0;
      for (std::size_t p = 0; p < nodes_.size(); ++p) {
        if (lives(p)) left = static_cast<Mask>(left | nodes_[p]->data);
      }
      if (left & ~saved_) return "Data: the job ends, and what is left was not saved";
    }
    return std::nullopt;
  }

  std::string describe() const {
    std::string text;
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      const Node& node = *nodes_[p];
      if (!lives(p)) {
        if (node.stage != Stage::unborn) text += fmt::format("  in the end {} is dead\n", p);
      } else if (node.core) {
        text += fmt::format("  in the end {} is {} in epoch {}", p, to_string(node.core->state()),
                            node.core->position().epoch.value);
        if (node.end) text += ", " + to_string(Action{*node.end});
        text += "\n";
      }
    }
    return text;
  }

  // --- for runs by a script, or by chance ----------------------------------------------------------------------------

  bool lives(std::size_t p) const { return (living_ >> p & 1U) != 0; }
  std::size_t size() const { return nodes_.size(); }
  const Core* core(std::size_t p) const { return nodes_[p]->core ? &*nodes_[p]->core : nullptr; }
  std::optional<End> end_of(std::size_t p) const { return nodes_[p]->end; }
  bool newcomer_waits(std::size_t p) const { return lives(p) && nodes_[p]->stage == Stage::at_line; }
  bool can_err(std::size_t p) const {
    const Node& node = *nodes_[p];
    if (!lives(p) || !node.core || node.op == Op::nothing || (!node.troubled && errors_left_ == 0)) return false;
    return !node.troubled || node.op == Op::split;  // what could not be had once may not be had again
  }

 private:
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
  static constexpr std::size_t collective = 12;  // Ops below park

  enum class Stage : std::uint8_t { unborn, at_line, admitted };

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

  /// Where the members' n-th calls of one kind meet.
  struct Point {
    CommId comm = none;
    Op op = Op::nothing;
    std::uint8_t number = 0;
    std::uint8_t tag = 0;
    bool decided = false;
    bool disturbed = false;
    bool died = false;      // reported with the decision
    bool may_fail = false;  // a member died while they were in it
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

  struct Node {
    std::optional<Core> core;
    Op op = Op::nothing;
    CommId on = none;  // the communicator it waits on
    std::uint8_t number = 0;
    Stage stage = Stage::unborn;
    bool restoring = false;      // in the body
    bool is_first_half = false;  // of the body
    bool troubled = false;
    Mask data = 0;
    Mask noticed = 0;
    CommId base = none;
    CommId candidate = none;
    CommId candidate_application = none;
    CommId application = none;
    CommId meeting = none;
    CommId joined = none;
    std::uint8_t host = 0xff;   // of a newcomer
    std::uint8_t guest = 0xff;  // of a host
    agreement::Motion motion = agreement::Motion::finish;
    std::optional<agreement::Ruling> closed;
    std::optional<Position> position;  // that a newcomer is told
    Course course;
    std::optional<End> end;
    mutable std::optional<transport::Fingerprint> known;

    transport::Fingerprint print() const {
      if (known) return *known;
      transport::Fingerprint print;
      if (core) core->add_to(print);
      print.add(static_cast<std::uint64_t>(op) | std::uint64_t{on} << 8U | static_cast<std::uint64_t>(stage) << 16U |
                std::uint64_t{restoring} << 24U | std::uint64_t{troubled} << 25U | std::uint64_t{is_first_half} << 26U |
                std::uint64_t{data} << 32U | std::uint64_t{noticed} << 48U);
      print.add(std::uint64_t{base} | std::uint64_t{candidate} << 8U | std::uint64_t{candidate_application} << 16U |
                std::uint64_t{application} << 24U | std::uint64_t{meeting} << 32U | std::uint64_t{joined} << 40U |
                std::uint64_t{host} << 48U | std::uint64_t{guest} << 56U);
      print.add(static_cast<std::uint64_t>(motion) | (closed ? static_cast<std::uint64_t>(*closed) + 1 : 0) << 8U |
                std::uint64_t{end.has_value()} << 16U |
                (end ? static_cast<std::uint64_t>(end->code) << 24U | static_cast<std::uint64_t>(end->why) << 32U : 0) |
                std::uint64_t{position.has_value()} << 40U);
      known = print;
      return print;
    }
  };

  /// Tells what an agreement would be given, and has it come to what the model says.
  class Stub final : public agreement::Agreement {
   public:
    explicit Stub(agreement::Outcome outcome = {~0U, false}) : outcome_(outcome) {}
    agreement::Outcome agree(std::uint32_t contribution) override {
      contributed = contribution;
      return outcome_;
    }
    std::uint32_t contributed = 0;

   private:
    agreement::Outcome outcome_;
  };

  static std::uint32_t ballot_contribution(agreement::Motion motion) {
    auto stub = std::make_unique<Stub>();
    Stub& seen = *stub;
    agreement::Ballot ballot(std::move(stub));
    ballot.cast(motion, true);
    return seen.contributed;
  }

  Setup setup(std::uint32_t p) const { return {ProcessId{p}, scene_->policy, scene_->spawn_tries, scene_->disk, {}}; }
  Mask data_of(std::uint32_t rank, int ranks) const {
    if (static_cast<int>(rank) >= ranks) return 0;
    const auto n = static_cast<std::uint32_t>(ranks);
    return static_cast<Mask>(1U << rank | 1U << ((rank + n - 1) % n));
  }

  /// Without faults, until all are in the first epoch, and nobody has done anything in it.
  void make_first_world() {
    const auto is_there = [&](const Step& step) {
      return step.kind != Kind::decide && !nodes_[step.who]->core->first_world();
    };
    for (;;) {
      std::vector<Step> next = steps();
      std::erase_if(next, is_there);
      if (next.empty()) return;
      take(next.front(), nullptr);
    }
  }

  Node& touch(std::size_t p) {
    if (nodes_[p].use_count() > 1) nodes_[p] = std::make_shared<Node>(*nodes_[p]);
    nodes_[p]->known.reset();
    return *nodes_[p];
  }
  Mask all_dead() const {
    Mask dead = 0;
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p) && nodes_[p]->stage != Stage::unborn) dead = static_cast<Mask>(dead | 1U << p);
    }
    return dead;
  }

  // --- communicators and the points at which calls meet
  // ---------------------------------------------------------------

  CommId make_comm(Mask members, const Comm& like, std::optional<std::uint8_t> last = {}) {
    CommId id = 0;
    while (id < comms_.size() && comms_[id].used) ++id;
    if (id == comms_.size()) comms_.emplace_back();
    Comm made;
    made.used = true;
    made.members = members;
    for (std::size_t i = 0; i < like.size; ++i) {
      if (members >> like.order[i] & 1U) made.order[made.size++] = like.order[i];
    }
    if (last) made.order[made.size++] = *last;
    comms_[id] = made;
    return id;
  }

  Point* point_of(const Node& node) { return find(node.on, node.op, node.number); }
  const Point* point_of(const Node& node) const {
    for (const Point& point : points_) {
      if (point.comm == node.on && point.op == node.op && point.number == node.number) return &point;
    }
    return nullptr;
  }
  Point* find(CommId comm, Op op, std::uint8_t number) {
    for (Point& point : points_) {
      if (point.comm == comm && point.op == op && point.number == number) return &point;
    }
    return nullptr;
  }

  void enter(std::size_t p, CommId comm, Op op, std::uint8_t tag, std::uint32_t contribution = 0) {
    Node& node = touch(p);
    if (comm == none) {
      complaint_ = fmt::format("{} has no communicator for what it does, {}", p, to_string(node.core->state()));
      return;
    }
    node.op = op;
    node.on = comm;
    node.number = comms_[comm].calls[static_cast<std::size_t>(op)][p]++;
    Point* point = find(comm, op, node.number);
    if (!point) {
      Point made;
      made.comm = comm;
      made.op = op;
      made.number = node.number;
      made.tag = tag;
      points_.push_back(made);
      point = &points_.back();
    }
    if (point->tag != tag) complaint_ = fmt::format("Agreement: {} comes to a call for another reason than others", p);
    point->entered = static_cast<Mask>(point->entered | 1U << p);
    point->contributions[p] = contribution;
  }

  bool all_entered(const Point& point) const { return (comms_[point.comm].members & living_ & ~point.entered) == 0; }
  bool every_member_entered(const Point& point) const { return (comms_[point.comm].members & ~point.entered) == 0; }

  bool can_decide(const Point& point) const {
    if (point.decided || !all_entered(point)) return false;
    return point.op == Op::agree || point.op == Op::shrink || point.op == Op::meet;
  }
  Mask undecided_dead(const Point& point) const {
    return static_cast<Mask>(point.entered & ~living_ & ~comms_[point.comm].reported);
  }

  /// `without`: the dead members that had come are left out and reported; otherwise they count.
  void decide(Point& point, bool without) {
    Comm& comm = comms_[point.comm];
    point.decided = true;
    Mask counted = static_cast<Mask>(point.entered & (without ? living_ : 0xffff) & ~comm.reported);
    if (point.op == Op::agree) {
      point.value = 0x7fffffff;
      for (std::size_t p = 0; p < nodes_.size(); ++p) {
        if (!(counted >> p & 1U)) continue;
        point.value &= point.contributions[p];
        point.data = static_cast<Mask>(point.data | nodes_[p]->data);
      }
      const Mask missing = static_cast<Mask>(comm.members & ~counted & ~comm.reported);
      point.died = missing != 0;
      comm.reported = static_cast<Mask>(comm.reported | missing);
      return;
    }
    const Mask members = static_cast<Mask>(comm.members & (without ? living_ : living_ | point.entered));
    point.may_fail = (comm.members & ~living_ & point.entered) != 0;
    const Comm like = comm;
    point.made = make_comm(members, like);
  }

  /// The first world is made with the library's agreement, which answers from inside any call.
  bool answers(const Node& node) const {
    return (node.core && node.core->first_world()) || node.op == Op::agree || node.op == Op::settle ||
           node.op == Op::start;
  }

  /// The one before p in the ring of the communicator.
  std::uint8_t before_in_ring(const Comm& comm, std::size_t p) const {
    for (std::size_t i = 0; i < comm.size; ++i) {
      if (comm.order[i] == p) return comm.order[(i + comm.size - 1) % comm.size];
    }
    return static_cast<std::uint8_t>(p);
  }

  // --- how a wait ends
  // ------------------------------------------------------------------------------------------------

  bool hears_ruling(const Node& node) const { return node.op == Op::agree && node.core->state() == State::balloting; }

  bool can_go(std::size_t p) const {
    const Node& node = *nodes_[p];
    if (node.op == Op::nothing || !node.core) return false;
    if (node.op == Op::park) return is_woken(p);
    if (node.op == Op::start) return node.guest != 0xff && newcomer_waits(node.guest);
    const Point& point = *point_of(node);
    switch (node.op) {
      case Op::agree:
        if (!point.decided) return false;
        if (!point.disturbed) return true;
        for (std::size_t q = 0; q < nodes_.size(); ++q) {
          if (lives(q) && (point.returned >> q & 1U) && !answers(*nodes_[q])) return false;
        }
        return true;
      case Op::settle:
      case Op::found:
      case Op::admit: return all_entered(point);
      case Op::shrink:
      case Op::meet: return point.decided;
      case Op::connect:
      case Op::merge: return every_member_entered(point) && (point.value & 1U) != 0;
      case Op::exchange:
      case Op::save: return (point.entered >> before_in_ring(comms_[node.on], p) & 1U) != 0;
      default: return every_member_entered(point);
    }
  }

  bool is_woken(std::size_t p) const {
    const Node& node = *nodes_[p];
    const Position& position = node.core->position();
    for (std::size_t by = 0; by < nodes_.size(); ++by) {
      if (calls_[p][by] > position.epoch.value) return true;  // kept as epoch + 1
    }
    for (const Seat& seat : position.roster.seats) {
      if (!lives(seat.holder.process.value)) return true;
    }
    return false;
  }

  bool can_fail(std::size_t p) const {
    const Node& node = *nodes_[p];
    if (!node.core) return false;
    if (node.op == Op::start) return node.guest == 0xff || !lives(node.guest);
    if (node.op == Op::shrink || node.op == Op::meet) {
      const Point& point = *point_of(node);
      return point.decided && point.may_fail;
    }
    const bool is_breakable = node.op == Op::split || node.op == Op::connect || node.op == Op::merge ||
                              node.op == Op::exchange || node.op == Op::save;
    if (!is_breakable) return false;
    const Comm& comm = comms_[node.on];
    if (comm.revoked) return true;
    if (node.guest != 0xff && (node.op == Op::connect || node.op == Op::merge) && !lives(node.guest)) return true;
    return !lives(before_in_ring(comm, p));
  }

  bool can_notice(std::size_t p, std::size_t q) const {
    const Node& node = *nodes_[p];
    const bool is_told = node.op == Op::agree || node.op == Op::settle || node.op == Op::start;
    if (!node.core || lives(q) || (node.noticed >> q & 1U) || !is_told) return false;
    return (comms_[node.base].members >> q & 1U) != 0;
  }

  bool must_end(std::size_t p) const {
    const Node& node = *nodes_[p];
    return node.stage == Stage::at_line && node.host != 0xff && !lives(node.host);
  }

  bool would_disturb(std::size_t p) const {
    for (const Point& point : points_) {
      if (point.op != Op::agree || !point.decided || !(comms_[point.comm].members >> p & 1U)) continue;
      const Mask others = static_cast<Mask>(living_ & ~(1U << p));
      if ((point.entered & others & ~point.returned) != 0 && (point.returned & others) != 0) return true;
    }
    for (std::size_t q = 0; q < nodes_.size(); ++q) {
      if (q != p && lives(q) && calls_[q][p] != 0) return true;
    }
    return false;
  }

  void crash(std::size_t p, bool disturbs) {
    living_ = static_cast<Mask>(living_ & ~(1U << p));
    if (disturbs) {
      for (Point& point : points_) {
        if (point.op == Op::agree && point.decided && (comms_[point.comm].members >> p & 1U)) point.disturbed = true;
      }
      for (std::size_t q = 0; q < nodes_.size(); ++q) calls_[q][p] = 0;
    }
    const Stage stage = nodes_[p]->core ? Stage::admitted : nodes_[p]->stage;
    nodes_[p] = std::make_shared<Node>();
    nodes_[p]->stage = stage;
    nodes_[p]->base = 0;
    for (auto& by : calls_[p]) by = 0;
    note_losses();
  }

  void note_losses() {
    Mask left = 0;
    for (std::size_t q = 0; q < nodes_.size(); ++q) {
      if (lives(q)) left = static_cast<Mask>(left | nodes_[q]->data);
    }
    const Mask all = static_cast<Mask>((1U << scene_->ranks) - 1);
    lost_ = static_cast<Mask>(lost_ | (all & ~left));
  }

  void err(std::size_t p, std::string* told) {
    Node& node = touch(p);
    if (!std::exchange(node.troubled, true)) --errors_left_;
    const bool in_body = node.op == Op::exchange;
    if (node.restoring) {  // what it has contributed to the ballot cannot be taken back
      if (told) *told += fmt::format("  {} has an error of its own in a ballot, and dies alone\n", p);
      crash(p, true);
      return;
    }
    if (Point* point = point_of(node); point && node.op == Op::split) {  // the others get nothing from it
      point->entered = static_cast<Mask>(point->entered & ~(1U << p));
    }
    stop_waiting(p);
    if (in_body) {
      leave(p, agreement::Motion::abandon, ExitCode::failed, 0, told);
    } else {
      feed(p, LocalError{}, 0, told);
    }
  }

  void stop_waiting(std::size_t p) {
    Node& node = touch(p);
    if (Point* point = point_of(node)) point->returned = static_cast<Mask>(point->returned | 1U << p);
    node.op = Op::nothing;
    node.on = none;
  }

  bool leave(std::size_t p, agreement::Motion motion, ExitCode code, std::uint8_t cut, std::string* told) {
    touch(p).restoring = false;
    return feed(p, BodyLeft{motion, code, false}, cut, told);
  }

  /// The wait ends as it should.
  bool go(std::size_t p, bool knows_all, std::uint8_t cut, std::string* told) {
    const Node before = *nodes_[p];
    const std::optional<Point> at = point_of(before) ? std::optional(*point_of(before)) : std::nullopt;
    stop_waiting(p);
    Node& node = touch(p);
    switch (before.op) {
      case Op::agree: return hear(p, *at, knows_all, cut, told);
      case Op::settle: return feed(p, Settled{}, cut, told);
      case Op::found: return feed(p, Founded{}, cut, told);
      case Op::shrink: node.candidate = at->made; return feed(p, Shrunk{true, members_of(at->made)}, cut, told);
      case Op::meet: {
        node.meeting = at->made;
        const bool complete = comms_[at->made].members == comms_[before.base].members;
        return feed(p, MeetingEnded{complete}, cut, told);
      }
      case Op::split:
        if (node.core->planned_rank(ProcessId{static_cast<std::uint32_t>(p)})) node.candidate_application = at->made;
        return feed(p, SplitEnded{Making::done}, cut, told);
      case Op::connect: return feed(p, MeetingEnded{true}, cut, told);
      case Op::merge: node.joined = at->made; return feed(p, MeetingEnded{true}, cut, told);
      case Op::admit: return admitted(p, cut, told);
      case Op::exchange:
        if (node.is_first_half) return cut == 0 && go_on_in_body(p);
        return leave(p, agreement::Motion::finish, ExitCode::ok, cut, told);
      case Op::save:
        saved_ = static_cast<Mask>(saved_ | node.data);
        return leave(p, agreement::Motion::finish, ExitCode::ok, cut, told);
      case Op::park: return feed(p, Called{}, cut, told);
      case Op::start: return feed(p, NewcomerCalled{ProcessId{before.guest}}, cut, told);
      case Op::nothing: break;
    }
    return false;
  }

  bool fail(std::size_t p, std::uint8_t cut, std::string* told) {
    const Node before = *nodes_[p];
    stop_waiting(p);
    switch (before.op) {
      case Op::start: return feed(p, NewcomerLost{}, cut, told);
      case Op::shrink: return feed(p, Shrunk{false, {}}, cut, told);
      case Op::split: return feed(p, SplitEnded{Making::interrupted}, cut, told);
      case Op::exchange:
      case Op::save: return leave(p, agreement::Motion::recover, ExitCode::ok, cut, told);
      default: return feed(p, MeetingEnded{false}, cut, told);
    }
  }

  std::vector<ProcessId> members_of(CommId id) const {
    std::vector<ProcessId> members;
    const Comm& comm = comms_[id];
    for (std::size_t i = 0; i < comm.size; ++i) members.push_back(ProcessId{comm.order[i]});
    return members;
  }

  /// An agreement has told p what it came to.
  bool hear(std::size_t p, const Point& point, bool knows_all, std::uint8_t cut, std::string* told) {
    Node& node = touch(p);
    const agreement::Outcome outcome{point.value, point.died};
    if (node.restoring || node.core->state() == State::balloting) {
      const agreement::Motion motion = node.restoring ? agreement::Motion::restore : node.motion;
      const agreement::Ruling ruling = agreement::Ballot(std::make_unique<Stub>(outcome)).cast(motion, true);
      if (ruling == agreement::Ruling::recover || ruling == agreement::Ruling::abandon) node.closed = ruling;
      if (node.restoring) return restored(p, ruling, point.data, cut, told);
      return feed(p, ruled(p, ruling, knows_all), cut, told);
    }
    if (node.core->state() == State::deciding) {
      Stub stub(outcome);
      return feed(p, Decided{decide_job(stub, Intent::follow)}, cut, told);
    }
    return feed(p, Agreed{outcome}, cut, told);
  }

  /// The first one alive does, once a rank has died.
  bool knows_fault(std::size_t p) const {
    const auto& seats = nodes_[p]->core->position().roster.seats;
    const bool has_died =
        std::ranges::any_of(seats, [&](const Seat& seat) { return !lives(seat.holder.process.value); });
    return scene_->faulty && has_died && (living_ & ((1U << p) - 1)) == 0;
  }

  Ruled ruled(std::size_t p, agreement::Ruling ruling, bool knows_all) const {
    ProcessSet dead;
    const Mask known = knows_all ? all_dead() : nodes_[p]->noticed;
    for (std::uint32_t q = 0; q < nodes_.size(); ++q) {
      if (known >> q & 1U) dead.insert(ProcessId{q});
    }
    return {ruling, dead};
  }

  bool restored(std::size_t p, agreement::Ruling ruling, Mask there, std::uint8_t cut, std::string* told) {
    Node& node = touch(p);
    if (ruling == agreement::Ruling::abandon) return leave(p, agreement::Motion::abandon, ExitCode::ok, cut, told);
    if (ruling == agreement::Ruling::confused) return leave(p, agreement::Motion::abandon, ExitCode::usage, cut, told);
    if (ruling != agreement::Ruling::carried) return leave(p, agreement::Motion::recover, ExitCode::ok, cut, told);
    const Roster& roster = node.core->position().roster;
    Mask wanted = 0;
    for (const Seat& seat : roster.seats) wanted = static_cast<Mask>(wanted | 1U << seat.origin.value);
    if (wanted & ~there) {
      if (told) *told += fmt::format("  {} says that data is lost\n", p);
      if ((wanted & lost_) == 0) complaint_ = fmt::format("Data: {} says that data is lost, and it is there", p);
      return leave(p, agreement::Motion::abandon, ExitCode::unrecoverable, cut, told);
    }
    node.restoring = false;
    const int rank = node.core->rank()->value;
    const int ring = roster.size();
    node.data = static_cast<Mask>(1U << roster.seat(Rank{rank}).origin.value |
                                  1U << roster.seat(Rank{(rank + ring - 1) % ring}).origin.value);
    if (told) *told += fmt::format("  {} has its data\n", p);
    enter(p, node.application, Op::exchange, 0);
    return cut == 0;
  }

  bool admitted(std::size_t p, std::uint8_t cut, std::string* told) {
    Node& node = touch(p);
    node.base = node.joined;
    node.joined = node.meeting = none;
    node.noticed = 0;
    const auto newcomer = comms_[node.base].order[comms_[node.base].size - 1U];
    if (newcomer == p) return feed(p, Begin{}, cut, told);
    node.guest = 0xff;
    return feed(p, Admitted{{ProcessId{newcomer}, NodeId{newcomer}}}, cut, told);
  }

  // --- what the core wants
  // --------------------------------------------------------------------------------------------

  bool feed(std::size_t p, const Event& event, std::uint8_t cut, std::string* told) {
    Node& node = touch(p);
    const Actions actions = node.core->step(event);
    if (cut >= actions.size() && cut != 0) return false;
    if (told) {
      *told += fmt::format("  {} {}", p, to_string(event));
      for (std::size_t i = 0; i < actions.size() && (cut == 0 || i < cut); ++i) *told += "; " + to_string(actions[i]);
      *told += "\n";
    }
    act(p, actions, cut, told);
    return true;
  }

  void act(std::size_t p, const Actions& actions, std::uint8_t cut, std::string* told) {
    std::uint8_t done = 0;
    for (const Action& action : actions) {
      if (cut != 0 && done++ == cut) {
        if (told) *told += fmt::format("  {} dies in the middle of that\n", p);
        --deaths_left_;
        crash(p, true);
        return;
      }
      std::visit([&](const auto& what) { perform(p, what, told); }, action);
    }
  }

  std::uint8_t tag_of(std::size_t p) const { return static_cast<std::uint8_t>(nodes_[p]->core->state()); }

  void revoke(CommId comm) {
    if (comm != none) comms_[comm].revoked = true;
  }
  void perform(std::size_t p, const Revoke& action, std::string*) {
    const Node& node = *nodes_[p];
    switch (action.what) {
      case What::application: revoke(node.application); break;
      case What::candidate:
        revoke(node.candidate);
        revoke(node.candidate_application);
        // A split that this process has left may have made it for others; revoking what it is made of ends it there.
        break;
      case What::meeting: revoke(node.meeting); break;
    }
  }
  void perform(std::size_t p, const CallSpares& action, std::string*) {
    for (std::size_t q = 0; q < nodes_.size(); ++q) {
      auto& called = calls_[q][p];
      if (q != p && lives(q)) called = std::max(called, static_cast<std::uint8_t>(action.epoch.value + 1));
    }
  }
  void perform(std::size_t p, const CastBallot& action, std::string* told) {
    Node& node = touch(p);
    node.motion = action.motion;
    if (node.closed) {
      feed(p, ruled(p, *node.closed, false), 0, told);
      return;
    }
    enter(p, node.application, Op::agree, 0xfe, ballot_contribution(action.motion));
  }
  void perform(std::size_t p, const DecideJob& action, std::string*) {
    Stub stub;
    decide_job(stub, action.intent, action.code, action.progressed, knows_fault(p));
    enter(p, nodes_[p]->base, Op::agree, tag_of(p), stub.contributed);
  }
  void perform(std::size_t p, const NewCandidate&, std::string*) {
    Node& node = touch(p);
    node.candidate = node.candidate_application = none;
    node.meeting = node.joined = none;
    if (node.guest != 0xff) {
      const std::uint8_t guest = std::exchange(node.guest, std::uint8_t{0xff});
      if (lives(guest) && nodes_[guest]->stage == Stage::at_line) crash(guest, false);
    }
  }
  void perform(std::size_t p, const Settle&, std::string*) { enter(p, nodes_[p]->base, Op::settle, tag_of(p)); }
  void perform(std::size_t p, const Shrink&, std::string*) { enter(p, nodes_[p]->base, Op::shrink, tag_of(p)); }
  void perform(std::size_t p, const Agree& action, std::string*) {
    const Node& node = *nodes_[p];
    enter(p, action.among == Among::base ? node.base : node.candidate, Op::agree, tag_of(p), action.contribution);
  }
  void perform(std::size_t p, const Split&, std::string*) {
    enter(p, nodes_[p]->candidate, Op::split, 0);
    if (nodes_[p]->on == none) return;
    Point& point = *point_of(*nodes_[p]);
    if (point.made != none) return;
    Mask members = 0;
    // Those that play a rank by p's plan: the same for all by I1.
    const Comm like = comms_[nodes_[p]->candidate];
    for (std::size_t i = 0; i < like.size; ++i) {
      if (plays_next(p, like.order[i])) members = static_cast<Mask>(members | 1U << like.order[i]);
    }
    const CommId made = make_comm(members, like);
    point_of(*nodes_[p])->made = made;
  }
  bool plays_next(std::size_t p, std::uint8_t process) const {
    return nodes_[p]->core->planned_rank(ProcessId{process}).has_value();
  }
  void perform(std::size_t p, const AdoptCandidate&, std::string*) {
    Node& node = touch(p);
    node.base = std::exchange(node.candidate, none);
    node.application = std::exchange(node.candidate_application, none);
    node.noticed = static_cast<Mask>(node.noticed & comms_[node.base].members);
    node.closed.reset();
  }
  void perform(std::size_t p, const Found&, std::string*) { enter(p, nodes_[p]->base, Op::found, 0); }
  void perform(std::size_t p, const StartProcess&, std::string*) {
    Node& node = touch(p);
    node.op = Op::start;
    node.guest = 0xff;
    for (std::uint8_t q = static_cast<std::uint8_t>(node.core->position().processes); q < nodes_.size(); ++q) {
      if (nodes_[q]->stage != Stage::unborn) continue;
      Node& newcomer = touch(q);
      newcomer.stage = Stage::at_line;
      newcomer.host = static_cast<std::uint8_t>(p);
      living_ = static_cast<Mask>(living_ | 1U << q);
      touch(p).guest = q;
      return;
    }
  }
  void perform(std::size_t p, const Meet&, std::string*) { enter(p, nodes_[p]->base, Op::meet, 0); }
  void perform(std::size_t p, const Connect& action, std::string*) {
    enter(p, nodes_[p]->meeting, Op::connect, 0);
    if (!action.hosting || nodes_[p]->guest == 0xff || !lives(nodes_[p]->guest)) return;
    point_of(*nodes_[p])->value = 1;
    const auto guest = nodes_[p]->guest;
    Node& newcomer = touch(guest);
    Position position = nodes_[p]->core->position();
    position.members.push_back(ProcessId{guest});
    position.roster.spares.push_back({ProcessId{guest}, NodeId{guest}});
    newcomer.position = position;
    newcomer.course = nodes_[p]->core->course();
  }
  void perform(std::size_t p, const Merge& action, std::string*) {
    enter(p, nodes_[p]->meeting, Op::merge, 0);
    if (!action.hosting || nodes_[p]->guest == 0xff || !lives(nodes_[p]->guest)) return;
    const auto guest = nodes_[p]->guest;
    const Comm like = comms_[nodes_[p]->meeting];
    const CommId made = make_comm(static_cast<Mask>(like.members | 1U << guest), like, guest);
    Point& point = *point_of(*nodes_[p]);
    point.value = 1;
    point.made = made;
  }
  void perform(std::size_t p, const Admit& action, std::string*) {
    if (action.hosting && nodes_[p]->guest != 0xff && lives(nodes_[p]->guest)) {
      const auto guest = nodes_[p]->guest;
      Node& newcomer = touch(guest);
      newcomer.stage = Stage::admitted;
      newcomer.joined = nodes_[p]->joined;
      newcomer.host = 0xff;
      newcomer.core.emplace(setup(guest), *newcomer.position, newcomer.course);
      newcomer.position.reset();
      newcomer.course = {};
      enter(guest, newcomer.joined, Op::admit, 0);
    }
    enter(p, nodes_[p]->joined, Op::admit, 0);
  }
  void perform(std::size_t p, const EnterBody& action, std::string*) {
    Node& node = touch(p);
    if (action.newcomer) node.data = 0;
    node.is_first_half = true;
    enter(p, node.application, Op::exchange, 0);
  }
  bool go_on_in_body(std::size_t p) {
    Node& node = touch(p);
    node.is_first_half = false;
    node.restoring = node.core->position().epoch > Epoch{0};
    if (node.restoring) {
      enter(p, node.application, Op::agree, 0xfe, ballot_contribution(agreement::Motion::restore));
    } else {
      enter(p, node.application, Op::exchange, 0);
    }
    return true;
  }
  void perform(std::size_t p, const Park&, std::string*) { touch(p).op = Op::park; }
  void perform(std::size_t p, const SaveWhatIsLeft&, std::string*) { enter(p, nodes_[p]->application, Op::save, 0); }
  void perform(std::size_t p, const End& action, std::string*) { touch(p).end = action; }
  void perform(std::size_t p, const Die&, std::string*) { crash(p, true); }

  // --- what is not needed any more
  // ------------------------------------------------------------------------------------

  void tidy() {
    std::erase_if(points_, [&](const Point& point) {
      const Comm& comm = comms_[point.comm];
      for (std::size_t p = 0; p < nodes_.size(); ++p) {
        if (!lives(p) || !(comm.members >> p & 1U)) continue;
        if (holds(*nodes_[p], point.comm) && !(point.returned >> p & 1U)) return false;
      }
      return true;
    });
    for (CommId id = 0; id < comms_.size(); ++id) {
      if (!comms_[id].used) continue;
      bool is_held =
          std::ranges::any_of(points_, [&](const Point& point) { return point.comm == id || point.made == id; });
      for (std::size_t p = 0; p < nodes_.size(); ++p) is_held = is_held || (lives(p) && holds(*nodes_[p], id));
      if (!is_held) comms_[id] = Comm{};
    }
    while (!comms_.empty() && !comms_.back().used) comms_.pop_back();
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      if (!lives(p) || !nodes_[p]->core || nodes_[p]->end) {
        for (auto& by : calls_[p]) by = 0;
        continue;
      }
      for (auto& by : calls_[p]) {
        if (by <= nodes_[p]->core->position().epoch.value) by = 0;
      }
    }
  }

  static bool holds(const Node& node, CommId id) {
    return node.base == id || node.candidate == id || node.candidate_application == id || node.application == id ||
           node.meeting == id || node.joined == id || node.on == id;
  }

  std::optional<std::string> apart_from(const Node& a, const Node& b) const {
    const State at = a.core->state();
    const State other = b.core->state();
    if (a.end && b.end) {
      if (a.end->code != b.end->code || a.end->why != b.end->why) return "end the job differently";
      if (a.core->position().epoch != b.core->position().epoch) return "end in different epochs";
      if (!(a.core->position().roster == b.core->position().roster)) return "end with different rosters";
    }
    const bool plays_here = at == State::playing;
    const bool plays_there = other == State::playing;
    if (plays_here && plays_there) {
      if (a.core->position().epoch != b.core->position().epoch) return "play in different epochs";
      if (!(a.core->position().roster == b.core->position().roster)) return "play with different rosters";
      if (a.core->rank() == b.core->rank()) return "play the same rank";
    }
    const bool one_is_done = (a.end && plays_there) || (b.end && plays_here);
    if (one_is_done) return "are at the end and in the body";
    return std::nullopt;
  }

  std::shared_ptr<const Scene> scene_;
  std::vector<std::shared_ptr<Node>> nodes_;
  std::vector<Comm> comms_;
  std::vector<Point> points_;
  std::array<std::array<std::uint8_t, most>, most> calls_{};  // [called][by]: epoch + 1
  Mask living_ = 0;
  Mask lost_ = 0;   // ranks whose data nobody living has, or had at some time
  Mask saved_ = 0;  // ranks whose data is on disk
  int deaths_left_ = 0;
  int errors_left_ = 0;
  std::string complaint_;
};

}  // namespace mend::recovery
